"""Colours, type, icons and the stylesheet, light and dark."""
