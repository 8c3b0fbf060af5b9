"""Keeps only the cards near what is in sight."""
