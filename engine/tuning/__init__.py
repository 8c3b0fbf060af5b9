"""Finds the fastest number of threads and drafts made of the target itself, by measurement."""
