"""Lets a child process say which drafts match a target: a tokenizer that crashes llama.cpp is an error here.

Works on whole models and on stubs of far ones. The verdicts are those of `engine.drafters.translation.comparison`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import EngineError
from engine.sandbox.probe import START_LIMIT_S, ask_child
from engine.sentences import from_json, with_other

_EACH_LIMIT_S = 15.0


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """Whether a draft may serve a target, and if not, why; ``reason`` is empty where it may.

    ``speaks``, of a draft with another vocabulary, is the share of the target's tokens that are one token for it, too;
    ``difference``, of one with the same, says where its chat template writes something else, if it was looked for.
    ``readable`` is False where no vocabulary could be made of the draft; then ``reason`` says why.
    """

    matches: bool
    reason: str = ""
    readable: bool = True
    speaks: float | None = None
    difference: str | None = None


def judge_pairs(
    target: Path, drafts: Sequence[Path], should_stop: Callable[[], bool] = lambda: False
) -> tuple[PairVerdict, ...]:
    """Compare the vocabularies; one verdict a draft, in order.

    Raises:
        ModelFileError: the target's vocabulary cannot be used, or it was asked to stop.
    """
    if not drafts:
        return ()
    limit_s = START_LIMIT_S + _EACH_LIMIT_S * len(drafts)
    try:
        answer = ask_child("pairs", [target, *drafts], limit_s, should_stop)
    except EngineError as error:
        if len(drafts) > 1 and not should_stop():  # one of them may have ended the child: each by itself
            return tuple(verdict for draft in drafts for verdict in judge_pairs(target, [draft], should_stop))
        if should_stop() or not _stands_alone(target):
            raise
        return (PairVerdict(False, with_other(error.message, target.name, drafts[0].name), readable=False),)
    return tuple(PairVerdict(**{**verdict, "reason": from_json(verdict["reason"])}) for verdict in answer["verdicts"])


def _stands_alone(target: Path) -> bool:
    """Whether the target by itself is fine, so that a failure is the draft's."""
    try:
        ask_child("pairs", [target], START_LIMIT_S)
    except EngineError:
        return False
    return True
