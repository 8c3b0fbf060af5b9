"""Products of weights for passes of few tokens, built into llama.cpp in place of its own."""
