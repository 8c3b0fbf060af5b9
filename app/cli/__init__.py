"""The command line: the same engine for scripts, measurements and machines without a display."""
