"""Tests of the set-up and of what makes the built-in pair."""
