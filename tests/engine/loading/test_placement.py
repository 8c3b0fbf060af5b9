"""Tests cache types, flash attention and draft threads: requested values are used, counted, and exact."""

import logging
import re
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.paths import builtin_draft, builtin_target
from engine.errors import ContextError
from engine.fit.cache_size import CacheSetup
from engine.fit.fit import estimate
from engine.llama.context import ContextParams, LlamaContext
from engine.llama.model import LlamaModel
from engine.loading.loading import LoadOptions, draft_options, load_notices, open_model, target_options
from engine.records import (
    CacheType,
    ChatRequest,
    FlashAttention,
    LoadRequest,
    Message,
    Mode,
    ModelInfo,
    SamplingParams,
)
from engine.session.session import Session
from tests.engine.gguf_factory import tiny_llama

LOG = "engine.llama.library"
MIB = 2**20
QUESTION = (Message("user", "Repeat this list: green river, old stone, quiet lamp."),)


@pytest.mark.parametrize("cache_type", list(CacheType))
@pytest.mark.parametrize("flash", list(FlashAttention))
def test_the_memory_guard_counts_what_llama_cpp_takes(
    caplog: pytest.LogCaptureFixture, cache_type: CacheType, flash: FlashAttention
) -> None:
    caplog.set_level(logging.DEBUG, LOG)
    params = ContextParams(1024, 1, cache_type=cache_type, flash_attention=flash)
    with LlamaModel(builtin_target()) as model, LlamaContext(model, params) as context:
        context.forward([1] * 200, 1)
    shape = CacheSetup(1024, cache_type, cache_type, fused=flash is not FlashAttention.OFF)
    report = estimate([builtin_target()], shape)
    told = {
        name: sum(float(size) for size in re.findall(f"{name} size" + r" += +([\d.]+) MiB", caplog.text))
        for name in ("KV buffer", "compute buffer")
    }
    assert report.cache_bytes / MIB == pytest.approx(told["KV buffer"], abs=0.01)
    assert 0.2 < told["compute buffer"] <= report.compute_bytes / MIB < 2 * told["compute buffer"] + 40


def test_smaller_types_take_less(tmp_path: Path) -> None:
    tiny = tiny_llama().write(tmp_path / "tiny.gguf")
    sizes = [estimate([tiny], CacheSetup(256, kind, kind)).cache_bytes for kind in CacheType]
    assert sizes == [256 * 256, 256 * 136, 256 * 72]


def test_a_type_that_the_model_cannot_have_is_refused_with_the_reason(tmp_path: Path) -> None:
    tiny = tiny_llama().write(tmp_path / "tiny.gguf")  # heads of 16 values do not fill a block of 32
    with pytest.raises(ContextError, match=r"could not be made"):
        open_model(tiny, LoadOptions(256, cache_type=CacheType.Q4_0))


def test_the_draft_goes_where_it_is_asked_to() -> None:
    request = LoadRequest("t", "d", threads=4, gpu_layers=7)
    assert draft_options(request, 512) == LoadOptions(512, None, 7, gives_candidates=True)
    apart = replace(request, draft_threads=2, draft_gpu_layers=0, draft_cache_type=CacheType.Q8_0)
    assert draft_options(apart, 512) == LoadOptions(512, 2, 0, CacheType.Q8_0, gives_candidates=True)


def test_flash_attention_that_cannot_be_off_is_reported() -> None:
    request, info = (
        LoadRequest("t", gpu_layers=0, flash_attention=FlashAttention.OFF),
        ModelInfo("t", "t", "llama", 1, 1, 1, 1, 1, 1, 0, ""),
    )
    assert load_notices(request, info, 3) == ()
    assert load_notices(replace(request, draft_cache_type=CacheType.Q4_0), info, 3) == ()  # there is no draft
    (sentence,) = load_notices(replace(request, draft="d", draft_cache_type=CacheType.Q4_0), info, 3)
    assert "q4_0" in sentence
    assert "Flash attention is on" in sentence


@pytest.mark.parametrize("cache_type", [CacheType.Q8_0, CacheType.Q4_0])
def test_every_mode_gives_the_plain_tokens_of_its_own_cache_type(cache_type: CacheType) -> None:
    session = Session()
    ready = session.load(
        LoadRequest(
            str(builtin_target()),
            str(builtin_draft()),
            1024,
            threads=1,
            cache_type=cache_type,
            draft_cache_type=CacheType.Q8_0,
            draft_threads=1,
        )
    )
    assert ready.target.cache_type is cache_type
    assert ready.draft is not None
    assert ready.draft.cache_type is CacheType.Q8_0
    answers = []
    for mode, depth in ((Mode.OFF, None), (Mode.NGRAM, 3), (Mode.DRAFT, 3)):
        request = ChatRequest(QUESTION, mode, depth, SamplingParams(temperature=0.0), max_tokens=24)
        answers.append(list(session.generate(request))[-1].token_ids)  # type: ignore[union-attr]
    session.close()
    assert answers[0] == answers[1] == answers[2]
    assert answers[0]


@pytest.mark.parametrize("asked", FlashAttention)
def test_attention_is_fused_on_a_processor_whatever_is_asked_for(
    asked: FlashAttention, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = LoadRequest(str(builtin_target()), flash_attention=asked)
    assert target_options(replace(request, gpu_layers=0)).flash_attention is FlashAttention.AUTO
    assert draft_options(replace(request, gpu_layers=0), 512).flash_attention is FlashAttention.AUTO
    monkeypatch.setattr("engine.llama.library.supports_gpu", lambda: True)
    assert target_options(request).flash_attention is asked
