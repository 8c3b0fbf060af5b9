"""Constrained decoding: converts schemas and tool calls to grammars, and computes the allowed tokens."""
