"""Vision models: the side file with the encoder, and pictures as ids of a prompt."""
