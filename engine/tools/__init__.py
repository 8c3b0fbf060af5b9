"""Tool calls: the formats in which models write them, and their parser."""
