"""Remote servers: a client of OpenAI's API over HTTP."""
