"""The page of a project, and the dialog of a cited passage."""
