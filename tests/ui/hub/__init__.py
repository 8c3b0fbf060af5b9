"""Tests of the Models place."""
