"""The pane of figures: the answer now, this chat, all time."""
