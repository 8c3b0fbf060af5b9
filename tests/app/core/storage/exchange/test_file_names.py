"""Any title becomes a file name that every system accepts: a single component without invisible characters."""

import unicodedata
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.storage.exchange.file_names import file_name


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("../../etc/passwd", "etc passwd.md"),
        ("..\\..\\x", "x.md"),
        ("C:\\Windows", "C Windows.md"),
        ("con", "Chat con.md"),
        ("NUL.txt", "Chat NUL.txt.md"),
        ("com1 ", "Chat com1.md"),
        ("lpt\u00b9", "Chat lpt\u00b9.md"),
        ("console", "console.md"),
        ("report\u202egpj.exe", "report gpj.exe.md"),
        ("a\u200bb\x07c\u2028d", "a b c d.md"),
        ("👩\u200d👧 שלום", "👩\u200d👧 שלום.md"),
        ("\u200b", "Chat.md"),
    ],
)
def test_hostile_titles(title: str, name: str) -> None:
    assert file_name(title, "md") == name


@given(st.text() | st.text("./\\ .:conCON\u202e😀"))
def test_every_title_is_a_name(tmp_path_factory: pytest.TempPathFactory, title: str) -> None:
    name = file_name(title, "md")
    assert PurePosixPath(name).name == PureWindowsPath(name).name == name
    assert not PureWindowsPath(name).is_reserved()
    assert len(name.encode()) <= 210
    assert name == name.strip()
    assert not any(unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} for char in name)


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    for title in ("😀" * 300, "x" * 300, "é" * 300):
        (tmp_path / f"0001 {file_name(title, 'md')}.part").write_text("x")
