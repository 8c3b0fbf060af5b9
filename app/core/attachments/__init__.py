"""Files that go along with a message: read, bounded, framed for the prompt. Knows no widget and no store."""
