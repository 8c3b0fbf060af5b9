"""Marks of token sources, painted over an answer's text."""
