"""The window: values in by methods, requests out by signals. Opens no file and calls no engine."""
