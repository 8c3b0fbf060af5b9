"""`paceline check`: may this draft serve this target, and if not, why. Only the vocabularies are loaded."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from app.cli.output import fail_with
from app.paths import find_paths
from engine.drafters.translation.comparison import find_translation, speaks_words
from engine.errors import DraftRefusedError, EngineError
from engine.llama.model import LlamaModel
from engine.sandbox.probe import probe


def command(options: argparse.Namespace) -> int:
    """Print the verdict; exit code 0 for a pair that fits, 1 for one that does not."""
    target, draft = Path(options.target), Path(options.draft)
    try:
        reason, speaks = verdict(target, draft)
    except EngineError as error:
        return fail_with(error, as_json=options.json)
    if options.json:
        facts = {
            "target": str(target),
            "draft": str(draft),
            "compatible": not reason,
            "reason": reason or None,
            "speaks": speaks,
        }
        print(json.dumps(facts, ensure_ascii=False))
    elif reason:
        print(f"{draft.name} cannot draft for {target.name}: {reason}")
    elif speaks is not None:
        print(f"{draft.name} can draft for {target.name}. {speaks_words(speaks)}")
    else:
        print(f"{draft.name} can draft for {target.name}: their vocabularies match.")
    return 1 if reason else 0


def verdict(target: Path, draft: Path) -> tuple[str, float | None]:
    """Compare the two: why the draft may not serve, empty where it may, and what share of the target's tokens it has.

    The share is None where the vocabularies match.

    Raises:
        EngineError: one of the files cannot be used as a model.
    """
    cache = find_paths().cache
    for path in (target, draft):
        probe(path, cache)
    with LlamaModel(target, vocab_only=True) as one, LlamaModel(draft, vocab_only=True) as other:
        try:
            found = find_translation((one.vocab, one.chat_template), (other.vocab, other.chat_template))
        except DraftRefusedError as error:
            return error.message, None
    return "", None if found is None else found.speaks
