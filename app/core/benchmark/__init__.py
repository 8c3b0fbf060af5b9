"""Benchmarks and races: alternate modes, depths and peers; ratios with intervals. Independent of the window."""
