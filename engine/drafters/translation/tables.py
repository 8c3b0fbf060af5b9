"""Tables of the tokens that two vocabularies have in common, and their share in everyday text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.drafters.translation.roles import PromptSide, Roles, compare_roles, usual_end
from engine.drafters.translation.spelling import Speller
from engine.errors import DraftRefusedError
from engine.interfaces import Candidates, Tokenizer
from engine.sampling.top_k import Row

MOST = 0.75  # from this share on tokens are sampled from the draft's distribution, below it writes text
_NONE = -1
# Everyday text: the share of its tokens that a draft has says more than the share of the vocabulary, most of which
# hardly ever occurs.
SAMPLE = """\
Of course! Here is how I would do it. First, read the question again and write down what is known; then look for the \
step that is missing. If the result is larger than 1,000 or smaller than 0.5, something went wrong, and it is worth \
checking the units before you go on.

1. **Collect the data.** Every measurement needs a date, a place and a value.
2. **Compare** the two groups, but don't trust a difference that you can't explain.
3. Write a short summary for people who weren't there, e.g. by e-mail on Monday, 14 October 2024.

```python
import json
from pathlib import Path


def load_items(path: str, limit: int = 10) -> list[dict[str, object]]:
    \"\"\"Read the first items of a file.\"\"\"
    items = []
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        items.append(json.loads(line))
        if len(items) >= limit:
            break
    return sorted(items, key=lambda item: item.get("name", ""))
```

The weather in the mountains changed quickly that afternoon, so the children stayed inside, played cards by the \
window, and listened to the old man's stories about the sea. {"name": "Anna", "age": 37, "tags": ["red", "blue"]}
"""


@dataclass(frozen=True, slots=True)
class Overlap:
    """Common tokens: ``target_ids`` [n], ascending, and ``draft_ids`` [n], with one end-of-generation token."""

    target_ids: NDArray[np.int64]
    draft_ids: NDArray[np.int64]
    of_target: NDArray[np.int32]  # [target n_vocab] the draft's text token, -1 if it has none
    of_draft: NDArray[np.int32]  # [draft n_vocab] the target's text token, likewise
    n_vocab: int  # the target's

    def spread(self, own: Row, row: Row) -> None:
        """Fill ``row`` [target n_vocab] with the draft's logits ``own`` [draft n_vocab]; -inf for missing tokens."""
        row.fill(-np.inf)
        row[self.target_ids] = own[self.draft_ids]

    def select(self, own: Candidates) -> Candidates:
        """The target's tokens among the draft's candidates; possibly none."""
        indices = np.full(len(self.of_draft), _NONE, dtype=np.int64)
        indices[self.draft_ids] = np.arange(len(self.draft_ids))
        found = indices[own.ids] >= 0
        ids = self.target_ids[indices[own.ids][found]]
        order = ids.argsort()
        return Candidates(ids[order], own.logits[found][order])


@dataclass(frozen=True, slots=True)
class Translation:
    """The tables between a target and a draft of another vocabulary.

    ``coverage`` is the share of the target's tokens of everyday text that are one token for the draft, too;
    ``reverse_coverage`` is the share of the draft's tokens that are one token for the target.
    """

    target: Speller
    draft: Speller
    overlap: Overlap
    roles: Roles
    coverage: float
    reverse_coverage: float
    draft_ends: frozenset[int]
    start: tuple[int, ...]  # the draft's tokens before a conversation
    stand_in: int  # the draft's token for bytes that it cannot spell

    @property
    def has_most(self) -> bool:
        """Whether most tokens of either are one token for the other, so that the draft's distribution is useful."""
        return min(self.coverage, self.reverse_coverage) >= MOST


def translation(target: PromptSide, draft: PromptSide) -> Translation:
    """Make the tables; takes about a second for vocabularies of 150,000 tokens.

    Raises:
        DraftRefusedError: they have no token in common, or the draft's chat template lacks something.
    """
    roles = compare_roles(target, draft)
    ours, theirs = Speller(target.tokenizer), Speller(draft.tokenizer)
    overlap = make_overlap(ours, theirs, target.tokenizer, draft.tokenizer)
    coverage, reverse_coverage = _share(ours, theirs.id_of), _share(theirs, ours.id_of)
    space = theirs.id_of(b" ")
    start = (draft.tokenizer.bos_id,) if draft.tokenizer.add_bos and draft.tokenizer.bos_id is not None else ()
    stand_in = space if space is not None else int(overlap.draft_ids[0])
    return Translation(
        ours, theirs, overlap, roles, coverage, reverse_coverage, draft.tokenizer.eog_ids, start, stand_in
    )


def make_overlap(ours: Speller, theirs: Speller, target: Tokenizer, draft: Tokenizer) -> Overlap:
    """Find the common tokens; raises `DraftRefusedError` if there are none."""
    of_target = np.full(ours.n_vocab, _NONE, dtype=np.int32)
    of_draft = np.full(theirs.n_vocab, _NONE, dtype=np.int32)
    for token_id, piece in enumerate(ours.pieces):
        own = theirs.id_of(piece) if piece and ours.id_of(piece) == token_id else None
        if own is not None:
            of_target[token_id], of_draft[own] = own, token_id
    target_ids = np.flatnonzero(of_target >= 0)
    if not len(target_ids):
        raise DraftRefusedError(
            "The two vocabularies have no token in common, so the draft's tokens cannot be translated."
        )
    draft_ids = of_target[target_ids].astype(np.int64)
    ends = usual_end(target), usual_end(draft)
    if ends[0] is not None and ends[1] is not None:
        index = int(target_ids.searchsorted(ends[0]))
        target_ids, draft_ids = np.insert(target_ids, index, ends[0]), np.insert(draft_ids, index, ends[1])
    return Overlap(target_ids, draft_ids, of_target, of_draft, ours.n_vocab)


def _share(ours: Speller, id_of: Callable[[bytes], int | None]) -> float:
    """Share of the tokens of everyday text that are one token for the other."""
    ids = ours.spell(SAMPLE.encode())
    return sum(id_of(ours.pieces[i]) is not None for i in ids) / len(ids) if ids else 0.0
