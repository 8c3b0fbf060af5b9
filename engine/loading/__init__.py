"""Models in memory: opened, with a context, and what they take."""
