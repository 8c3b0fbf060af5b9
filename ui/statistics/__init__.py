"""The statistics pane: this answer, this chat, all time."""
