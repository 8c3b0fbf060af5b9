"""Kernels for passes of few tokens, which replace llama.cpp's own at build time."""
