"""An HTTP server with the API of OpenAI, for one loaded model: `paceline serve`. Knows no window and no command line.

Whoever asks is a stranger until the key is shown, and what is sent is checked before the engine sees it. Prompts and
answers are in no log.
"""
