"""From the command to an open window."""
