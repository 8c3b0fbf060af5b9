"""The settings dialogs, generated from the table of fields."""
