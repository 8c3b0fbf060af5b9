"""Composition: the window and the command line above, what needs neither in `app.core`."""

from importlib import import_module

VERSION_IN_CODE = "0.1.0"  # that is being worked on; packaging/version.py makes the version of a build of it


def _version() -> str:
    """The version of this build; a checkout's is the one in the code."""
    try:
        return str(import_module("app._version").VERSION)
    except ImportError:
        return VERSION_IN_CODE


__version__ = _version()
