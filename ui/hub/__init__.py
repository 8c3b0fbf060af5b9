"""The Models place of the window. Values in by methods, intentions out by signals; knows no hub, no file, no thread."""
