"""`paceline check`: tells whether a draft works for a target, and its expected gain; or checks the target's heads.

Finally it computes the target's logits in passes of several shapes and compares them bit for bit. Of a draft model only
the vocabulary is loaded. Heads are tried in a child process.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from app.cli.models.output import size_words
from app.core.domain.speed.speed_forecast import SpeedForecast
from app.core.hub.pairs.speed_forecasts import Conditions, SpeedForecasts
from app.core.hub.remote_header import read_local_header
from app.core.paths import builtin_target, find_paths
from app.core.storage.pair_speeds import PairSpeeds
from engine.drafters.translation.comparison import find_template_difference, find_translation, vocabulary_sentence
from engine.errors import DraftRefusedError, EngineError
from engine.fit.estimate import ENCODER_BYTES
from engine.gguf.head_files import MTP, has_next_token_layers, head_method, own_heads_sentence
from engine.gguf.header import read_header
from engine.gguf.model_kind import missing_metadata_notices
from engine.heads.compatibility import check_head_file, unsupported_reason
from engine.llama.model import LlamaModel
from engine.llama.pass_check import compare_passes
from engine.loading.exactness import why_inexact
from engine.pictures.side_file import find_side_file
from engine.prompt.chat_prompt import PromptBuilder
from engine.records import Message
from engine.sandbox.machine_check import check_kernels
from engine.sandbox.probe import PairVerdict, probe, probe_head

COMPARISON_S = 30.0


def command(options: argparse.Namespace) -> int:
    """Print the verdict, then the expected speed; exit code 0 if the pair fits, otherwise 1.

    The exit code is also 1 if the target's logits should be equal bit for bit and are not. It is 0 for a pair that fits
    but would be slower here, and for a target without heads.
    """
    target, draft = Path(options.target), Path(options.draft) if options.draft is not None else None
    is_head = draft is not None and bool(head_method(read_header(draft)))
    if draft is None:
        found = own_head_verdict(target)
    else:
        found = head_verdict(target, draft) if is_head else verdict(target, draft)
    expected = speed_forecast(target, draft if found.matches else None, found.coverage)
    exact = compare_rows(target)
    if options.json:
        facts = _as_dict(target, draft, found, expected) | {"exactness": asdict(exact)}
        print(json.dumps(facts, ensure_ascii=False))
    elif draft is None:
        header = read_header(target)
        _print_each(
            f"{target.name} can be used.",
            found.reason or own_heads_sentence(header, target.name),
            *missing_metadata_notices(header, target.name),
            *(expected.sentences if expected else ()),
            _vision_sentence(target),
            exact.sentence,
        )
    elif not found.matches:
        _print_each(f"{draft.name} cannot draft for {target.name}: {found.reason}", _vision_sentence(target))
    else:
        _print_each(
            *_fitting(target, draft, found, expected, is_head=is_head), _vision_sentence(target), exact.sentence
        )
    return int(exact.is_fault or (draft is not None and not found.matches))


def _fitting(
    target: Path, draft: Path, found: PairVerdict, expected: SpeedForecast | None, *, is_head: bool
) -> list[str | None]:
    """Sentences about a draft that fits its target."""
    words = vocabulary_sentence(found.coverage) if found.coverage is not None else ""
    if expected is not None and expected.would_lose:
        slow = f"{draft.name} could draft for {target.name}, but it would slow the target down here."
        why = expected.sentences if expected.is_measured else expected.details
        return [slow, words, found.difference, *why]
    fits = f"{draft.name} can draft for {target.name}"
    if is_head:
        fits += ": it is a head made for such a model, and both ran together."
    else:
        fits += f". {words}" if words else ": their vocabularies match."
    return [fits, found.difference, *(expected.sentences if expected else ())]


@dataclass(frozen=True, slots=True)
class ComparedRows:
    """Number of rows of logits from passes of several shapes, and how many differ from a pass of one token.

    ``reason``: why rows may differ; empty if they must be equal.
    """

    num_rows: int
    num_different: int
    reason: str

    @property
    def is_fault(self) -> bool:
        return bool(self.num_different) and not self.reason

    @property
    def sentence(self) -> str:
        fault = "This should not happen: answers are exact on this computer. Please report it."
        if self.num_different:
            differ = f"{self.num_different} of {self.num_rows} rows of logits differ from those of a pass of one token."
            return f"{differ} {self.reason or fault}"
        return (
            f"Exact: {self.num_rows} rows of logits are identical to the last bit in passes of 1, 2, 4, 8 and mixed "
            "tokens, on one thread and two, alone and beside another answer."
        )


def compare_rows(target: Path) -> ComparedRows:
    """Compare rows of a target on the CPU, for half a minute at most.

    Raises:
        EngineError: the target cannot be loaded, or a pass failed.
    """
    check_kernels(builtin_target(), find_paths().cache)
    num_rows = num_different = 0
    with LlamaModel(target) as model:
        end = time.monotonic() + COMPARISON_S
        for one in compare_passes(model, should_stop=lambda: time.monotonic() > end):
            num_rows, num_different = num_rows + one.num_rows, num_different + one.num_different
    return ComparedRows(num_rows, num_different, why_inexact(str(target)))


def _vision_sentence(target: Path) -> str:
    """A sentence about the target's vision encoder and its memory; empty if there is no encoder."""
    side = find_side_file(target)
    if side is None:
        return ""
    size = size_words(side.stat().st_size + ENCODER_BYTES)
    return f"{target.name} sees pictures with {side.name}, which takes about {size} of memory."


def _print_each(*sentences: str | None) -> None:
    for sentence in filter(None, sentences):
        print(sentence)


def own_head_verdict(target: Path) -> PairVerdict:
    """Whether a target has usable heads, or why not.

    Raises:
        EngineError: the file cannot be used as a model.
    """
    probe(target, find_paths().cache)
    with LlamaModel(target, vocab_only=True) as model:
        _check_template(model)
    header = read_header(target)
    if not has_next_token_layers(header):
        return PairVerdict(matches=False, reason=own_heads_sentence(header, target.name))
    try:
        reason = unsupported_reason(MTP) or _try_head(target, None)
    except EngineError as error:
        reason = error.message
    return PairVerdict(matches=not reason, reason=reason)


def head_verdict(target: Path, head: Path) -> PairVerdict:
    probe(target, find_paths().cache)
    try:
        check_head_file(read_header(target), read_header(head))
        _try_head(target, head)
    except EngineError as error:
        return PairVerdict(matches=False, reason=error.message)
    return PairVerdict(matches=True)


def _try_head(target: Path, head: Path | None) -> str:
    probe_head(target, head, cache_dir=find_paths().cache)
    return ""


def _as_dict(target: Path, draft: Path | None, found: PairVerdict, expected: SpeedForecast | None) -> dict[str, object]:
    side = find_side_file(target)
    return {
        "target": str(target),
        "draft": None if draft is None else str(draft),
        "usable": True,
        "side_file": None if side is None else str(side),
        "compatible": found.matches,
        "verdict": _verdict_name(found, expected),
        "reason": found.reason or None,
        "speaks": found.coverage,
        "template_difference": found.difference,
        "expected": _expected(expected) if found.matches or draft is None else None,
    }


def _verdict_name(found: PairVerdict, expected: SpeedForecast | None) -> str:
    """The verdict in one or two words, as JSON has it."""
    if not found.matches:
        return "cannot"
    return "would not pay" if expected is not None and expected.would_lose else "can"


def speed_forecast(target: Path, draft: Path | None, coverage: float | None = None) -> SpeedForecast | None:
    """The expected speed of the pair, or of the target alone, with the settings of the app.

    ``coverage`` is the share of the target's tokens that the draft can propose; None means all.

    Raises:
        EngineError: a header cannot be read.
    """
    paths = find_paths()
    known = read_local_header(target), read_local_header(draft, may_be_head=True) if draft is not None else None
    conditions = Conditions() if coverage is None else Conditions(coverage=coverage)
    return SpeedForecasts(paths.cache, PairSpeeds(paths.pair_speeds_file)).of_pair(*known, conditions)


def _expected(speed_forecast: SpeedForecast | None) -> dict[str, object] | None:
    if speed_forecast is None:
        return None
    measured = speed_forecast.measured
    race = measured.race if measured else None
    return {
        "speedup": [round(speed_forecast.gain.low, 3), round(speed_forecast.gain.high, 3)],
        "plain_tokens_per_second": [round(speed_forecast.plain.low, 2), round(speed_forecast.plain.high, 2)],
        "draft_share": None if speed_forecast.gain.draft_cost is None else round(speed_forecast.gain.draft_cost, 3),
        "draft_pays": speed_forecast.gain.draft_pays,
        "bound": speed_forecast.bound,
        "basis": speed_forecast.basis,
        "measured_by_race": race.speedup if race else None,
        "measured_over_answers": measured.speedup if measured else None,
        "sentences": list(speed_forecast.sentences),
    }


def _check_template(model: LlamaModel) -> None:
    """Render a prompt.

    Raises:
        TemplateError: the model's chat template fails.
    """
    PromptBuilder(model.vocab, model.chat_template).build((Message("user", "Hello"),))


def verdict(target: Path, draft: Path) -> PairVerdict:
    """Compare a target and a draft.

    Raises:
        EngineError: one of the files cannot be used as a model.
    """
    cache = find_paths().cache
    for path in (target, draft):
        probe(path, cache)
    with LlamaModel(target, vocab_only=True) as one, LlamaModel(draft, vocab_only=True) as other:
        _check_template(one)
        both = (one.vocab, one.chat_template), (other.vocab, other.chat_template)
        try:
            found = find_translation(*both)
        except DraftRefusedError as error:
            return PairVerdict(False, error.message)
        if found is not None:
            return PairVerdict(True, coverage=found.coverage)
        return PairVerdict(True, difference=find_template_difference(*both))
