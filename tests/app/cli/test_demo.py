"""The demo in the terminal: a real answer, then a race of the modes that are here, with intervals."""

from __future__ import annotations

import re

import pytest

from app.__main__ import main
from app.cli import demo


@pytest.mark.usefixtures("tried")
def test_every_mode_that_is_here_is_compared_with_plain_decoding_over_several_rounds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "MAX_TOKENS", 24)
    assert main(["demo"]) == 0
    told = capsys.readouterr()
    assert "models pull small" in told.err  # the real model is not here
    lanes = re.findall(r"^(\w+)  +(\d+) ", told.out, re.MULTILINE)
    assert [name for name, _tokens in lanes] == ["plain", "ngram", "suffix", "draft", "auto"]
    assert {tokens for _name, tokens in lanes} == {str(24 * demo.ROUNDS)}
    assert len(re.findall(r"x plain \(.*4 rounds.*; identical answers, token for token", told.out)) == 4
    assert "head" not in told.out
