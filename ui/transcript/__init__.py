"""The conversation on the page."""
