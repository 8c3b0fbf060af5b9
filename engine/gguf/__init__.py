"""GGUF files, read without trust and without llama.cpp."""
