"""Tests of what talks to engines of others, against real HTTP servers on this machine."""
