"""Small files that persist between starts."""
