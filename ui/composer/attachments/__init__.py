"""The attachments of the unsent message."""
