"""The only door to llama_cpp: library, model, context, vocabulary. Every native return code is checked here."""
