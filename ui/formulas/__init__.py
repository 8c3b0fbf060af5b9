"""Formulas, typeset on a separate thread and cached."""
