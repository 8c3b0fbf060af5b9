"""Medusa and Hydra heads: read from their file, computed by graphs of ggml, driven as a language model."""
