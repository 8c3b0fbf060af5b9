"""Stores the version in a built package, since packages lack the git tags that define it.

Nothing is written into the source tree; an editable installation reports the version in the code.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TOLD = "app/_version.py"


class VersionHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds app/_version.py to a wheel if the version differs from the one in the code."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a wheel is packed; ``version`` is the kind of wheel."""
        reported = self.metadata.version
        in_code = (Path(self.root) / "app" / "__init__.py").read_text("utf-8")
        if version != "standard" or f'VERSION_IN_CODE = "{reported}"' in in_code:
            return
        self._folder = tempfile.TemporaryDirectory()
        file = Path(self._folder.name) / "_version.py"
        file.write_text(f'"""The version of this build."""\n\nVERSION = "{reported}"\n', "utf-8")
        build_data["force_include"][str(file)] = TOLD

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Called after the wheel was written."""
        del version, build_data, artifact_path
        if hasattr(self, "_folder"):
            self._folder.cleanup()
