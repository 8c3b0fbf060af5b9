"""Targets and drafts that belong together: recommended ones, found ones, judged before a download."""
