"""The benchmark: modes and depths alternated prompt by prompt, ratios with intervals. Knows no window."""
