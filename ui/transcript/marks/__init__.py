"""The sources of tokens, drawn over an answer's text."""
