"""Output that follows a grammar: schemas and tool calls as grammars, and the tokens that may follow."""
