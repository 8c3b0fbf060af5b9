"""Suffix decoding: an automaton of the conversation, and the drafter that reads it."""
