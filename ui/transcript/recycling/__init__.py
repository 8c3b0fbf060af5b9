"""Recycles the cards of messages far from the viewport, as list views do."""
