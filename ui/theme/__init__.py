"""Colours, fonts, icons and the stylesheet, light and dark."""
