"""`paceline check`: may this draft serve this target, and what will it gain here. Only the vocabularies are loaded."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from app.cli.output import fail_with
from app.domain.outlook import Outlook
from app.hub.pairs.outlooks import Conditions, Outlooks
from app.hub.remote_header import read_local_header
from app.paths import find_paths
from app.storage.pair_speeds import PairSpeeds
from engine.drafters.translation.comparison import find_translation, speaks_words
from engine.errors import DraftRefusedError, EngineError
from engine.llama.model import LlamaModel
from engine.sandbox.probe import probe


def command(options: argparse.Namespace) -> int:
    """Print the verdict and what to expect; exit code 0 for a pair that fits, 1 for one that does not."""
    target, draft = Path(options.target), Path(options.draft)
    try:
        reason, speaks = verdict(target, draft)
        expected = outlook(target, None if reason else draft)
    except EngineError as error:
        return fail_with(error, as_json=options.json)
    if options.json:
        facts = {"target": str(target), "draft": str(draft), "compatible": not reason, "reason": reason or None}
        print(json.dumps({**facts, "speaks": speaks, "expected": _as_dict(expected, reason)}, ensure_ascii=False))
        return 1 if reason else 0
    if reason:
        print(f"{draft.name} cannot draft for {target.name}: {reason}")
        return 1
    if speaks is None:
        print(f"{draft.name} can draft for {target.name}: their vocabularies match.")
    else:
        print(f"{draft.name} can draft for {target.name}. {speaks_words(speaks)}")
    for sentence in expected.sentences if expected else ():
        print(sentence)
    return 0


def outlook(target: Path, draft: Path | None) -> Outlook | None:
    """What is to be expected of the two, or of the target alone, with the settings of the app.

    Raises:
        EngineError: a header cannot be read.
    """
    paths = find_paths()
    known = read_local_header(target), read_local_header(draft) if draft is not None else None
    return Outlooks(paths.cache, PairSpeeds(paths.pair_speeds_file)).of_pair(*known, Conditions())


def _as_dict(outlook: Outlook | None, reason: str) -> dict[str, object] | None:
    """The figures as JSON keeps them; of a refused pair none."""
    if outlook is None or reason:
        return None
    measured = outlook.measured
    race = measured.race if measured else None
    return {
        "speedup": [round(outlook.gain.low, 3), round(outlook.gain.high, 3)],
        "plain_tokens_per_second": [round(outlook.plain.low, 2), round(outlook.plain.high, 2)],
        "draft_share": None if outlook.gain.draft_share is None else round(outlook.gain.draft_share, 3),
        "draft_pays": outlook.gain.draft_pays,
        "bound": outlook.bound,
        "basis": outlook.basis,
        "measured_by_race": race.speedup if race else None,
        "measured_over_answers": measured.speedup if measured else None,
        "sentences": list(outlook.sentences),
    }


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
