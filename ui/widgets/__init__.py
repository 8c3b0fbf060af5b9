"""Small general widgets and helpers."""
