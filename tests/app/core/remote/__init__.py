"""Tests of remote servers, against real HTTP servers on this machine."""
