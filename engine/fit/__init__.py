"""Memory estimates of a model from its header, and whether it fits this machine."""
