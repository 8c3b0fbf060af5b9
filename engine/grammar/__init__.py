"""Output that follows a grammar: schemas and patterns as GBNF, and what an answer may say next."""
