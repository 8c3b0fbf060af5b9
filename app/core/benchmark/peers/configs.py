"""The configurations of the peers by name, and what llama.cpp's server is told for each.

``plain``, ``draft-3`` (that many tokens of what drafts here: a draft model, an EAGLE-3 head, next-token layers),
``ngram-simple`` and the other kinds that the server offers, with their own sizes or with given ones
(``ngram-simple:4:16``: look up 4 tokens, propose 16), and sums like ``draft-3+ngram-simple``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from engine.gguf.head_files import EAGLE3, MTP, OWN_PRODUCTS
from engine.records import EngineReady

DRAFT_LENGTHS = (1, 3, 5, 7)
# With its own sizes the server looks up 12 tokens or more; on short answers these find more, and a peer is to be
# measured at its best. The last one puts text before the draft model, as our own mixed mode does.
TUNED = ("ngram-simple:4:16", "ngram-mod:6:16", "draft-3+ngram-simple:4:16")
_DRAFT = re.compile(r"draft-(\d+)")
_NGRAM = re.compile(r"(ngram-[a-z0-9-]+?)(?::(\d+):(\d+))?")
_HEAD_KINDS = {MTP: "draft-mtp", EAGLE3: "draft-eagle3"}  # of the server
_KINDS = re.compile(r"^\s*--spec-type\s+(\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ServerDrafter:
    """What drafts beside text: its kind in the server's words, and its file; None where that is the target's own."""

    kind: str = "draft-simple"
    path: str | None = None


def drafter_of(ready: EngineReady) -> ServerDrafter | None:
    """What drafts here and there; None where only text does, or heads that the server does not know."""
    if ready.draft is not None and ready.draft.head in OWN_PRODUCTS:
        return None
    if ready.draft is not None:
        return ServerDrafter(_HEAD_KINDS.get(ready.draft.head, "draft-simple"), ready.draft.path)
    return ServerDrafter(_HEAD_KINDS[ready.own_head.head]) if ready.own_head is not None else None


def offered_kinds(help_text: str) -> tuple[str, ...]:
    """The kinds of speculation that a server's ``--help`` lists.

    Raises:
        ValueError: it knows no ``--spec-type`` at all.
    """
    found = _KINDS.search(help_text)
    if found is None:
        raise ValueError("it does not know --spec-type; a llama.cpp of 2026 does")
    return tuple(kind for kind in found[1].split(",") if kind != "none")


def default_configs(kinds: Sequence[str], *, has_draft: bool) -> tuple[str, ...]:
    """Plain, every draft length where there is a draft, every n-gram kind as it comes, and what was found better."""
    ngrams = [kind for kind in kinds if kind.startswith("ngram-")]
    tuned = [config for config in TUNED if _kinds_of(config) <= set(kinds) and (has_draft or "draft" not in config)]
    return ("plain", *(f"draft-{length}" for length in DRAFT_LENGTHS if has_draft), *ngrams, *tuned)


def server_arguments(config: str, drafter: ServerDrafter | None, kinds: Sequence[str]) -> list[str]:
    """The server's options for ``config``.

    Raises:
        ValueError: the name means nothing, needs a draft that is not there, or a kind that the server does not offer.
    """
    if config == "plain":
        return []
    arguments, types = [], []
    for part in config.split("+"):
        drafted, ngram = _DRAFT.fullmatch(part), _NGRAM.fullmatch(part)
        if drafted:
            types.append(_kind(part, drafter, kinds))
            arguments += ["--spec-draft-model", drafter.path] if drafter is not None and drafter.path else []
            arguments += ["--spec-draft-n-max", drafted[1]]
        elif ngram and ngram[1] in kinds:
            types.append(ngram[1])
            arguments += _sizes(ngram[1], ngram[2], ngram[3])
        else:
            ngrams = [kind for kind in kinds if kind.startswith("ngram-")]
            raise ValueError(f"{part!r} is none of plain, draft-N, {', '.join(ngrams)}")
    return ["--spec-type", ",".join(types), *arguments]


def _kind(part: str, drafter: ServerDrafter | None, kinds: Sequence[str]) -> str:
    if drafter is None:
        raise ValueError(f"{part} needs a draft model or a head")
    if drafter.kind not in kinds:
        raise ValueError(f"it does not offer {drafter.kind}")
    return drafter.kind


def remembers(config: str) -> bool:
    """Whether the server keeps what it learned from one answer for the next: it is started afresh for each round."""
    return "ngram-mod" in config


def _kinds_of(config: str) -> set[str]:
    return {part.split(":")[0] for part in config.split("+") if part.startswith("ngram-")}


def _sizes(kind: str, lookup: str | None, proposed: str | None) -> list[str]:
    if lookup is None or proposed is None:
        return []
    if kind == "ngram-cache":
        raise ValueError("ngram-cache has no sizes")
    if kind == "ngram-mod":
        return [f"--spec-{kind}-n-match", lookup, f"--spec-{kind}-n-max", proposed, f"--spec-{kind}-n-min", "1"]
    return [f"--spec-{kind}-size-n", lookup, f"--spec-{kind}-size-m", proposed]
