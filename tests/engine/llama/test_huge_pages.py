"""Tests which memory blocks use huge pages, and that requesting them is always safe."""

import mmap
import sys
from pathlib import Path

import pytest

from engine.llama import model

MIB = 1 << 20


def _line(begin: int, end: int, rights: str = "rw-p", inode: str = "0", name: str = "") -> str:
    return f"{begin:x}-{end:x} {rights} 00000000 00:00 {inode} {name}".rstrip()


def test_only_large_writable_blocks_of_no_file_are_taken() -> None:
    lines = [
        _line(0, 64 * MIB, name="[heap]"),
        _line(64 * MIB, 128 * MIB, rights="r--p"),
        _line(128 * MIB, 192 * MIB, inode="42", name="/models/a b.gguf"),
        _line(192 * MIB, 256 * MIB, rights="rw-s"),
        _line(256 * MIB, 264 * MIB),
        _line(301 * MIB, 401 * MIB),
    ]
    assert list(model.large_blocks(lines)) == [(302 * MIB, 400 * MIB)]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has /proc/self/maps")
def test_a_block_filled_after_asking_has_huge_pages() -> None:
    setting = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not setting.exists() or "[madvise]" not in setting.read_text():
        pytest.skip("this system gives huge pages to everybody or to nobody")
    size = 64 * MIB
    with mmap.mmap(-1, size, access=mmap.ACCESS_COPY) as block:
        assert model.request_huge_pages() >= size - 2 * (2 * MIB)
        block.write(b"x" * size)
        rollup = Path("/proc/self/smaps_rollup").read_text()
        huge_kib = next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("AnonHugePages"))
    if huge_kib == 0:
        pytest.skip("the system has no huge page to give now")
    assert huge_kib >= 2048


def test_a_system_that_does_not_tell_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "_HUGE_PAGE_SETTING", tmp_path / "enabled")
    assert model.request_huge_pages() == 0
    (tmp_path / "enabled").write_text("always madvise [never]\n")
    assert model.request_huge_pages() == 0


def test_names_of_files_may_be_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(model, "_HUGE_PAGE_SETTING", tmp_path / "enabled")
    monkeypatch.setattr(model, "_MAPS", tmp_path / "maps")
    (tmp_path / "enabled").write_text("always [madvise] never\n")
    line = _line(0, 64 * MIB, inode="42", name="/m/").encode()
    (tmp_path / "maps").write_bytes(line + b"caf\xe9.gguf\n" + line + b"a\x1cb\xe2\x80\xa8c\x85.gguf\n")
    assert model.request_huge_pages() == 0
