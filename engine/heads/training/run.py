"""The steps around a training: texts read into shards, which a second start takes up, and what heads cost and gain."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import ToolError
from engine.gguf.header import read_header
from engine.gguf.medusa import tokenizer_sha256
from engine.heads.loading import open_head_file
from engine.heads.training.reader import MOST_TOKENS, Text, TextReader, TokenizedText, tokenized
from engine.heads.training.samples import Reading, read_shard, write_shard
from engine.heads.training.speedup import HeadSpeedup, Proposals, best_speedup
from engine.loading.loading import LoadOptions, open_model
from engine.pacing.cost_curve import CostCurve
from engine.pacing.measuring import measure_drafting, measure_passes
from engine.prompt.chat_prompt import PromptBuilder
from engine.sentences import said
from engine.storage.atomic import write_atomically
from engine.storage.cost_store import key_of

LEAST_ROWS = 2_000
USUAL_TOKENS = 80_000  # of answers, from which the first head of SmolLM2 135M came to be right in 42%
_SHARD = 10  # texts: no more are read again where it was ended in the middle
Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Readings:
    """What was read of each of ``texts``, in their order; those that gave too little are left out of both."""

    texts: tuple[Text, ...]
    found: tuple[Reading, ...]

    @property
    def num_rows(self) -> int:
        """All rows together."""
        return sum(len(one.rows) for one in self.found)


def read_texts(target: Path, texts: Sequence[Text], folder: Path, on_progress: Progress) -> Readings:
    """Read texts through the target, into shards in ``folder``; those that are there already are taken up.

    Raises:
        ToolError: the folder has the shards of another model or of other texts, or the texts are too few.
        EngineError: the target cannot be read.
        OSError: the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _check_folder(target, texts, folder)
    model = open_model(str(target), LoadOptions(n_ctx=MOST_TOKENS))
    try:
        prompts = PromptBuilder(model.model.vocab, model.model.chat_template)
        end = model.model.vocab.eos_id
        each = [(text, ids) for text in texts if (ids := tokenized(text, prompts, end)) is not None]
        _check_amount([ids for _, ids in each])
        reader, found = TextReader(model, model.model.n_embd_out), list[Reading]()
        for begin in range(0, len(each), _SHARD):
            path = folder / f"texts-{begin:06}.npz"
            if not path.is_file():
                some = list[Reading]()
                for place, (_, ids) in enumerate(each[begin : begin + _SHARD], begin):
                    some.append(reader.read(ids))
                    on_progress((place + 1) / len(each))
                write_shard(path, some)
            found += read_shard(path)
    finally:
        model.close()
    return Readings(tuple(text for text, _ in each), tuple(found))


def _check_folder(target: Path, texts: Sequence[Text], folder: Path) -> None:
    words = hashlib.sha256(repr(texts).encode("utf-8", "surrogatepass")).hexdigest()
    tokens = tokenizer_sha256(target, read_header(target))
    mark = json.dumps({"texts": words, "target": key_of(tokens, target.stat().st_size)})
    file = folder / "made-of.json"
    if not file.is_file():
        write_atomically(file, mark.encode())
    elif file.read_text("utf-8") != mark:
        raise ToolError(
            said("The training in {folder} is of another model or of other texts.", folder=folder.name),
            "Give another name with --out, or delete the folder.",
        )


def _check_amount(texts: Sequence[TokenizedText]) -> None:
    number = sum(len(one.ids) - one.start for one in texts)
    if number < LEAST_ROWS:
        raise ToolError(
            said(
                "The chats and texts have {num_tokens:,} tokens to learn from, and {least:,} are the least.",
                num_tokens=number,
                least=LEAST_ROWS,
            ),
            said("Give more; {num_tokens:,} of the model's own answers are a beginning.", num_tokens=USUAL_TOKENS),
        )


def measured_speed_forecast(target: Path, heads: Path, found: Proposals) -> HeadSpeedup:
    """Measure passes of the target and steps of the heads here, and reckon what such proposals are worth.

    Raises:
        EngineError: one cannot be opened, or a pass failed.
    """
    model = open_model(str(target), LoadOptions(n_ctx=MOST_TOKENS))
    try:
        head = open_head_file(str(heads), model, LoadOptions())
        try:
            curve = CostCurve(measure_passes(model.sequence))
            step_ms = measure_drafting(head.sequence, model.model.vocab.n_vocab).step_ms
        finally:
            head.close()
    finally:
        model.close()
    return best_speedup(curve, step_ms, found)
