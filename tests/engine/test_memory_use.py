"""Memory as llama.cpp reports it, and the estimate where it does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.paths import builtin_target
from engine.loading import LoadOptions, open_model
from engine.memory_use import estimated_memory, reported_memory
from engine.records import MemoryUse

MIB = 2**20
LINES = [
    "load_tensors:   CPU_Mapped model buffer size =     4.50 MiB",
    "load_tensors:        CUDA0 model buffer size =   100.00 MiB",
    "llama_context:        CPU  output buffer size =     0.50 MiB",
    "llama_kv_cache:        CPU KV buffer size =    12.00 MiB",
    "llama_memory_recurrent:      CUDA0 RS buffer size =     3.00 MiB",
    "sched_reserve:        CPU compute buffer size =     2.00 MiB",
]


def test_the_buffers_of_all_devices_are_added() -> None:
    assert reported_memory(LINES) == MemoryUse(
        weights_bytes=round(104.5 * MIB), cache_bytes=15 * MIB, compute_bytes=round(2.5 * MIB), measured=True
    )


def test_without_the_weights_nothing_is_reported() -> None:
    assert reported_memory(LINES[2:]) is None
    assert reported_memory([]) is None


@pytest.mark.skipif(not builtin_target().exists(), reason="the built-in pair is not in this copy")
def test_a_loaded_model_tells_what_it_takes_and_the_estimate_agrees() -> None:
    loaded = open_model(builtin_target(), LoadOptions(n_ctx=1024, gpu_layers=0))
    try:
        memory = loaded.info.memory
        guess = estimated_memory(loaded.info)
    finally:
        loaded.close()
    assert memory is not None
    assert memory.measured
    assert guess is not None
    assert not guess.measured
    # llama.cpp counts the mapped file whole, and what it laid out anew once more: with AMX that is nearly all of it.
    assert 0.45 * memory.weights_bytes < guess.weights_bytes <= 1.05 * memory.weights_bytes
    assert guess.cache_bytes == pytest.approx(memory.cache_bytes, rel=0.01)
    assert memory.compute_bytes > 0
    assert memory.all_bytes == memory.weights_bytes + memory.cache_bytes + memory.compute_bytes


@pytest.mark.skipif(not builtin_target().exists(), reason="the built-in pair is not in this copy")
def test_a_file_that_went_away_has_no_estimate() -> None:
    loaded = open_model(builtin_target(), LoadOptions(n_ctx=512, gpu_layers=0))
    loaded.close()
    assert estimated_memory(replace(loaded.info, path="gone.gguf")) is None
