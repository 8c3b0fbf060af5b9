"""Tests the built-in pair on a real GPU, checked first as in the program: a card, or Mesa's lavapipe.

Slow on lavapipe, which compiles a program for each pass size, so it only runs with ``PACELINE_GPU_TESTS=1``. For
lavapipe, which llama.cpp ignores by default, also set ``GGML_VK_VISIBLE_DEVICES=0``.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from app.core.paths import builtin_draft, builtin_target
from engine.llama import gpu_verdict
from engine.llama.devices import find_gpus
from engine.llama.gpu_verdict import GpuVerdict
from engine.loading.loading import LoadOptions, open_model
from engine.prompt.chat_prompt import PromptBuilder
from engine.records import NO_DEVICE, ChatRequest, EngineReady, LoadRequest, Message, Mode, Placement
from engine.records import SamplingParams as Sampling
from engine.sandbox import machine_check
from engine.sandbox.machine_check import file_inspector
from engine.session.session import Session
from tests.engine.answers import end_of

PROMPT = "Repeat: red, green, blue, red, green, blue."
NEAR_TIE = 0.5  # logits: likely tokens differ by several units; rounding is a tenth of this
NEVER = "PACELINE_GPU_TESTS is not 1"


def missing() -> str:
    """Why nothing can be tested here; empty if it can."""
    if os.environ.get("PACELINE_GPU_TESTS") != "1":
        return NEVER
    return "" if find_gpus() else "llama.cpp finds no graphics processor"


pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or NEVER)


@pytest.fixture(scope="module", name="opened")
def fixture_opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Session, EngineReady]]:
    session = Session(file_inspector(tmp_path_factory.mktemp("cache"), builtin_target()))
    request = LoadRequest(str(builtin_target()), str(builtin_draft()), n_ctx=256, gpu_layers=999, draft_gpu_layers=999)
    try:
        yield session, session.load(request)
    finally:
        session.close()
        gpu_verdict.set_current(GpuVerdict.USABLE)


def test_a_device_is_listed_with_its_memory() -> None:
    device = find_gpus()[0]
    assert device.total_bytes
    assert device.free_bytes
    assert 0 < device.free_bytes <= device.total_bytes


def test_the_pair_lies_there_and_a_tail_can_be_taken_back(opened: tuple[Session, EngineReady]) -> None:
    session, ready = opened
    assert ready.target.gpu_layers > 0
    assert ready.draft is not None
    assert ready.draft.gpu_layers > 0
    assert session._target is not None
    assert session._target.can_rollback
    expected = machine_check.gpu_notices(LoadRequest(""))
    assert [notice for notice in ready.notices if notice in expected] == list(expected)


def test_a_chat_is_answered(opened: tuple[Session, EngineReady]) -> None:
    question = ChatRequest(messages=(Message("user", "Say: blue."),), sampling=Sampling(temperature=0.0), max_tokens=4)
    assert end_of(opened[0], question).stats.tokens > 0


@pytest.mark.parametrize("mode", [mode for mode in Mode if mode is not Mode.HEAD])
def test_every_mode_writes_what_the_processor_would(opened: tuple[Session, EngineReady], mode: Mode) -> None:
    question = ChatRequest(
        messages=(Message("user", PROMPT),), mode=mode, depth=3, sampling=Sampling(temperature=0.0), max_tokens=12
    )
    end = end_of(opened[0], question)
    ids = end.token_ids
    assert ids
    for step, (row, token_id) in enumerate(zip(rows_of_processor(question, ids), ids, strict=True)):
        assert row.max() - row[token_id] < NEAR_TIE, f"token {step} of {mode}"
    if mode is Mode.DRAFT:
        assert end.stats.proposed > 0


def rows_of_processor(question: ChatRequest, ids: tuple[int, ...]) -> list[np.ndarray]:
    """The CPU's rows for each of ``ids``."""
    loaded = open_model(builtin_target(), LoadOptions(256, 1, placement=Placement((NO_DEVICE,))))
    try:
        prompt = PromptBuilder(loaded.model.vocab, loaded.model.chat_template).ids_of_request(question)
        return [row.copy() for row in loaded.context.forward([*prompt, *ids[:-1]], len(ids))]
    finally:
        loaded.close()


def test_without_room_there_the_processor_answers(
    opened: tuple[Session, EngineReady], monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.loading import loading

    really = loading._open_with

    def full(path: Path, options: LoadOptions, gpu_layers: int, progress: object) -> loading.LoadedModel:
        if gpu_layers:
            raise loading.ContextError("There is no room.")
        return really(path, options, gpu_layers, progress)  # type: ignore[arg-type]

    assert opened
    monkeypatch.setattr(loading, "_open_with", full)
    session = Session()
    try:
        ready = session.load(LoadRequest(str(builtin_target()), n_ctx=256))
        assert ready.target.gpu_layers == 0
        assert [notice for notice in ready.notices if "runs on the processor" in notice]
    finally:
        session.close()
