"""Explains in sentences why drafting continues or pauses, and decides when a new sentence is needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.sentences import Sentence, i18n

if TYPE_CHECKING:
    from engine.pacing.pacer import Pacer

NGRAM_REASON = i18n("using repeated text (n-gram)")
NGRAM_ONLY_REASON = i18n("the draft is not used: it would slow this model down here; repeated text is used instead")
NGRAM_PAUSED, FORCED_DRAFT = "text rests", "as asked"  # states in addition to the choices of a pass
_PATIENCE = 3  # so many matches in a row that were not proposed change the state


class DecisionReason:
    """Tracks decisions; ``reason`` is the sentence of the last change."""

    def __init__(self) -> None:
        self.state = self._last_choice = ""
        self.reason = ""
        self.is_guess = False  # `reason` has an expected acceptance instead of an observed one
        self._num_idle = 0

    def begin(self) -> None:
        """Begin another answer, whose mode may differ."""
        if self.state == FORCED_DRAFT:
            self.state = self.reason = ""

    def update(self, pacer: Pacer, text: Sequence[int], *, has_model: bool) -> None:
        """Track the pacer's last decision; ``text`` has the acceptance classes of the suffix match.

        Creates a sentence only if the state has changed, since that is slow.
        """
        drafted, average = pacer.acceptance.drafted, pacer.drafting_average() if has_model else None
        pays = average is not None and average.tokens > average.cost
        decision = pacer.decision
        state = self._next_state(
            decision.choice.value, is_probe=decision.is_probe, pays=pays, has_model=has_model, has_text=bool(text)
        )
        if state is None and self.is_guess and drafted.is_observed:
            state = self.state
        if state is not None:
            self._update(state, pacer, text, pays=pays, has_model=has_model)

    def _next_state(self, choice: str, *, is_probe: bool, pays: bool, has_model: bool, has_text: bool) -> str | None:
        """Return the new state if this choice changes it, else None.

        Probes and single matches do not change the state.

        Args:
            choice: the next pass's choice: plain, text or draft.
            is_probe: whether the draft is only tried, since it does not seem to pay off.
            pays: whether drafting with the draft model pays off.
            has_model: whether a draft model can be used.
            has_text: whether a match could have been proposed.
        """
        again, self._last_choice = choice == self._last_choice, choice
        self._num_idle = self._num_idle + has_text if choice == "plain" else 0
        if choice == "draft":
            state = "draft" if pays else FORCED_DRAFT
            if is_probe:
                return None
        elif choice == "text":
            state = choice
        elif has_model:
            state = "plain" if not pays else self.state
        else:
            state, again = NGRAM_PAUSED, has_text and self._num_idle >= _PATIENCE
        return state if state != self.state and (again or choice == "draft") else None

    def _update(self, state: str, pacer: Pacer, text: Sequence[int], *, pays: bool, has_model: bool) -> None:
        drafted = pacer.acceptance.drafted
        accepted, is_observed = drafted.probability(0), drafted.is_observed
        self.state, self.is_guess = state, False
        if state == NGRAM_PAUSED:
            of_text = pacer.acceptance.text
            self.reason = ngram_not_paying(of_text.probability(text[0]), is_observed=of_text.is_observed)
        elif state == "text":
            self.reason = NGRAM_REASON if pays or not has_model else NGRAM_ONLY_REASON
        elif state == "draft" and pays:
            self.reason, self.is_guess = drafting_sentence(accepted, is_observed=is_observed), not is_observed
        else:
            self.reason = draft_not_paying(accepted, as_asked=state == FORCED_DRAFT, is_observed=is_observed)
            self.is_guess = not is_observed


def drafting_sentence(accepted: float, *, is_observed: bool) -> Sentence:
    """Drafting pays off; ``accepted`` is the observed or expected share of tokens at depth 1."""
    return i18n("draft on: {share}", share=_acceptance_sentence(accepted, is_observed=is_observed))


def draft_not_paying(accepted: float, *, as_asked: bool, is_observed: bool) -> Sentence:
    """Drafting does not pay off, since only a share of its first tokens is ``accepted``."""
    share = _acceptance_sentence(accepted, is_observed=is_observed)
    if as_asked:
        return i18n("draft on as chosen, but it does not pay off: {share}", share=share)
    return i18n("draft paused, since it would not pay off: {share}", share=share)


def ngram_not_paying(accepted: float, *, is_observed: bool) -> Sentence:
    """The match does not pay off, since only a share of it is ``accepted``."""
    percent = accepted * 100
    if is_observed:
        return i18n("repeated text paused, since it would not pay off: {percent:.0f}% accepted", percent=percent)
    return i18n("repeated text paused, since it would not pay off: {percent:.0f}% expected", percent=percent)


def _acceptance_sentence(share: float, *, is_observed: bool) -> Sentence:
    if is_observed:
        return i18n("{percent:.0f}% of its first tokens are accepted", percent=share * 100)
    return i18n("{percent:.0f}% of its first tokens are expected to be accepted", percent=share * 100)
