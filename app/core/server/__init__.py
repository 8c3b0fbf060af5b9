"""An HTTP server with the API of OpenAI, for one loaded model: `paceline serve`. Knows no window and no command line.

Every client is untrusted until it shows the key, and every request is checked before the engine sees it. Functions that
read requests raise `ApiError` with status 400 and the field to blame. Logs contain no prompts and no answers.
"""
