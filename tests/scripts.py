"""Loads modules of packaging/, which is no package, for tests."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

PACKAGING = Path(__file__).resolve().parents[1] / "packaging"


def load_script(place: str) -> ModuleType:
    """The module at ``place`` in packaging/, loaded once under its own name, as scripts beside it import it."""
    path = PACKAGING / place
    known = sys.modules.get(path.stem)
    if known is not None and known.__file__ == str(path):
        return known
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[path.stem] = module  # required by dataclasses
    spec.loader.exec_module(module)
    return module
