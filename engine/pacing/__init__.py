"""Decides, pass by pass, what is proposed and how far, from measured costs and from what was kept: docs/pacing.md."""
