"""Threads, caches and attention: what is fastest on this machine, by measurement."""
