"""Suffix decoding: a suffix automaton of the conversation, and its drafter."""
