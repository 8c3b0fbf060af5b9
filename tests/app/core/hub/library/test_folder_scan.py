"""Tests scanning a folder: results, link cycles, thousands of files, progress, stop."""

import os
from pathlib import Path

import pytest

from app.core.domain.models import FolderScan
from app.core.hub.errors import LibraryError
from app.core.hub.library import folder_scan
from app.core.hub.library.folder_scan import scan_folder
from tests.app.core.hub.library.test_ollama import model

GGUF = b"GGUF" + bytes(60)


def put(path: Path, data: bytes = GGUF) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_models_at_any_depth_and_ollamas_store_among_them(tmp_path: Path) -> None:
    put(tmp_path / "a" / "b" / "c" / "d" / "e" / "f" / "g" / "h" / "deep.gguf")
    put(tmp_path / "page.gguf", b"<html>")
    put(tmp_path / "half-00001-of-00002.gguf")
    put(tmp_path / "UPPER-Q4_0.GGUF")
    model(tmp_path / "o" / "models", "registry.ollama.ai/library/llama3.2/3b")
    model(tmp_path / "o" / "models", "registry.ollama.ai/library/bad/3b", b"no")
    scan = scan_folder(tmp_path)
    assert {offer.name for offer in scan.offers} == {"deep", "UPPER-Q4_0", "llama3.2:3b"}
    assert [one.name for one in scan.skipped] == ["bad:3b"]
    assert scan.is_complete


def test_circles_end_and_a_linked_folder_is_looked_into_once(tmp_path: Path) -> None:
    put(tmp_path / "disk" / "m.gguf")
    inside = tmp_path / "inside"
    inside.mkdir()
    for name in ("one", "two"):
        (inside / name).symlink_to(tmp_path / "disk")
    (tmp_path / "disk" / "up").symlink_to(tmp_path)
    (inside / "self").symlink_to(inside / "self")
    scan = scan_folder(inside)
    assert ([offer.name for offer in scan.offers], scan.is_complete) == (["m"], True)


def test_thousands_of_files_with_progress_and_a_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in range(20):
        place = tmp_path / str(folder)
        place.mkdir()
        for number in range(250):
            (place / f"{number}.txt").touch()
    put(tmp_path / "19" / "last.gguf")
    monkeypatch.setattr(folder_scan, "REPORT_EVERY_S", 0.0)
    seen: list[int] = []
    scan = scan_folder(tmp_path, lambda told: seen.append(told.num_files))
    assert (scan.num_files, len(scan.offers)) == (5001, 1)
    assert len(seen) > 1000
    assert seen == sorted(seen)
    stopped = scan_folder(tmp_path, should_stop=lambda: len(seen) > 0)
    assert (stopped.is_complete, stopped.num_files <= 1) == (False, True)


def test_a_folder_that_is_none_and_one_that_may_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(LibraryError, match="cannot be read"):
        scan_folder(tmp_path / "nothing")
    with pytest.raises(LibraryError, match="cannot be read"):
        scan_folder(put(tmp_path / "file"))
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    scan = scan_folder(tmp_path)
    assert isinstance(scan, FolderScan)
    if os.geteuid() != 0:  # root may read everything
        assert scan.num_unreadable == 1
    closed.chmod(0o700)
