"""A head beside its target, whoever computes it: what a session asks of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from engine.loading.loading import Loaded, LoadedModel
from engine.sequence import CachedSequence


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedHead(Loaded, ABC):
    """A head, or several, that can draft for ``target``; ``is_own`` where the target's file has them.

    ``reach`` is how many tokens it can draft in a row; None where any number.
    """

    target: CachedSequence
    is_own: bool
    reach: int | None = None

    def close(self) -> None:
        """Free everything but the target."""
        self.follow(on=False)
        Loaded.close(self)

    @abstractmethod
    def follow(self, *, on: bool) -> None:
        """Have the head see the passes of the target that follow, or none."""

    @abstractmethod
    def beside(self, target: LoadedModel) -> LoadedHead:
        """Open it once more for a target that is beside its own: weights are shared. Close that before this.

        Raises:
            ContextError: there is no memory for it.
        """

    @abstractmethod
    def gave_rows(self, num_tokens: int) -> bool:
        """Whether the target's first pass, of so many tokens, gave hidden rows that are not all zeros."""
