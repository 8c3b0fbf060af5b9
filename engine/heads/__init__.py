"""Heads, which draft from the target's hidden rows: next-token layers (MTP), EAGLE-3 and block heads."""
