"""The page of a project, and its documents."""
