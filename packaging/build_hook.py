"""Writes the version into a built package: a checkout reads it from git tags, which a package does not have.

Nothing is written into the source tree; an editable installation keeps the version in the code.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TOLD = "app/_version.py"


class VersionHook(BuildHookInterface):  # type: ignore[type-arg]
    """Puts app/_version.py into a wheel where the version is another than the one in the code."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a wheel is packed; ``version`` is the kind of it."""
        reported = self.metadata.version
        in_code = (Path(self.root) / "app" / "__init__.py").read_text("utf-8")
        if version != "standard" or f'VERSION_IN_CODE = "{reported}"' in in_code:
            return
        self._folder = tempfile.TemporaryDirectory()
        file = Path(self._folder.name) / "_version.py"
        file.write_text(f'"""The version of this build."""\n\nVERSION = "{reported}"\n', "utf-8")
        build_data["force_include"][str(file)] = TOLD

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Called when the wheel is there."""
        del version, build_data, artifact_path
        if hasattr(self, "_folder"):
            self._folder.cleanup()
