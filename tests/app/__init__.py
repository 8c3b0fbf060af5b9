"""Tests of the package `app`."""
