"""Recycles the cards of messages that are far from the viewport, as a list view recycles its rows."""
