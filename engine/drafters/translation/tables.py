"""Tables of the tokens that two vocabularies have in common, and their share of everyday text."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.drafters.translation.roles import PromptSide, Roles, compare_roles, default_eog
from engine.drafters.translation.spelling import ByteTokenizer
from engine.errors import DraftRefusedError
from engine.interfaces import Candidates, Tokenizer
from engine.sampling.top_k import Row

MIN_COMMON_SHARE = 0.75  # of common tokens, for sampling from the draft's distribution; below it, the draft writes text
_NONE = -1
# Everyday text. Common tokens are weighted by their use in it, since most tokens of a vocabulary hardly ever occur.
SAMPLE_TEXT = """\
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
class CommonTokens:
    """Common tokens: ``target_ids`` [n], ascending, and ``draft_ids`` [n]; one is the end-of-generation token."""

    target_ids: NDArray[np.int64]
    draft_ids: NDArray[np.int64]
    of_target: NDArray[np.int32]  # [target n_vocab] the draft's text token, or -1
    of_draft: NDArray[np.int32]  # [draft n_vocab] the target's text token, or -1
    n_vocab: int  # size of the target's vocabulary

    def scatter_logits(self, own: Row, row: Row) -> None:
        """Copy the draft's logits ``own`` [draft n_vocab] to ``row`` [target n_vocab]; missing tokens get -inf."""
        row.fill(-np.inf)
        row[self.target_ids] = own[self.draft_ids]

    def to_target(self, own: Candidates) -> Candidates:
        """The draft's candidates as target tokens, without candidates that the target lacks."""
        indices = np.full(len(self.of_draft), _NONE, dtype=np.int64)
        indices[self.draft_ids] = np.arange(len(self.draft_ids))
        found = indices[own.ids] >= 0
        ids = self.target_ids[indices[own.ids][found]]
        order = ids.argsort()
        return Candidates(ids[order], own.logits[found][order])


@dataclass(frozen=True, slots=True)
class Translation:
    """The tables for a target and a draft with another vocabulary.

    ``coverage`` is the share of the target's tokens of everyday text that are one token for the draft; ``draft_share``
    is the share of the draft's tokens that are one token for the target.
    """

    target: ByteTokenizer
    draft: ByteTokenizer
    common_tokens: CommonTokens
    roles: Roles
    coverage: float
    draft_share: float
    draft_eog_ids: frozenset[int]
    prefix_ids: tuple[int, ...]  # the draft's tokens before a conversation
    placeholder_id: int  # the draft's token for bytes that it cannot spell

    @property
    def shares_most_tokens(self) -> bool:
        """Whether most tokens are common, so that sampling from the draft's distribution is useful."""
        return min(self.coverage, self.draft_share) >= MIN_COMMON_SHARE


def translation(target: PromptSide, draft: PromptSide) -> Translation:
    """Build the tables; takes about a second for vocabularies of 150,000 tokens.

    Raises:
        DraftRefusedError: no token is common, or the draft's chat template lacks an equivalent of a control token.
    """
    roles = compare_roles(target, draft)
    ours, theirs = ByteTokenizer(target.tokenizer), ByteTokenizer(draft.tokenizer)
    overlap = make_overlap(ours, theirs, target.tokenizer, draft.tokenizer)
    coverage, draft_share = _single_token_share(ours, theirs.id_of), _single_token_share(theirs, ours.id_of)
    space = theirs.id_of(b" ")
    start = (draft.tokenizer.bos_id,) if draft.tokenizer.add_bos and draft.tokenizer.bos_id is not None else ()
    stand_in = space if space is not None else int(overlap.draft_ids[0])
    return Translation(ours, theirs, overlap, roles, coverage, draft_share, draft.tokenizer.eog_ids, start, stand_in)


def make_overlap(ours: ByteTokenizer, theirs: ByteTokenizer, target: Tokenizer, draft: Tokenizer) -> CommonTokens:
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
    ends = default_eog(target), default_eog(draft)
    if ends[0] is not None and ends[1] is not None:
        index = int(target_ids.searchsorted(ends[0]))
        target_ids, draft_ids = np.insert(target_ids, index, ends[0]), np.insert(draft_ids, index, ends[1])
    return CommonTokens(target_ids, draft_ids, of_target, of_draft, ours.n_vocab)


def _single_token_share(ours: ByteTokenizer, id_of: Callable[[bytes], int | None]) -> float:
    """Share of the tokens of everyday text that are one token in the other vocabulary."""
    ids = ours.spell(SAMPLE_TEXT.encode())
    return sum(id_of(ours.pieces[i]) is not None for i in ids) / len(ids) if ids else 0.0
