"""Helper processes for work on untrusted files, in which a crash does not end the app."""
