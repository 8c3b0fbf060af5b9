"""Loading that fails half-way: everything that was opened is freed, and what was there before still answers."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from app.paths import builtin_draft, builtin_target
from engine.errors import DecodeError, EngineError
from engine.llama.context import LlamaContext
from engine.llama.model import LlamaModel
from engine.loading import loading
from engine.loading.devices import Attempt
from engine.loading.loading import LoadOptions, open_model
from engine.prompt.chat_prompt import PromptBuilder
from engine.records import ChatRequest, Finished, LoadRequest
from engine.sandbox.probe import probe
from engine.session import session
from engine.session.session import Session

OPTIONS = LoadOptions(512, 1)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """What is open now, models and contexts."""
    opened: set[int] = set()
    for kind in (LlamaModel, LlamaContext):
        begin, end = kind.__init__, kind.close

        def init(self: object, *args: object, begin: object = begin, **more: object) -> None:
            begin(self, *args, **more)  # type: ignore[operator]
            opened.add(id(self))

        def close(self: object, end: object = end) -> None:
            end(self)  # type: ignore[operator]
            opened.discard(id(self))

        monkeypatch.setattr(kind, "__init__", init)
        monkeypatch.setattr(kind, "close", close)
    return opened


def test_a_model_whose_first_pass_fails_is_freed(held: set[int], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bool:
        raise DecodeError("No memory for a pass.")

    monkeypatch.setattr(loading, "try_rollback", fail)
    with pytest.raises(DecodeError, match="No memory"):
        open_model(builtin_target(), OPTIONS)
    assert held == set()


def test_fewer_layers_are_tried_where_the_first_pass_fails(held: set[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """A graphics processor may have room for the weights and none for what a pass needs."""
    tried: list[int] = []
    rolls_back = loading.try_rollback

    def fail_at_first(sequence: object) -> bool:
        tried.append(1)
        if len(tried) == 1:
            raise DecodeError("No memory for a pass.")
        return rolls_back(sequence)  # type: ignore[arg-type]

    monkeypatch.setattr(loading, "_attempts", lambda *_: (Attempt(1), Attempt(0)))
    monkeypatch.setattr(loading, "try_rollback", fail_at_first)
    loaded = open_model(builtin_target(), OPTIONS)
    assert len(tried) == 2
    assert loaded.info.gpu_layers == 0
    assert len(held) == 2
    loaded.close()


def test_a_surprise_after_the_weights_are_there_frees_them_and_keeps_the_model_before(
    held: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> str:
        raise RuntimeError("a surprise")

    both = Session()
    both.load(LoadRequest(str(builtin_target()), n_ctx=512, threads=1))
    before = set(held)
    with monkeypatch.context() as patch:
        patch.setattr(PromptBuilder, "opened_tag", fail)
        with pytest.raises(RuntimeError, match="surprise"):
            both.load(LoadRequest(str(builtin_target()), n_ctx=512, threads=1))
    assert held == before
    with monkeypatch.context() as patch:
        patch.setattr(session, "find_translation", fail)
        with pytest.raises(RuntimeError, match="surprise"):
            both.set_draft(str(builtin_draft()))
    assert held == before
    *_, last = both.generate(ChatRequest(raw_prompt="Once", max_tokens=2))
    assert isinstance(last, Finished)
    both.close()
    assert held == set()


def test_a_file_that_is_no_model_holds_nothing(held: set[int], tmp_path: Path) -> None:
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(builtin_draft().read_bytes()[:300_000])
    with pytest.raises(EngineError, match=r"cut\.gguf"):
        open_model(cut, OPTIONS)
    assert held == set()


def test_a_name_that_is_no_text_is_a_name_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.gguf")
    try:
        shutil.copy(builtin_draft(), path)
    except (OSError, ValueError):
        pytest.skip("this file system takes names only that are text")
    opened = session.Session(lambda file, _: probe(file), cost_folder=tmp_path, state_folder=tmp_path)
    assert opened.load(LoadRequest(str(path), str(path), n_ctx=512)).draft is not None
    opened.states.set_limit(1 << 20)
    asked = ChatRequest(raw_prompt="Once", max_tokens=4, conversation_id=1)
    assert isinstance(list(opened.generate(asked))[-1], Finished)
    opened.measure(0.1)
    opened.close()
