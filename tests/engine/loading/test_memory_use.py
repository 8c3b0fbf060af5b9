"""Tests memory as reported by llama.cpp."""

import pytest

from app.core.paths import builtin_target
from engine.fit.fit import estimate
from engine.loading.loading import LoadOptions, open_model
from engine.loading.memory_use import reported_memory
from engine.records import DeviceUse, MemoryUse

MIB = 2**20
LINES = [
    "load_tensors: layer   0 assigned to device CPU, is_swa = 0",
    "load_tensors: layer   1 assigned to device CUDA0, is_swa = 0",
    "load_tensors: layer   2 assigned to device CUDA0, is_swa = 0",
    "load_tensors:   CPU_Mapped model buffer size =     4.50 MiB",
    "load_tensors:        CUDA0 model buffer size =   100.00 MiB",
    "llama_context:        CPU  output buffer size =     0.50 MiB",
    "llama_kv_cache:        CPU KV buffer size =    12.00 MiB",
    "llama_memory_recurrent:      CUDA0 RS buffer size =     3.00 MiB",
    "sched_reserve:        CPU compute buffer size =     2.00 MiB",
]


def test_the_buffers_of_all_devices_are_added() -> None:
    assert reported_memory(LINES, round(104.5 * MIB)) == MemoryUse(
        weights_bytes=round(104.5 * MIB),
        cache_bytes=15 * MIB,
        compute_bytes=round(2.5 * MIB),
        devices=(
            DeviceUse("CUDA0", 2, 100 * MIB, 3 * MIB, 0),
            DeviceUse("CPU", 1, round(4.5 * MIB), 12 * MIB, round(2.5 * MIB)),
        ),
    )


def test_a_drivers_buffers_in_main_memory_count_for_the_processor() -> None:
    lines = [
        *(f"load_tensors: layer   {number} assigned to device CUDA{number}, is_swa = 0" for number in (1, 12)),
        "load_tensors:        CUDA12 model buffer size =   5.00 MiB",
        "load_tensors:   CUDA1_Private model buffer size =   3.00 MiB",
        "sched_reserve:    CUDA_Host compute buffer size =     2.00 MiB",
    ]
    memory = reported_memory(lines, 8 * MIB)
    assert memory is not None
    told = {one.name: one.all_bytes for one in memory.devices}
    assert told == {"CUDA1": 3 * MIB, "CUDA12": 5 * MIB, "CPU": 2 * MIB}


@pytest.mark.parametrize(
    ("anew_mib", "size_mib", "expected_mib"),
    [
        ("215.59", 215.29, 215.59),  # all but the norms is repacked, and a little larger
        ("180.00", 215.29, 215.29),  # the rest is read from the mapped file
    ],
)
def test_weights_that_are_laid_out_anew_count_once(anew_mib: str, size_mib: float, expected_mib: float) -> None:
    lines = [
        f"load_tensors:          AMX model buffer size =   {anew_mib} MiB",
        "load_tensors:   CPU_Mapped model buffer size =   215.29 MiB",
    ]
    memory = reported_memory(lines, round(size_mib * MIB))
    assert memory is not None
    assert memory.weights_bytes == pytest.approx(expected_mib * MIB, abs=2)


def test_a_file_mapped_for_two_devices_counts_once() -> None:
    lines = [
        "load_tensors:   CPU_Mapped model buffer size =   100.00 MiB",
        "load_tensors:  MTL0_Mapped model buffer size =    99.00 MiB",
    ]
    memory = reported_memory(lines, 100 * MIB)
    assert memory is not None
    assert memory.weights_bytes == 100 * MIB


def test_a_loaded_model_tells_what_it_takes_and_the_estimate_agrees() -> None:
    loaded = open_model(builtin_target(), LoadOptions(n_ctx=1024, gpu_layers=0))
    loaded.close()
    memory, guess = loaded.info.memory, estimate([builtin_target()], 1024)
    assert memory is not None
    # repacked weights may be a little larger than in the file, for example by sums for AMX
    assert guess.weights_bytes == pytest.approx(memory.weights_bytes, rel=0.15)
    assert guess.cache_bytes == pytest.approx(memory.cache_bytes, rel=0.01)
    assert memory.compute_bytes > 0
    assert memory.all_bytes == memory.weights_bytes + memory.cache_bytes + memory.compute_bytes
