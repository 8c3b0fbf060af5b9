"""When to say anew why drafting goes on or rests. Knows no words and no costs."""

from __future__ import annotations

from engine.choice import Choice

_PATIENCE = 3  # texts in a row that were not worth proposing


class Explanation:
    """Follows what is chosen pass by pass; `reason` is the sentence of the last change."""

    def __init__(self) -> None:
        self.state = self._last_choice = Choice.PLAIN
        self.reason = ""
        self._num_idle = 0

    def rests(self) -> bool:
        """Text was found and not proposed; whether that has gone on long enough to say something about it."""
        self._num_idle += 1
        return self._num_idle >= _PATIENCE and (self.state is not Choice.PLAIN or not self.reason)

    def follow(self, choice: Choice, *, pays: bool, has_model: bool, may_rest: bool) -> Choice | None:
        """What to say something about: the state that begins with this choice; None where nothing changes.

        Probes and single text matches change nothing.

        Args:
            choice: of the pass that comes.
            pays: whether drafting with the draft model does.
            has_model: whether there is one.
            may_rest: drafting was not asked for by name.
        """
        if choice is not Choice.PLAIN:
            self._num_idle = 0
        again, self._last_choice = choice is self._last_choice, choice
        if choice is Choice.MODEL and (pays or not may_rest):
            state = Choice.MODEL if pays else Choice.PLAIN
        elif choice is Choice.MODEL or not again or (choice is Choice.PLAIN and (pays or not has_model)):
            return None
        else:
            state = choice
        return state if state is not self.state or not self.reason else None

    def tell(self, state: Choice, reason: str) -> None:
        """Say it."""
        self.state, self.reason = state, reason
