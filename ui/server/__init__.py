"""The page of the local server: switch, address, models, requests."""
