"""Tests the API key: given, or created once in a private file."""

import os
from pathlib import Path

import pytest

from app.core.domain.errors import AppError
from app.core.server.api_key import VARIABLE, find_key


def test_a_key_is_made_once_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    file = tmp_path / "config" / "api-key"
    key, is_new = find_key(None, {}, file)
    assert is_new
    assert len(key) >= 43  # 32 random bytes
    if os.name == "posix":
        assert file.stat().st_mode & 0o777 == 0o600
    assert find_key(None, {}, file) == (key, False)


def test_the_option_counts_before_the_variable_and_neither_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "api-key"
    assert find_key("option", {VARIABLE: "variable"}, file) == ("option", False)
    assert find_key(None, {VARIABLE: "variable"}, file) == ("variable", False)
    assert not file.exists()
    assert find_key(None, {VARIABLE: ""}, file)[1]


@pytest.mark.parametrize("key", ["", "two words", "grün", "line\n", "x" * 513])
def test_what_cannot_stand_in_a_header_is_no_key(tmp_path: Path, key: str) -> None:
    with pytest.raises(AppError):
        find_key(key, {}, tmp_path / "api-key")


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_key_that_others_may_read_is_not_used(tmp_path: Path) -> None:
    file = tmp_path / "api-key"
    file.write_text("secret")
    file.chmod(0o644)
    with pytest.raises(AppError, match="Others may read"):
        find_key(None, {}, file)


def test_an_empty_key_file_and_a_read_only_folder_are_reported(tmp_path: Path) -> None:
    empty = tmp_path / "api-key"
    empty.touch(mode=0o600)
    with pytest.raises(AppError, match="is no key"):
        find_key(None, {}, empty)
    with pytest.raises(AppError, match="cannot be kept"):
        find_key(None, {}, empty / "api-key")
