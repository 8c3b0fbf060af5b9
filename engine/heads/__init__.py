"""Heads that draft from the target's hidden rows: next-token layers (MTP) and EAGLE-3."""
