"""Figures and numbers as the command line says them."""

from __future__ import annotations

import pytest

from app.command_line.output import counted, figures
from engine.records import RunStats


@pytest.mark.parametrize(
    ("tokens", "passes", "told"), [(1, 1, "1 token in 1 pass"), (2, 1, "2 tokens in 1 pass"), (0, 0, "0 tokens in 0")]
)
def test_one_is_said_as_one(tokens: int, passes: int, told: str) -> None:
    assert told in figures(RunStats(tokens=tokens, passes=passes, decode_s=1.0))


def test_large_numbers_are_grouped() -> None:
    assert counted(12_300, "download", "downloads") == "12,300 downloads"
