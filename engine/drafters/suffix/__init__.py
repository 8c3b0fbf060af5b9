"""Suffix decoding: an automaton of all that was said, and the drafter that reads it."""
