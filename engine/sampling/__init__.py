"""From logits to a drawn token: the sampling chain and distributions over tokens."""
