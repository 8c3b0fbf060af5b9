"""From logits to a sampled token: the sampling chain and distributions over tokens."""
