"""Tests whether answers are bit-exact, and reasons why not: library, devices, cache and weights."""

from pathlib import Path

import pytest

from app.core.paths import builtin_target
from engine.llama import library
from engine.loading.exactness import why_inexact
from engine.loading.loading import LoadOptions, open_model
from engine.records import CacheType, FlashAttention
from tests.engine.gguf_factory import F16, Kind, tiny_llama

PATH = str(builtin_target())
Q2_K = 10


@pytest.fixture(autouse=True)
def fixture_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "has_every_kernel", lambda: True)
    monkeypatch.setattr(library, "system_info", lambda: "CPU : AVX2 = 1 | AMX_INT8 = 1 | ")


def test_on_a_processor_with_all_kernels_it_is_exact() -> None:
    assert why_inexact(PATH) == ""
    assert why_inexact(PATH, cache_type=CacheType.Q8_0) == ""
    loaded = open_model(PATH, LoadOptions(256, 1, 0))
    loaded.close()
    assert loaded.info.inexact_reason == ""


def test_a_gpu_another_build_and_another_processor_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert why_inexact(PATH, gpu_layers=3).startswith("On a GPU")
    monkeypatch.setattr(library, "system_info", lambda: "CPU : NEON = 1 | MATMUL_INT8 = 1 | ")
    assert "i8mm" in why_inexact(PATH)
    monkeypatch.setattr(library, "has_every_kernel", lambda: False)
    assert "lacks the kernels that Paceline's set-up builds" in why_inexact(PATH)
    loaded = open_model(PATH, LoadOptions(256, 1, 0))
    loaded.close()
    assert loaded.info.inexact_reason == why_inexact(PATH)


@pytest.mark.parametrize("kinds", [(CacheType.Q4_0,), (CacheType.F16, FlashAttention.OFF)])
def test_another_cache_or_attention_is_told(kinds: tuple[object, ...]) -> None:
    assert "With a cache of type" in why_inexact(PATH, 0, *kinds)  # type: ignore[arg-type]


def test_weights_and_heads_that_no_kernel_is_for_are_told(tmp_path: Path) -> None:
    made = tiny_llama(feed_forward_kind=F16)
    assert why_inexact(str(made.write(tmp_path / "f16.gguf"))) == ""
    other = made.with_tensor("blk.0.ffn_up.weight", kind=Q2_K, dims=(256, 24), data=bytes(24 * 84))
    assert "weights of type Q2_K" in why_inexact(str(other.write(tmp_path / "q2_k.gguf")))
    for name in ("key", "value"):
        short = made.with_metadata(**{f"llama__attention__{name}_length": (Kind.UINT32, 24)})
        assert "With attention heads of" in why_inexact(str(short.write(tmp_path / f"{name}.gguf")))
    assert why_inexact(str(tmp_path / "gone.gguf")) == ""
