"""Why drafting goes on or rests, in words and figures, and when to say it anew."""

from __future__ import annotations

from collections.abc import Callable

from engine.sentences import Sentence, said

TEXT = said("n-gram on: the text repeats")
TEXT_RESTS, AS_ASKED = "text rests", "as asked"  # states, beside the choices of a pass
_HALVINGS = 12
_PATIENCE = 3  # texts in a row that were not worth proposing


class Explanation:
    """Follows what is chosen pass by pass; ``reason`` is the sentence of the last change."""

    def __init__(self) -> None:
        self.state = self._last_choice = ""
        self.reason = ""
        self.is_guess = False  # of an acceptance that nobody has seen yet
        self._num_idle = 0

    def begin(self) -> None:
        """Another answer begins: that drafting was asked for in the last one explains nothing of it."""
        if self.state == AS_ASKED:
            self.state = self.reason = ""

    def next_state(self, choice: str, *, is_probe: bool, pays: bool, has_model: bool, has_text: bool) -> str | None:
        """What to say something about: the state that begins with this choice; None where nothing changes.

        Probes and single text matches change nothing.

        Args:
            choice: of the pass that comes: plain, text or draft.
            is_probe: a draft that does not seem to pay is only tried.
            pays: whether drafting with the draft model does.
            has_model: whether there is one.
            has_text: whether there was text that could have been proposed.
        """
        again, self._last_choice = choice == self._last_choice, choice
        self._num_idle = self._num_idle + has_text if choice == "plain" else 0
        if choice == "draft":
            state = "draft" if pays else AS_ASKED
            if is_probe:
                return None
        elif choice == "text":
            state = choice
        elif has_model:
            state = "plain" if not pays else self.state
        else:
            state, again = TEXT_RESTS, has_text and self._num_idle >= _PATIENCE
        return state if state != self.state and (again or choice == "draft") else None

    def update(self, state: str, reason: str, *, is_guess: bool = False) -> None:
        """Set the state and the sentence that explains it."""
        self.state, self.reason, self.is_guess = state, reason, is_guess


def break_even(pays: Callable[[float], bool]) -> float | None:
    """The least acceptance per token that ``pays``; None where not even 1 does."""
    if not pays(1.0):
        return None
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if pays(middle) else (middle, high)
    return high


def drafting(accepted: float, *, is_observed: bool) -> Sentence:
    """Drafting pays; of tokens at depth 1 such a share is ``accepted``, or expected to be where none was seen yet."""
    return said("draft on: {share}", share=_at_first(accepted, is_observed=is_observed))


def not_paying(
    accepted: float, needed: float | None, rejection_ms: float | None, *, as_asked: bool, is_observed: bool
) -> Sentence:
    """Drafting does not pay below the acceptance ``needed``; ``rejection_ms`` where a rejection is dear."""
    share, needs = _at_first(accepted, is_observed=is_observed), _needs(needed)
    if rejection_ms is None:
        why = said("{share}, {needs}", share=share, needs=needs)
    else:
        why = said(
            "{share}, {needs}, where a rejection costs {cost:.1f} ms", share=share, needs=needs, cost=rejection_ms
        )
    if as_asked:
        return said("draft on as chosen, but it does not pay off: {why}", why=why)
    return said("draft paused: {why}", why=why)


def text_not_paying(accepted: float, needed: float | None, *, is_observed: bool) -> Sentence:
    """Text that came before does not pay below the acceptance ``needed``."""
    percent = accepted * 100
    share = said("{percent:.0f}% accepted", percent=percent)
    if not is_observed:
        share = said("{percent:.0f}% expected", percent=percent)
    return said("text lookup paused: {share}, {needs}", share=share, needs=_needs(needed))


def text_without_draft(cost: float, accepted: float, *, is_observed: bool) -> Sentence:
    """Text pays, a draft model does not: a drafted token takes ``cost`` of a pass."""
    share = _at_first(accepted, is_observed=is_observed)
    return said(
        "n-gram on: the text repeats; the draft is not used: a drafted token costs {percent:.0f}% of a pass, {share}",
        percent=cost * 100, share=share,
    )  # fmt: skip


def _at_first(share: float, *, is_observed: bool) -> Sentence:
    """What nobody has seen yet is not told as seen."""
    if is_observed:
        return said("{percent:.0f}% of its first tokens are accepted", percent=share * 100)
    return said("{percent:.0f}% of its first tokens are expected to be accepted", percent=share * 100)


def _needs(acceptance: float | None) -> Sentence:
    if acceptance is None:
        return said("no acceptance rate pays off here")
    return said("{percent:.0f}% needed here", percent=acceptance * 100)
