"""What is kept on the disk: chats, settings, presets, the window's state."""
