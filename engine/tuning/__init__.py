"""Finds the fastest number of threads by measurement."""
