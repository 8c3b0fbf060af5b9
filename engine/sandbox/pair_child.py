"""The helper process that compares vocabularies: a target's with those of several drafts, from headers alone.

What it opens may be whole models or stubs (`engine.gguf.stub`); no weights are read. Prints one JSON line.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.drafters.translation.comparison import find_translation
from engine.errors import DraftRefusedError, EngineError
from engine.gguf.header import parse_header
from engine.gguf.hyperparameters import check_tokens
from engine.gguf.source import open_for_reading
from engine.llama.model import LlamaModel
from engine.sandbox.limits import limit_memory
from engine.sandbox.probe_child import answer_as_json
from engine.sentences import to_json

_COPIES = 16  # of the header, as lists and tables of a tokenizer, in both vocabularies


def main(arguments: list[str]) -> int:
    """Compare the first file of ``arguments`` with each of the others."""
    target, *drafts = (Path(argument) for argument in arguments)
    return answer_as_json(lambda: {"verdicts": compare(target, drafts)}, target.name)


def compare(target: Path, drafts: list[Path]) -> list[dict[str, Any]]:
    """One verdict a draft: whether it may serve, or why it may not, or cannot be read.

    Raises:
        ModelFileError: the target's vocabulary cannot be used.
    """
    size = _checked_size(target)
    problems: dict[Path, str] = {}
    largest = 0
    for path in drafts:
        try:
            largest = max(largest, _checked_size(path))
        except EngineError as error:
            problems[path] = error.message
    limit_memory(_COPIES * (size + largest))
    with LlamaModel(target, vocab_only=True) as model:
        return [
            _verdict(problems[path], readable=False) if path in problems else _judge(model, path) for path in drafts
        ]


def _judge(target: LlamaModel, path: Path) -> dict[str, Any]:
    try:
        with LlamaModel(path, vocab_only=True) as draft:
            found = find_translation((target.vocab, target.chat_template), (draft.vocab, draft.chat_template))
    except DraftRefusedError as error:
        return _verdict(error.message)
    except EngineError as error:
        return _verdict(error.message, readable=False)
    return _verdict("", speaks=None if found is None else found.speaks)


def _verdict(reason: str, *, readable: bool = True, speaks: float | None = None) -> dict[str, Any]:
    return {"matches": not reason, "reason": to_json(reason), "readable": readable, "speaks": speaks}


def _checked_size(path: Path) -> int:
    """Check what llama.cpp would believe; return the header's bytes."""
    with open_for_reading(path) as (read_at, file_size):
        header = parse_header(read_at, file_size)
        check_tokens(header, read_at)
    return header.data_offset
