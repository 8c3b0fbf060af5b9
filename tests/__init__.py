"""The tests, in the same folders as the packages that they test."""
