"""What past conversations said, for all answers of a session: read and learnt when there is time."""

from __future__ import annotations

from pathlib import Path

from engine.drafters.history import PastTextIndex, VocabularyIdentity, forget_files
from engine.drafters.suffix.index import SuffixIndex
from engine.llama.vocab import Vocab


class PastText:
    """One for a session and those beside it. ``folder`` is where it is kept for the next start; None: nowhere."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._of_vocab: PastTextIndex | None = None

    @property
    def index(self) -> SuffixIndex | None:
        """What was read of it by now; None where that was not begun."""
        return self._of_vocab.index if self._of_vocab is not None else None

    @property
    def has_work(self) -> bool:
        """Whether `work` has something to do."""
        return self._of_vocab.has_work if self._of_vocab is not None else self._folder is not None

    def learn(self, ids: list[int], vocab: Vocab) -> None:
        """Learn from a conversation."""
        self._of(vocab).learn(ids)

    def work(self, budget_s: float, vocab: Vocab) -> None:
        """Read, index and keep for about so many seconds."""
        self._of(vocab).work(budget_s)

    def forget(self) -> None:
        """Lose it, for every vocabulary; what is said from now on may be learnt again.

        Raises:
            OSError: a file cannot be deleted.
        """
        if self._of_vocab is not None:
            self._of_vocab.forget()
        elif self._folder is not None:
            forget_files(self._folder)

    def leave(self) -> None:
        """Keep it: another vocabulary follows, or none. The one that it is of must be there still."""
        if self._of_vocab is not None:
            self._of_vocab.save()
        self._of_vocab = None

    def _of(self, vocab: Vocab) -> PastTextIndex:
        if self._of_vocab is None:
            self._of_vocab = PastTextIndex(self._folder, VocabularyIdentity(vocab))
        return self._of_vocab
