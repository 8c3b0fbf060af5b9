"""The settings: the table of fields, values, and the layers of chat, model and app."""
