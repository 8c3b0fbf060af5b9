"""Where a message is written and sent, with its attachments and the mode of its answer."""
