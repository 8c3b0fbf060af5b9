"""Helper processes for work on untrusted files, so that a crash does not end the app."""
