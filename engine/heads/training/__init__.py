"""Trains Hydra heads for a model of one's own, with NumPy, on the rows that the model computes of texts."""
