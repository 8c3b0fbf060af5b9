"""Passes are aborted in the middle: at once, and without leaving a trace."""

import ctypes
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.errors import DecodeError
from engine.llama.context import ContextParams, LlamaContext
from engine.llama.interrupt import Interrupt
from engine.llama.model import LlamaModel
from engine.records import ChatRequest, Event, Finished, FinishReason, LoadRequest, Mode, SamplingParams
from engine.session.session import Session
from tests.engine.gguf_factory import tiny_llama
from tests.engine.hybrid_factory import tiny_lfm2

IDS = np.arange(3, 203, dtype=np.int32) % 90
ASKS = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaModel]:
    with LlamaModel(tiny_llama(seed=1).write(tmp_path_factory.mktemp("model") / "tiny.gguf")) as model:
        yield model


@pytest.fixture(params=[1, 2])
def context(model: LlamaModel, request: pytest.FixtureRequest) -> Iterator[LlamaContext]:
    with LlamaContext(model, ContextParams(n_ctx=512, threads=request.param)) as context:
        yield context


def test_a_pass_ends_and_leaves_the_cache_as_it_was(context: LlamaContext) -> None:
    interrupt = Interrupt()
    context.forward(IDS[:100], 0)
    expected = context.forward(IDS[100:], 1).copy()
    assert context.rollback(100)
    interrupt.set()
    with interrupt.attached_to([context]):
        with pytest.raises(DecodeError):
            context.forward(IDS[100:], 1)
        assert context.num_past == 100
        interrupt.clear()
        np.testing.assert_array_equal(context.forward(IDS[100:], 1), expected)
    interrupt.set()
    assert context.rollback(100)
    np.testing.assert_array_equal(context.forward(IDS[100:], 1), expected)  # no stop is requested any more


@pytest.mark.parametrize("num_asked", [1, 30, 60, 75])
def test_wherever_it_ends_nothing_of_it_stays(context: LlamaContext, num_asked: int) -> None:
    """Also if the first of several batches of the pass was already complete."""
    context.forward(IDS[:40], 0)
    expected = context.forward(IDS[40:], 1).copy()
    assert context.rollback(40)
    left = [num_asked]

    @ASKS
    def asks(_data: object) -> bool:
        left[0] -= 1
        return left[0] < 0

    context.set_abort_callback(asks, None)
    with pytest.raises(DecodeError):
        context.forward(IDS[40:], 1)
    context.set_abort_callback(None, None)
    assert left[0] < 0
    assert context.num_past == 40
    np.testing.assert_array_equal(context.forward(IDS[40:], 1), expected)


def test_a_state_does_not_listen_for_it_would_be_lost(tmp_path: Path) -> None:
    interrupt = Interrupt()
    interrupt.set()
    with (
        LlamaModel(tiny_lfm2().write(tmp_path / "hybrid.gguf")) as model,
        LlamaContext(model, ContextParams(n_ctx=256, threads=1)) as context,
        interrupt.attached_to([context]),
    ):
        context.forward(IDS[:20] % 30, 1)
        assert context.num_past == 20


def test_a_context_that_is_closed_meanwhile_is_let_alone(model: LlamaModel) -> None:
    context = LlamaContext(model, ContextParams(n_ctx=256, threads=1))
    with Interrupt().attached_to([context]):
        context.close()


@pytest.mark.parametrize("mode", [Mode.OFF, Mode.DRAFT, Mode.AUTO])
@pytest.mark.parametrize("num_checks", [1, 2, 5])
def test_an_answer_whose_pass_ends_so_was_stopped(tmp_path: Path, mode: Mode, num_checks: int) -> None:
    """During the prompt, and between tokens."""
    path = str(tiny_llama(seed=1).write(tmp_path / "tiny.gguf"))
    session = Session()
    session.load(LoadRequest(path, path, n_ctx=512))
    sampling = SamplingParams(temperature=0.0)
    request = ChatRequest(raw_prompt="ab" * 60, mode=mode, depth=2, sampling=sampling, max_tokens=40, ignore_eos=True)
    expected = ending(list(session.generate(request)))
    checks = 0

    def should_stop() -> bool:
        nonlocal checks
        checks += 1
        if checks == num_checks:
            session.interrupt.set()
        return checks > num_checks

    stopped = ending(list(session.generate(ChatRequest(raw_prompt="b" * 200, mode=mode), should_stop)))
    assert stopped.reason is FinishReason.CANCELLED
    assert not any("left out" in decision for decision in stopped.stats.decisions)
    session.interrupt.clear()
    assert ending(list(session.generate(request))).token_ids == expected.token_ids
    session.close()


def ending(events: list[Event]) -> Finished:
    last = events[-1]
    assert isinstance(last, Finished)
    return last
