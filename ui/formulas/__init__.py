"""Formulas typeset on a thread of their own, and kept."""
