"""A problem's words in the user's language. Constant sentences are catalogued; a composed one stays as it was made."""

from __future__ import annotations

from engine.records import Problem
from ui.language import translate


def in_words(problem: Problem) -> Problem:
    """Give the problem translated, as far as its sentences are in the catalogue."""
    said = (translate("Problems", text) if text else "" for text in (problem.title, problem.message, problem.advice))
    return Problem(*said)


def explanation(problem: Problem) -> str:
    """What happened and what to do, translated, on one line."""
    said = in_words(problem)
    return f"{said.message} {said.advice}".strip()
