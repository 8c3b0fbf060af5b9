"""Tests of the hub's room, against a real HTTP hub on this machine."""
