"""Races: one question in two or three lanes side by side, live, with a verdict and a picture to share."""
