"""Vision models: the side file with the encoder, and ids of pictures in prompts."""
