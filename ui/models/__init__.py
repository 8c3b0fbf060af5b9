"""The Models place: values in by methods, intentions out by signals."""
