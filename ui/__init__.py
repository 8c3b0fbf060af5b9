"""Widgets: values in by methods, intentions out by signals. Knows no file, no thread and no engine call."""
