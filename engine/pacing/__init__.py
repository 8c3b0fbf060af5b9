"""Decides before each pass how many tokens to propose and by which drafter, from measured costs and acceptance."""
