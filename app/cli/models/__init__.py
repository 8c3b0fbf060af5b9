"""`paceline models ...`: search, download, list and remove."""
