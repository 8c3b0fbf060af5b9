"""The benchmark: modes, depths and peers alternated by prompts or in slices, ratios with intervals. Knows no window."""
