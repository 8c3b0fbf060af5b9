"""Loading that fails half-way frees everything it opened, and earlier models still answer."""

import os
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.core.paths import builtin_draft, builtin_target
from engine.errors import DecodeError, LoadCancelledError, ModelFileError, NotEnoughMemoryError
from engine.fit.fit import estimate
from engine.llama.context import LlamaContext
from engine.llama.model import LlamaModel
from engine.loading import loading
from engine.loading.loading import (
    AUTOMATIC_N_CTX,
    LoadOptions,
    fit_context,
    open_another,
    open_model,
    recommended_sampling,
)
from engine.prompt.chat_prompt import PromptBuilder
from engine.records import ChatRequest, LoadRequest
from engine.sandbox.probe import probe
from engine.session import drafter_choice
from engine.session.session import Session
from tests.engine.answers import end_of
from tests.engine.gguf_factory import GgufFile, Kind, tiny_llama

OPTIONS = LoadOptions(512, 1)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The currently open models and contexts."""
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

    monkeypatch.setattr(loading, "probe_rollback", fail)
    with pytest.raises(DecodeError, match="No memory"):
        open_model(builtin_target(), OPTIONS)
    assert held == set()


def test_an_error_after_loading_frees_the_weights_and_keeps_the_old_model(
    held: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> str:
        raise RuntimeError("a surprise")

    both = Session()
    both.load(LoadRequest(str(builtin_target()), n_ctx=512, threads=1))
    before = set(held)
    with monkeypatch.context() as patch:
        patch.setattr(PromptBuilder, "reasoning_start_tag", fail)
        with pytest.raises(RuntimeError, match="surprise"):
            both.load(LoadRequest(str(builtin_target()), n_ctx=512, threads=1))
    assert held == before
    with monkeypatch.context() as patch:
        patch.setattr(drafter_choice, "find_translation", fail)
        with pytest.raises(RuntimeError, match="surprise"):
            both.set_draft(str(builtin_draft()))
    assert held == before
    end_of(both, ChatRequest(raw_prompt="Once", max_tokens=2))
    both.close()
    assert held == set()


@pytest.mark.parametrize("num_answers", range(4))
def test_a_load_can_be_cancelled_until_the_model_is_described(held: set[int], num_answers: int) -> None:
    """llama.cpp asks while reading; then it is asked twice more, since the following steps take time."""
    whole: list[float] = []

    def progress(fraction: float) -> bool:
        whole.extend([fraction] * (fraction == 1.0))
        return len(whole) <= num_answers

    if num_answers < 3:
        with pytest.raises(LoadCancelledError, match="was cancelled"):
            open_model(builtin_target(), OPTIONS, progress)
    else:
        open_model(builtin_target(), OPTIONS, progress).close()
    assert held == set()


def test_a_model_that_writes_no_text_is_refused(held: set[int], tmp_path: Path) -> None:
    file = tiny_llama()  # with llama's weights, but labelled as a text diffusion model
    metadata = {key.replace("llama.", "llada."): value for key, value in file.metadata.items()}
    metadata["general.architecture"] = (Kind.STRING, "llada")
    path = GgufFile(metadata, file.tensors).write(tmp_path / "llada.gguf")
    with pytest.raises(ModelFileError, match=r"llada\.gguf is a llada model, which does not write text"):
        open_model(path, OPTIONS)
    assert held == set()


def test_a_context_beside_whose_first_pass_fails_is_freed(held: set[int], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bool:
        raise DecodeError("No memory for a pass.")

    loaded = open_model(builtin_target(), OPTIONS)
    before = set(held)
    with monkeypatch.context() as patch:
        patch.setattr(loading, "probe_rollback", fail)
        with pytest.raises(DecodeError):
            open_another(loaded, 256)
    assert held == before
    beside = open_another(loaded, 256)
    assert (beside.context.n_ctx, beside.can_rollback) == (256, True)
    beside.close()
    loaded.close()
    assert held == set()


def test_the_automatic_context_is_the_largest_that_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = tiny_llama().with_metadata(llama__context_length=(Kind.UINT32, 32_768))
    path = str(long.write(tmp_path / "long.gguf"))
    options = LoadOptions(gpu_layers=0)

    def fitted(num_bytes: int, asked: LoadOptions = options) -> int | None:
        monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=num_bytes))
        return fit_context([path], asked).n_ctx

    needed = {n_ctx: estimate([Path(path)], n_ctx, 1).needed_bytes for n_ctx in (2048, 4096, 8192, 32_768)}
    assert list(needed.values()) == sorted(set(needed.values()))
    assert fitted(2 * needed[32_768]) == AUTOMATIC_N_CTX == 8192
    assert fitted(needed[8192]) == 8192
    assert fitted(needed[8192] - 1) == 4096
    assert fitted(needed[4096] - 1) == fitted(needed[2048]) == 2048
    with pytest.raises(NotEnoughMemoryError, match="are free"):
        fitted(needed[2048] - 1)
    assert fitted(needed[32_768], replace(options, n_ctx=1 << 20)) == 32_768  # at most the trained length
    with pytest.raises(NotEnoughMemoryError):  # a requested length is not reduced
        fitted(needed[32_768] - 1, replace(options, n_ctx=32_768))


def test_settings_that_a_file_recommends_are_told(tmp_path: Path) -> None:
    file = tiny_llama().with_metadata(
        general__sampling__temp=(Kind.FLOAT32, 0.625),
        general__sampling__top_k=(Kind.INT32, 20),
        general__sampling__top_p=(Kind.FLOAT32, 1.5),  # out of range
    )
    loaded = open_model(file.write(tmp_path / "told.gguf"), OPTIONS)
    assert dict(loaded.info.recommended) == {"top_k": 20, "temperature": 0.625}
    loaded.close()


@pytest.mark.parametrize("text", ["", "nan", "inf", "-1", "high", "1e999", "0x10", "[0.5]"])
@pytest.mark.parametrize("name", ["temp", "top_p", "min_p", "penalty_repeat", "top_k"])
def test_recommended_settings_that_are_none_are_left_out(name: str, text: str) -> None:
    given = {"general.sampling.temp": "0.5", f"general.sampling.{name}": text}
    assert dict(recommended_sampling(given.get)) == ({} if name == "temp" else {"temperature": 0.5})


@pytest.mark.parametrize(
    ("num_params", "given", "penalty"),
    [(134_515_008, {}, 1.1), (134_515_008, {"general.sampling.penalty_repeat": "1.0"}, 1.0), (494_000_000, {}, None)],
)
def test_a_small_model_whose_file_says_nothing_of_it_gets_a_repeat_penalty(
    num_params: int, given: dict[str, str], penalty: float | None
) -> None:
    assert dict(recommended_sampling(given.get, num_params)).get("repeat_penalty") == penalty


def test_a_name_that_is_no_text_is_a_name_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.gguf")
    try:
        shutil.copy(builtin_draft(), path)
    except (OSError, ValueError):
        pytest.skip("this file system takes names only that are text")
    opened = Session(lambda file, _: probe(file), cost_folder=tmp_path, state_folder=tmp_path)
    assert opened.load(LoadRequest(str(path), str(path), n_ctx=512)).draft is not None
    opened.states.set_limit(1 << 20)
    asked = ChatRequest(raw_prompt="Once", max_tokens=4, conversation_id=1)
    end_of(opened, asked)
    opened.measure(0.1)
    opened.close()
