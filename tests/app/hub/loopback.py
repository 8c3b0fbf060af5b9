"""The hub on this machine of `packaging/measure/loopback.py`, which says how it is used, for tests."""

from __future__ import annotations

from tests.scripts import load_script

_loopback = load_script("measure/loopback.py")
Content = _loopback.Content
Fault = _loopback.Fault
LoopbackHub = _loopback.LoopbackHub
