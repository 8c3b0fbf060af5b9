"""Tests names of this computer, and which clients need a key."""

import pytest

from app.core.domain.local_server import ALL_ADDRESSES, LOOPBACK, MAX_NAMES, ServerSetup, read_host_names


def test_names_stand_in_a_line() -> None:
    assert read_host_names(" host.docker.internal, Box.lan,,box.lan ") == {"host.docker.internal", "box.lan"}
    assert read_host_names("") == frozenset()


@pytest.mark.parametrize("line", ["a b", "http://box", "box:80", "-box", "*.lan", "ä", "a" * 300])
def test_what_is_no_name_is_told(line: str) -> None:
    with pytest.raises(ValueError, match="is not a name"):
        read_host_names(line)


def test_names_are_bounded() -> None:
    with pytest.raises(ValueError, match="more than 100 names"):
        read_host_names(",".join(f"n{number}" for number in range(MAX_NAMES + 1)))


def test_other_computers_always_need_the_key() -> None:
    assert [ServerSetup(host, 80, wants_key=wants).needs_key for host in (LOOPBACK, ALL_ADDRESSES) for wants in (
        True, False,
    )] == [True, False, True, True]  # fmt: skip
