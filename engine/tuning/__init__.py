"""Finds by measurement the fastest number of threads, and drafts made from the target's own layers."""
