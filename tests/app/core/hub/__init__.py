"""Tests of `app.core.hub`, against a real HTTP hub on this machine."""
