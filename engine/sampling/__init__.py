"""Samples tokens from logits: the sampling chain, and distributions over tokens."""
