"""Tests picking the likeliest tokens within llama.cpp, here on the CPU: equal tokens, or whole rows as a fallback."""

import logging
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest

from app.core.paths import builtin_draft, builtin_target
from engine.drafters.draft_model import DraftModelDrafter
from engine.llama import library, top_k_sampler
from engine.llama.context import ContextParams, LlamaContext
from engine.llama.model import LlamaModel
from engine.llama.top_k_sampler import TopKSampler, candidates_pay
from engine.records import SamplingParams
from engine.sampling.sampler import Sampler
from engine.sequence import CachedSequence
from tests.shared_files import shared_model

COUNT = 48
IDS = [1, 403, 407, 261, 378, 403, 12, 77]


@pytest.fixture(scope="module")
def model() -> Iterator[LlamaModel]:
    with LlamaModel(builtin_draft()) as model:
        yield model


@pytest.fixture
def context(model: LlamaModel) -> Iterator[LlamaContext]:
    with LlamaContext(model, ContextParams(512, 1, num_candidates=COUNT)) as context:
        yield context


def rows_of(context: LlamaContext) -> np.ndarray:
    """The whole row after each of `IDS`, decoded one by one."""
    context.clear()
    return np.array([context.forward([token_id], 1)[0].copy() for token_id in IDS])


def test_the_candidates_are_the_likeliest_tokens_of_the_row(context: LlamaContext) -> None:
    rows = rows_of(context)
    context.clear()
    for row, token_id in zip(rows, IDS, strict=True):
        found = context.forward_candidates([token_id])
        assert found.ids.tolist() == sorted((-row).argsort(kind="stable")[:COUNT].tolist())
        np.testing.assert_array_equal(found.logits, row[found.ids])
    assert context.num_candidates == COUNT


def test_whole_rows_and_candidates_take_turns(context: LlamaContext) -> None:
    rows = rows_of(context)
    context.clear()
    for number, (row, token_id) in enumerate(zip(rows, IDS, strict=True)):
        if number % 3:
            found = context.forward_candidates([token_id])
            np.testing.assert_array_equal(found.logits, row[found.ids])
        else:
            np.testing.assert_array_equal(context.forward([token_id], 1)[0], row)
    context.clear()
    context.forward_candidates(IDS[:1])
    np.testing.assert_allclose(context.forward(IDS[1:], len(IDS) - 1), rows[1:], atol=0.02)


def test_a_long_prompt_a_rollback_and_kept_states_go_with_it(context: LlamaContext) -> None:
    prompt = np.arange(300, dtype=np.int32) % 200
    context.forward_candidates([5])
    context.clear()
    context.forward(prompt, 0)
    first = context.forward_candidates([7])
    context.forward_candidates([9])
    assert context.rollback(300)
    again = context.forward_candidates([7])
    np.testing.assert_array_equal(first.ids, again.ids)
    np.testing.assert_array_equal(first.logits, again.logits)
    assert context.rollback(300)
    state = context.export_state()
    assert state is not None
    assert context.import_state(state, 300)
    np.testing.assert_array_equal(context.forward_candidates([7]).logits, first.logits)


def test_a_recurrent_memory_goes_back_to_a_checkpoint_with_it() -> None:
    params = ContextParams(256, 1, num_candidates=COUNT)
    with LlamaModel(shared_model("tiny-rwkv7-834K-f32.gguf")) as model, LlamaContext(model, params) as context:
        sequence = CachedSequence(context)
        sequence.forward([5, 6, 7], 0)
        sequence.checkpoint()
        first = sequence.forward_candidates([8])
        sequence.forward_candidates([9])
        assert sequence.rollback(4)
        assert sequence.num_pending == 1
        second = sequence.forward_candidates([9])
        sequence.clear()
        sequence.forward([5, 6, 7], 0)
        np.testing.assert_allclose(sequence.forward_candidates([8]).logits, first.logits, atol=1e-3)
        np.testing.assert_allclose(sequence.forward_candidates([9]).logits, second.logits, atol=1e-3)


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_a_drafter_proposes_the_same_with_the_default_chain(model: LlamaModel, temperature: float) -> None:
    drafts = []
    for count in (0, COUNT):
        with LlamaContext(model, ContextParams(512, 1, num_candidates=count)) as context:
            drafter = DraftModelDrafter(CachedSequence(context), model.vocab.n_vocab, frozenset())
            history = np.array(IDS, dtype=np.int32)
            drafter.begin(history, Sampler(SamplingParams(temperature=temperature, seed=3)))
            first = drafter.propose(history, 6)
            drafter.observe(2)
            longer = np.array([*IDS, *first.ids[:2], 9], dtype=np.int32)
            drafts.append([first, drafter.propose(longer, 6)])
    for whole, few in zip(*drafts, strict=True):
        assert few.ids == whole.ids
        for p, q in zip(whole.q or (), few.q or (), strict=True):
            assert p.ids is not None
            np.testing.assert_array_equal(p.ids, q.ids)
            np.testing.assert_allclose(p.probs, q.probs, rtol=1e-12)


class Lacking:
    """The binding, except for replaced functions."""

    def __init__(self, lacks: str = "", **other: object) -> None:
        self._lacks, self._other = lacks, other

    def __getattr__(self, name: str) -> object:
        if name == self._lacks:
            raise AttributeError(name)
        return self._other.get(name) or getattr(library.start(), name)


def without_a_place(_count: int) -> object:
    """A sampler that llama.cpp runs on no device: it then returns the row instead of candidates."""
    return library.start().llama_sampler_init_typical(0.9, 1)


@pytest.mark.parametrize(
    "binding",
    [
        Lacking("llama_set_sampler"),
        Lacking(llama_set_sampler=lambda *_: False),
        Lacking(llama_sampler_init_top_k=without_a_place),
    ],
    ids=["an older library", "a refusal", "a device that cannot"],
)
def test_without_it_whole_rows_come_and_the_log_says_so_once(
    model: LlamaModel, caplog: pytest.LogCaptureFixture, binding: Lacking
) -> None:
    caplog.set_level(logging.INFO, top_k_sampler.__name__)
    with LlamaContext(model, ContextParams(512, 1)) as plain:
        rows = rows_of(plain)
    with LlamaContext(model, ContextParams(512, 1, num_candidates=COUNT)) as context:
        context._top_k_sampler = TopKSampler(binding, context.handle, context.n_vocab, COUNT)
        for row, token_id in zip(rows, IDS, strict=True):
            found = context.forward_candidates([token_id])
            np.testing.assert_array_equal(found.ids, np.arange(model.vocab.n_vocab))
            np.testing.assert_array_equal(found.logits, row)
            assert context.num_candidates == 0
        context.clear()
        np.testing.assert_array_equal(context.forward(IDS[:1], 1)[0], rows[0])
    assert len([line for line in caplog.messages if "whole rows" in line]) == 1


def test_only_large_vocabularies_on_a_gpu_are_worth_it() -> None:
    def model_of(gpu_layers: int, n_vocab: int) -> LlamaModel:
        return SimpleNamespace(gpu_layers=gpu_layers, n_layer=12, vocab=SimpleNamespace(n_vocab=n_vocab))  # type: ignore[return-value]

    assert candidates_pay(model_of(999, 150_000))
    assert not candidates_pay(model_of(0, 150_000))
    assert not candidates_pay(model_of(12, 150_000))  # its output layer stays on the CPU
    assert not candidates_pay(model_of(999, 512))
    with LlamaModel(builtin_target()) as model:
        assert not candidates_pay(model)


def test_more_candidates_than_tokens_are_never_asked_for() -> None:
    with LlamaModel(builtin_draft()) as model:
        params = ContextParams(256, 1, num_candidates=model.vocab.n_vocab)
        with LlamaContext(model, params) as context:
            assert context.num_candidates == 0
