"""Whether a window can open here, asked without loading Qt: Qt ends the process where it cannot."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

_NEEDS_NO_SERVER = ("offscreen", "minimal", "vnc", "linuxfb", "eglfs")


def has_display(environ: Mapping[str, str] | None = None, platform: str = sys.platform) -> bool:
    """Tell whether there is a screen to draw on, or a Qt platform that needs none was asked for."""
    variables = os.environ if environ is None else environ
    if platform in ("win32", "darwin"):
        return True
    if variables.get("QT_QPA_PLATFORM", "").split(":")[0] in _NEEDS_NO_SERVER:
        return True
    return bool(variables.get("DISPLAY") or variables.get("WAYLAND_DISPLAY"))
