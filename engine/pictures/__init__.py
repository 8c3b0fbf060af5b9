"""Models that see: the side file with the encoder, and pictures as places of a prompt."""
