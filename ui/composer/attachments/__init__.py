"""The files of the unsent message."""
