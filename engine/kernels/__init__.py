"""Kernels for passes of few tokens, built into llama.cpp in place of its own."""
