"""Modules of packaging/, which is no package, for tests: scripts, and what tests share with them."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

PACKAGING = Path(__file__).resolve().parents[1] / "packaging"


def load_script(place: str) -> ModuleType:
    """The module at ``place`` in packaging/, loaded once under its own name, as a script beside it would load it."""
    path = PACKAGING / place
    known = sys.modules.get(path.stem)
    if known is not None and known.__file__ == str(path):
        return known
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses look for their module there
    spec.loader.exec_module(module)
    return module
