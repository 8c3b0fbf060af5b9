"""The speed of a pair on this machine: expected, measured in answers, and raced."""
