"""Checks for a display before Qt does: Qt ends the process without one."""

import os
import re
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

# Libraries, and the Debian or Ubuntu packages that contain them; packaging/setup/system.sh installs those.
PACKAGES = {
    "libglib-2.0.so.0": "libglib2.0-0",
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
}
_LOADER_ERROR = re.compile(r"(.+?): cannot open shared object file")  # the dynamic loader's message
_SERVERLESS_PLATFORMS = ("offscreen", "minimal", "vnc", "linuxfb", "eglfs")


def has_display(environ: Mapping[str, str] | None = None, platform: str = sys.platform) -> bool:
    """True if there is a display, or if the requested Qt platform needs none."""
    variables = os.environ if environ is None else environ
    if platform in ("win32", "darwin"):
        return True
    if variables.get("QT_QPA_PLATFORM", "").split(":")[0] in _SERVERLESS_PLATFORMS:
        return True
    return bool(variables.get("DISPLAY") or variables.get("WAYLAND_DISPLAY"))


def missing_library(
    environ: Mapping[str, str] | None = None, platform: str = sys.platform, plugins: Path | None = None
) -> str:
    """The first system library that Qt needs for a window and lacks; empty if none is known to be missing.

    ``plugins``: the folder of Qt's platform plugins; each is loaded as Qt would load it.
    """
    variables = os.environ if environ is None else environ
    folder = plugins or _plugins_folder()
    if platform != "linux" or folder is None:
        return ""
    wanted = variables.get("QT_QPA_PLATFORM", "").split(":")[0]
    names = ["libqxcb.so"] if wanted in ("", "xcb") and variables.get("DISPLAY") else []
    if wanted in ("", "wayland") and variables.get("WAYLAND_DISPLAY"):
        names.append("libqwayland.so")
    missing = [_missing_library_of(folder / name) for name in names if (folder / name).exists()]
    return missing[0] if missing and all(missing) else ""


def _plugins_folder() -> Path | None:
    found = find_spec("PySide6")
    places = list(found.submodule_search_locations or ()) if found else []
    return Path(places[0]) / "Qt" / "plugins" / "platforms" if places else None


def _missing_library_of(plugin: Path) -> str:
    import ctypes  # noqa: PLC0415  (only where a window opens)

    try:
        ctypes.CDLL(str(plugin))
    except OSError as error:
        # In a bundle PyInstaller raises its own error; the cause of that error names the library.
        found = (_LOADER_ERROR.match(str(one)) for one in (error, error.__cause__))
        return next((match[1] for match in found if match), "")
    return ""
