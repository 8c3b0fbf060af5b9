"""Tests the demo in the terminal: a real answer, then a race of modes with intervals, for each model."""

import re
from types import SimpleNamespace

import pytest

from app.__main__ import main
from app.cli import demo
from app.core.paths import builtin_target


@pytest.mark.usefixtures("tried")
@pytest.mark.parametrize("has_real", [False, True])
def test_answers_are_followed_by_races(
    has_real: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "DECODING", ("--temperature", "0", "--max-tokens", "24"))
    if has_real:  # the built-in target stands in for the real model
        monkeypatch.setattr(demo, "find_in_library", lambda _library: SimpleNamespace(path=builtin_target()))
    assert main(["demo"]) == 0
    told = capsys.readouterr()
    assert ("models pull small" in told.err) is not has_real
    real, _, builtin = told.out.partition("The built-in pair is tiny")
    ends = [part.partition("\n\n")[0] for part in builtin.split("All 4 rounds")[1:]]
    assert [re.findall(r"^(\w+)  +(\d+) ", part, re.MULTILINE) for part in ends] == [
        [("plain", "96"), ("draft", "96"), ("auto", "96")]
    ]
    assert len(re.findall(r"× the speed of plain.* Same answer, token for token\.", ends[0])) == 2
    assert real.count("All 4 rounds") == (2 if has_real else 0)
