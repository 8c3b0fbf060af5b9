"""The tests, laid out like the rooms that they test."""
