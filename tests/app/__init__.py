"""Tests of the app's room."""
