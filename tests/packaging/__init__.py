"""Tests of the set-up and of the scripts that make the built-in pair."""
