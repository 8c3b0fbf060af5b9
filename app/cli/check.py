"""`paceline check`: tells whether a draft works for a target, and its measured gain; or checks the target's heads.

Finally it computes the target's logits in passes of several shapes and compares them bit for bit. Of a draft model only
the vocabulary is loaded. Heads are tried in a child process.
"""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

from app.cli.output import print_json, size_words
from app.core.domain.model_name import name_of_file
from app.core.domain.speed.pair_speed import measured_words
from app.core.paths import builtin_target, find_paths
from app.core.storage.pair_speeds import PairSpeeds
from engine.drafters.translation.comparison import find_translation, vocabulary_sentence
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
    """Print the verdict, then the measured speed; exit code 0 if the pair fits, otherwise 1.

    The exit code is also 1 if the target's logits should be equal bit for bit and are not. It is 0 for a target without
    heads.
    """
    target, draft = Path(options.target), Path(options.draft) if options.draft is not None else None
    found = _judge(target, draft)
    speeds = PairSpeeds(find_paths().pair_speeds_file)
    measured = speeds.get(name_of_file(target), name_of_file(draft) if draft is not None else "")
    # Compare rows of a target on the CPU, for half a minute at most. Raises: EngineError: the target cannot be
    # loaded, or a pass failed.
    check_kernels(builtin_target(), find_paths().cache)
    num_rows = num_different = 0
    with LlamaModel(target) as model:
        end = time.monotonic() + COMPARISON_S
        for one in compare_passes(model, should_stop=lambda: time.monotonic() > end):
            num_rows, num_different = num_rows + one.num_rows, num_different + one.num_different
    exact, side = ComparedRows(num_rows, num_different, why_inexact(str(target))), find_side_file(target)
    refused = draft is not None and not found.matches
    if options.json:
        facts: dict[str, object] = {"target": target, "draft": draft, "side_file": side, "verdict": found}
        print_json({**facts, "measured": measured, "exactness": exact})
    else:
        sentences = _target_words(target, found) if draft is None else _draft_words(target, draft, found)
        if not refused:
            sentences.append(measured_words(measured))
        if side is not None:
            size = size_words(side.stat().st_size + ENCODER_BYTES)
            sentences.append(f"{target.name} sees pictures with {side.name}, which takes about {size} of memory.")
        for sentence in filter(None, [*sentences, None if refused else exact.sentence]):
            print(sentence)
    return int(exact.is_fault or refused)


def _target_words(target: Path, found: PairVerdict) -> list[str | None]:
    header = read_header(target)
    heads = found.reason or own_heads_sentence(header, target.name)
    return [f"{target.name} can be used.", heads, *missing_metadata_notices(header, target.name)]


def _draft_words(target: Path, draft: Path, found: PairVerdict) -> list[str | None]:
    if not found.matches:
        return [f"{draft.name} cannot draft for {target.name}: {found.reason}"]
    words = vocabulary_sentence(found.coverage) if found.coverage is not None else ""
    fits = f"{draft.name} can draft for {target.name}"
    if head_method(read_header(draft)):
        fits += ": it is a head made for such a model, and both ran together."
    else:
        fits += f". {words}" if words else ": their vocabularies match."
    return [fits]


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


def _judge(target: Path, draft: Path | None) -> PairVerdict:
    """Whether a draft or a head fits the target; without a draft, whether the target has usable heads.

    Raises:
        EngineError: a file cannot be used as a model.
        TemplateError: the target's chat template fails.
    """
    cache = find_paths().cache
    probe(target, cache)
    with LlamaModel(target, vocab_only=True) as one:
        PromptBuilder(one.vocab, one.chat_template).build((Message("user", "Hello"),))
        if draft is not None and not head_method(read_header(draft)):
            probe(draft, cache)
            with LlamaModel(draft, vocab_only=True) as other:
                return _compare_vocabularies(one, other)
    header = read_header(target)
    if draft is None and not has_next_token_layers(header):
        return PairVerdict(matches=False, reason=own_heads_sentence(header, target.name))
    try:
        if draft is not None:
            check_head_file(header, read_header(draft))
        elif reason := unsupported_reason(MTP):
            return PairVerdict(matches=False, reason=reason)
        probe_head(target, draft, cache_dir=cache)
    except EngineError as error:
        return PairVerdict(matches=False, reason=error.message)
    return PairVerdict(matches=True)


def _compare_vocabularies(one: LlamaModel, other: LlamaModel) -> PairVerdict:
    both = (one.vocab, one.chat_template), (other.vocab, other.chat_template)
    try:
        found = find_translation(*both)
    except DraftRefusedError as error:
        return PairVerdict(False, error.message)
    return PairVerdict(True, coverage=None if found is None else found.coverage)
