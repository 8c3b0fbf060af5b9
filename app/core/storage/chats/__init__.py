"""The stored conversations: one SQLite file, one connection, one thread that owns it."""
