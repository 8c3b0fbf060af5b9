"""Reads untrusted GGUF files without llama.cpp."""
