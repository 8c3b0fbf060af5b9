"""Calls of tools: how models write them, and how they are read."""
