"""Tests of heads that draft from the target's hidden rows."""
