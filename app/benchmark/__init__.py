"""The benchmark: modes, depths and peers alternated prompt by prompt, ratios with intervals. Knows no window."""
