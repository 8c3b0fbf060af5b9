"""What a model, and a pair, will give on this machine, said before either is loaded."""
