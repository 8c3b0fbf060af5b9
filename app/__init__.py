"""The app: the window and the command line; `app.core` depends on neither."""

from importlib import import_module

VERSION_IN_CODE = "0.1.0"  # the version in development; packaging/version.py derives a build's version from it


def _version() -> str:
    """The version of this build; in a checkout the version in the code."""
    try:
        return str(import_module("app._version").VERSION)
    except ImportError:
        return VERSION_IN_CODE


__version__ = _version()
