"""Tests the demo in the terminal: a real answer, then a race of the available modes with intervals."""

from __future__ import annotations

import re

import pytest

from app.__main__ import main
from app.cli import demo
from app.core.paths import builtin_target


@pytest.mark.usefixtures("tried")
def test_every_available_mode_is_compared_with_plain_decoding(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "MAX_TOKENS", 24)
    assert main(["demo"]) == 0
    told = capsys.readouterr()
    assert "models pull small" in told.err  # the small real model is missing
    lanes = re.findall(r"^(\w+)  +(\d+) ", told.out, re.MULTILINE)
    assert [name for name, _tokens in lanes] == ["plain", "ngram", "suffix", "draft", "auto"]
    assert {tokens for _name, tokens in lanes} == {str(24 * demo.ROUNDS)}
    assert len(re.findall(r"× the speed of plain.* Same answer, token for token\.", told.out)) == 4
    assert "head" not in told.out


@pytest.mark.usefixtures("tried")
def test_a_real_model_races_where_drafting_can_pay_and_where_it_cannot(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "MAX_TOKENS", 12)
    monkeypatch.setattr(demo, "_real_model", builtin_target)  # stands in for the real model
    assert main(["demo"]) == 0
    told = capsys.readouterr().out
    real, _, _ = told.partition("The built-in pair is tiny")
    assert re.findall(r"^(plain|auto) +\d+ +\d", real, re.MULTILINE) == ["plain", "auto"] * 2
    assert len(re.findall(r"auto: [\d.]+× the speed of plain", real)) == 2
    assert "tokens of 4 rounds together" in real
