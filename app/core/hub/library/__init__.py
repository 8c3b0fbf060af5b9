"""The models on this machine."""
