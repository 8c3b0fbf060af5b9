"""Decides before each pass how many tokens are proposed and by which drafter, from measured costs and acceptance."""
