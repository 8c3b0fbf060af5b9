"""Where tokens came from: the words for it, and what verification saw of the pass that gave them.

Everybody takes these from `engine.records`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

# The target's probability p of a proposed token, and the draft's q; no q where the proposal was text seen before, which
# is proposed with certainty.
TokenProbs = tuple[float, float | None]


class Source(StrEnum):
    """Provenance: where an emitted token came from."""

    TARGET = "target"
    NGRAM = "ngram"
    DRAFT = "draft"
    HEAD = "head"
    RECOVERED = "recovered"
    BONUS = "bonus"


# A pass gives its accepted tokens, and then exactly one of these.
LAST_SOURCES = frozenset({Source.RECOVERED, Source.BONUS, Source.TARGET})


class PassProbabilities(NamedTuple):
    """Probabilities of the tokens of a pass, each given those before it, as far as verification computed them.

    ``probs`` are of the proposed tokens in order, up to the last one that was looked at. ``last`` is the target's
    probability of the token that ended the pass. All are what the whole sampling chain gives. At temperature 0
    (``greedy``) there are none: what was kept was the most likely token, and what was refused first was not.
    ``rejected_chars`` are the characters of each refused token, where there were several. Made in every pass, hence a
    tuple: a frozen dataclass takes three times as long.
    """

    probs: tuple[TokenProbs, ...] = ()
    last: float | None = None
    greedy: bool = False
    rejected_chars: tuple[int, ...] = ()


GREEDY = PassProbabilities(greedy=True)


@dataclass(frozen=True, slots=True)
class TokenSpan:
    """``num_chars`` characters of a chunk that came from one token (0 where a character is still incomplete).

    A pass gives its accepted tokens and then one recovered, bonus or target token, so the sources alone tell the
    passes apart. ``rejected`` is on a recovered token: the text of the proposed tokens whose place it took.
    ``probabilities`` is on the last token that the answer took from a pass. ``is_forced``: it was proposed because a
    grammar left no choice.
    """

    num_chars: int
    source: Source
    rejected: str = ""
    probabilities: PassProbabilities | None = None
    is_forced: bool = False
