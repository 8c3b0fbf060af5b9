"""Other programs that answer the same prompts, to compare with."""
