"""How fast a pair of models is here: expected, measured in answers, and raced."""
