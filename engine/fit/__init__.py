"""What a model will take of memory, from its header, and whether that fits this machine."""
