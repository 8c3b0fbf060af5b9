"""Words and numbers as a person reads them, in the language in use."""
