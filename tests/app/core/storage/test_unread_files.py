"""Small files that are temporarily unreadable are not replaced by later saves."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.storage.settings_file import read_settings, write_settings

NOBODY = 65534


@pytest.fixture
def own_folder() -> Iterator[Path]:
    """A folder of a non-root user, whose identity the process assumes: root may read everything."""
    if os.name != "posix":
        pytest.skip("the rights of a file are POSIX's")
    folder = Path(tempfile.mkdtemp(prefix="paceline-test-"))
    was_root = os.geteuid() == 0
    try:
        if was_root:
            os.chown(folder, NOBODY, -1)
            os.seteuid(NOBODY)
        yield folder
    finally:
        if was_root:
            os.seteuid(0)
        shutil.rmtree(folder)


def lock(file: Path) -> str:
    text = file.read_text("utf-8")
    file.chmod(0)
    return text


def kept(file: Path) -> list[str]:
    found = list(file.parent.glob(f"{file.stem}.unread-*.toml"))
    for each in found:
        each.chmod(0o600)
    return [each.read_text("utf-8") for each in found]


def test_settings_that_may_not_be_read_are_kept(own_folder: Path) -> None:
    file = own_folder / "settings.toml"
    first = read_settings(file).settings
    write_settings(file, first.changed({"system_prompt": "mine"})[0])
    before = lock(file)
    loaded = read_settings(file)
    assert loaded.problem is not None
    write_settings(file, loaded.settings.changed({"theme": "dark"})[0])
    assert kept(file) == [before]
    assert "mine" in before
    assert read_settings(file).settings.text("theme") == "dark"
