"""Decides, pass by pass, what is proposed and how far, from measured costs and from what was kept: docs/pacing.md.

Knows neither text nor threads of the app; only the loop and the session know it.
"""
