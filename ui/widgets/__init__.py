"""Small widgets and helpers that know nothing of chats."""
