"""How drafts on the processor attend: by what was asked, by room, and by their heads; never by the clock."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.core.paths import builtin_draft, builtin_target
from engine.gguf.header import read_header
from engine.loading.loading import LoadOptions, open_model
from engine.records import CacheType, ChatRequest, Finished, FlashAttention, LoadRequest, Message, Mode, SamplingParams
from engine.session.session import Session
from engine.tuning import attention
from engine.tuning.attention import AttentionShape, shape_of, with_small_keys
from tests.engine.gguf_factory import Kind, tiny_llama

PATH = str(builtin_target())
USUAL = LoadOptions(2048, threads=1)


def shape_with(folder: Path, **entries: int) -> AttentionShape | None:
    """The shape of a tiny model whose header has these entries besides."""
    path = folder / "model.gguf"
    more = {f"llama__{key}": (Kind.UINT32, value) for key, value in entries.items()}
    path.write_bytes(tiny_llama().with_metadata(**more).to_bytes())
    return shape_of(read_header(path))


def test_the_shape_of_the_built_in_target() -> None:
    assert shape_of(read_header(builtin_target())) == AttentionShape(6, 4, 64)


def test_heads_may_be_longer_than_the_width_says(tmp_path: Path) -> None:
    assert shape_with(tmp_path) == AttentionShape(2, 4, 16)
    assert shape_with(tmp_path, attention__key_length=48, attention__value_length=48) == AttentionShape(2, 4, 48)


@pytest.mark.parametrize(
    "entries",
    [
        {"attention__sliding_window": 512},
        {"attention__kv_lora_rank": 64},
        {"ssm__state_size": 16},
        {"attention__head_count": 0},
        {"attention__head_count_kv": 3},
        {"block_count": 0},
        {"attention__key_length": 0, "attention__value_length": 0},
        {"attention__key_length": 48},
    ],
)
def test_other_kinds_of_attention_have_no_shape(tmp_path: Path, entries: dict[str, int]) -> None:
    assert shape_with(tmp_path, **entries) is None


def test_a_window_of_nothing_is_none(tmp_path: Path) -> None:
    assert shape_with(tmp_path, attention__sliding_window=0) is not None


def test_scores_grow_with_heads_context_and_pass() -> None:
    assert AttentionShape(28, 16, 128).scores_bytes(4096, 128) == 16 * 4096 * 128 * 4


def answer_of(session: Session, mode: Mode) -> tuple[str, int]:
    """A greedy answer and how many drafted tokens it kept."""
    question = (Message("user", "What is a draft model?"),)
    request = ChatRequest(question, mode, 5, SamplingParams(temperature=0.0), max_tokens=40)
    events = list(session.generate(request))
    text = "".join(event.text for event in events if hasattr(event, "text"))
    return text, next(event.stats.accepted for event in events if isinstance(event, Finished))


def test_a_session_answers_with_it_and_keeps_its_caches_and_costs_apart(suited: None, tmp_path: Path) -> None:
    texts, identities, keys = [], [], []
    for asked in (FlashAttention.AUTO, FlashAttention.ON):
        session = Session(cost_folder=tmp_path)
        ready = session.load(LoadRequest(PATH, str(builtin_draft()), flash_attention=asked))
        expected = FlashAttention.OFF if asked is FlashAttention.AUTO else FlashAttention.ON
        assert ready.target.flash_attention is expected
        plain, (drafted, accepted) = answer_of(session, Mode.OFF)[0], answer_of(session, Mode.DRAFT)
        assert drafted == plain
        assert accepted > 0
        texts.append(plain)
        identities.append(session.states._slots[0, "target"].identity())
        keys.append(session._pair_costs()._target_key)
        session.close()
    assert texts[0] == texts[1]
    assert identities[0] != identities[1]
    assert keys[0] != keys[1]


# ---- the keys of drafts ---------------------------------------------------------------------------------------------

DRAFT = str(builtin_draft())


def test_a_draft_with_short_heads_has_small_keys() -> None:
    assert with_small_keys(DRAFT, USUAL) == replace(USUAL, key_type=CacheType.Q8_0)
    assert with_small_keys(PATH, USUAL) == USUAL  # heads of 64


@pytest.mark.parametrize(
    "asked",
    [
        replace(USUAL, cache_type=CacheType.Q8_0),
        replace(USUAL, flash_attention=FlashAttention.ON),
        replace(USUAL, flash_attention=FlashAttention.OFF),
    ],
)
def test_what_somebody_asked_of_a_draft_is_left_as_it_is(asked: LoadOptions) -> None:
    assert with_small_keys(DRAFT, asked) == asked


def test_a_draft_that_may_lie_on_a_gpu_and_one_without_room_stay_fused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "MOST_SCORES_BYTES", 3 * 2048 * 128 * 4 - 1)  # the draft has 3 heads
    assert with_small_keys(DRAFT, USUAL) == USUAL
    monkeypatch.setattr(attention, "MOST_SCORES_BYTES", 3 * 2048 * 128 * 4)
    assert with_small_keys(DRAFT, USUAL) != USUAL
    monkeypatch.setattr("engine.llama.library.supports_gpu", lambda: True)
    assert with_small_keys(DRAFT, USUAL) == USUAL


def test_small_keys_change_what_a_draft_says_a_little_only() -> None:
    """A q8_0 value is within half a step of 1/127 of its block's largest: the likeliest token stays nearly always."""
    ids = np.random.default_rng(0).integers(300, 4000, 400).astype(np.int32)
    rows = []
    for options in (USUAL, with_small_keys(DRAFT, USUAL)):
        draft = open_model(DRAFT, options)
        kept = [draft.sequence.forward(ids[i : i + 50], 50).copy() for i in range(0, len(ids), 50)]
        rows.append(np.concatenate(kept))
        draft.close()
    same = (rows[0].argmax(axis=1) == rows[1].argmax(axis=1)).mean()
    assert not np.array_equal(*rows)
    assert same > 0.9


def test_answers_are_the_targets_own_whatever_the_drafts_keys_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = []
    for mode, key_type in ((Mode.OFF, CacheType.Q8_0), (Mode.DRAFT, CacheType.Q8_0), (Mode.DRAFT, None)):
        monkeypatch.setattr(attention, "SHORT_HEAD", 32 if key_type else 0)
        session = Session(cost_folder=tmp_path)
        ready = session.load(LoadRequest(PATH, DRAFT, n_ctx=1024))
        assert ready.draft is not None
        assert ready.draft.key_type is key_type
        question = (Message("user", "Tell me a story about a fox."),)
        request = ChatRequest(question, mode, 4, SamplingParams(temperature=0.0), max_tokens=64)
        ended = [event for event in session.generate(request) if isinstance(event, Finished)]
        assert mode is Mode.OFF or ended[0].stats.accepted > 10
        answers.append(ended[0].token_ids)
        session.close()
    assert len(answers[0]) > 10
    assert answers[0] == answers[1] == answers[2]
