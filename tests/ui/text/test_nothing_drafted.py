"""An answer without drafted tokens says why in plain words, and what would help."""

from __future__ import annotations

import pytest

from engine.pacing.draft_length import choose_draft_length
from engine.pacing.reasons import not_paying, text_not_paying, text_without_draft
from engine.records import Mode, RunStats
from engine.sentences import said
from ui.text import answer_figures
from ui.text.answer_figures import cause_of, figure_words, help_words

PAUSED = said("token {number}: {why}", number=1, why=not_paying(0.31, 0.44, None, as_asked=False, is_observed=False))
TEXT_PAUSED = said("token {number}: {why}", number=1, why=text_not_paying(0.1, 0.4, is_observed=True))
UNUSED = said("token {place}: {reason}", place=1, reason=text_without_draft(0.32, 0.76, is_observed=True))


def run(mode: Mode, *decisions: str, tokens: int = 100) -> RunStats:
    return RunStats(mode=mode, tokens=tokens, passes=tokens, decode_s=1.0, decisions=decisions)


@pytest.mark.parametrize("kept_as_text", [False, True])
@pytest.mark.parametrize(
    ("stats", "cause"),
    [
        (run(Mode.OFF, choose_draft_length(Mode.OFF, None, can_pace=True).reason), answer_figures.PLAIN),
        (run(Mode.AUTO, choose_draft_length(Mode.AUTO, 0, can_pace=True).reason), answer_figures.NO_LENGTH),
        (run(Mode.AUTO, PAUSED), answer_figures.DEAR_DRAFT),
        (run(Mode.AUTO, UNUSED), answer_figures.UNUSED_DRAFT),
        (run(Mode.AUTO, TEXT_PAUSED), answer_figures.UNLIKELY_TEXT),
        (run(Mode.AUTO, tokens=3), answer_figures.SHORT),
        (run(Mode.NGRAM), answer_figures.NEW_TEXT),
        (run(Mode.AUTO), answer_figures.NEW_TEXT),
    ],
)
def test_the_cause_is_the_one_that_the_engine_had(stats: RunStats, cause: object, kept_as_text: bool) -> None:
    if kept_as_text:  # as an answer of an earlier start has its decisions
        stats = RunStats(mode=stats.mode, tokens=stats.tokens, decisions=tuple(map(str.__str__, stats.decisions)))
    assert cause_of(stats) is cause


def test_the_line_says_it_in_a_few_words_and_the_hover_what_would_help() -> None:
    assert figure_words(run(Mode.OFF)) == "nothing drafted"
    assert "“Auto”" in help_words(run(Mode.OFF))
    assert figure_words(run(Mode.AUTO)) == "nothing drafted: no text repeated"
    assert "Find a draft" in help_words(run(Mode.AUTO))
    assert figure_words(run(Mode.AUTO, PAUSED)) == "nothing drafted: the draft would not pay off"
    assert "smaller draft" in help_words(run(Mode.AUTO, PAUSED))


def test_a_draft_that_is_loaded_but_not_used_is_told_with_the_reason() -> None:
    stats = run(Mode.AUTO, UNUSED)
    assert figure_words(stats) == "nothing drafted: the draft was not used"
    assert "loaded draft model was not used" in answer_figures.nothing_drafted(stats)
    assert "costs 32% of a pass" in answer_figures.nothing_drafted(stats), "the engine's own reason"
    assert "from the conversation only" not in answer_figures.nothing_drafted(stats)
