"""The composer: writes and sends a message, with its attachments and the mode of its answer."""
