"""Where the tokens of an answer came from, drawn over its text."""
