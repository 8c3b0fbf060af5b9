"""Explains in sentences why drafting continues or pauses, and decides when a new sentence is needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.sentences import Sentence, i18n

if TYPE_CHECKING:
    from engine.pacing.pacer import Pacer

NGRAM_REASON = i18n("using repeated text (n-gram)")
NGRAM_ONLY_REASON = i18n("the draft is not used: it would slow this model down here; repeated text is used instead")
NGRAM_PAUSED_REASON = i18n("repeated text paused, since it would not pay off")
NGRAM_PAUSED, FORCED_DRAFT = "text rests", "as asked"  # states in addition to the choices of a pass
_PATIENCE = 3  # so many matches in a row that were not proposed change the state


class DecisionReason:
    """Tracks decisions; ``reason`` is the sentence of the last change."""

    def __init__(self) -> None:
        self.state = self._last_choice = ""
        self.reason = ""
        self._num_idle = 0

    def begin(self) -> None:
        """Begin another answer, whose mode may differ."""
        if self.state == FORCED_DRAFT:
            self.state = self.reason = ""

    def update(self, pacer: Pacer, text: Sequence[int], *, has_model: bool) -> None:
        """Track the pacer's last decision; ``text`` has the acceptance classes of the suffix match.

        Creates a sentence only if the state has changed, since that is slow. Drafting is explained once a drafted token
        was observed.
        """
        drafted, average = pacer.acceptance.drafted, pacer.drafting_average() if has_model else None
        pays = average is not None and average.tokens > average.cost
        choice = pacer.decision.choice.value
        again, self._last_choice = choice == self._last_choice, choice
        self._num_idle = self._num_idle + bool(text) if choice == "plain" else 0
        if choice == "draft":
            state, again = "draft" if pays else FORCED_DRAFT, not pacer.decision.is_probe and drafted.is_observed
        elif choice == "text":
            state = choice
        elif has_model:
            state = "plain" if not pays else self.state
        else:
            state, again = NGRAM_PAUSED, bool(text) and self._num_idle >= _PATIENCE
        if not again or state == self.state:
            return
        self.state = state
        if state == NGRAM_PAUSED:
            self.reason = NGRAM_PAUSED_REASON
        elif state == "text":
            self.reason = NGRAM_REASON if pays or not has_model else NGRAM_ONLY_REASON
        else:
            accepted = drafted.probability(0) if drafted.is_observed else None
            self.reason = draft_sentence(accepted, pays=pays, as_asked=state == FORCED_DRAFT)


def draft_sentence(accepted: float | None, *, pays: bool, as_asked: bool = False) -> Sentence:
    """Whether drafting pays off; ``accepted`` is the observed share of tokens at depth 1, None if unknown."""
    if accepted is None:
        return i18n("draft paused, since it would not pay off")
    share = i18n("{percent:.0f}% of its first tokens are accepted", percent=accepted * 100)
    if pays:
        return i18n("draft on: {share}", share=share)
    if as_asked:
        return i18n("draft on as chosen, but it does not pay off: {share}", share=share)
    return i18n("draft paused, since it would not pay off: {share}", share=share)
