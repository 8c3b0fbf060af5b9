"""Projects: reads, indexes and searches the user's files on this computer."""
