"""Runs the tasks of `test_rpc_split` with a llama.cpp that has RPC; the result is JSON on stdout.

python -m tests.engine.loading.rpc_child QUESTION MODEL NAME NAME
"""

from __future__ import annotations

import ctypes
import json
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from app.core.paths import builtin_draft, builtin_target
from engine.errors import EngineError
from engine.fit.cache_size import CacheSetup
from engine.fit.estimate import estimate_memory
from engine.gguf.header import read_header
from engine.llama import library, rpc
from engine.llama.context import GPU_UBATCH, MAX_ROWS, N_BATCH
from engine.llama.devices import find_devices, find_gpus
from engine.llama.placement import NativePlacement
from engine.loading import devices as loading_devices
from engine.loading.devices import ALL_LAYERS, split_over
from engine.loading.loading import LoadOptions, open_model
from engine.records import (
    ChatRequest,
    Finished,
    LoadRequest,
    Message,
    Mode,
    Placement,
    SamplingParams,
    SplitMode,
)
from engine.session.session import Session
from tests.engine.geometries import GEOMETRIES, MIB

_COMPUTE = re.compile(r"RPC\S+ +compute buffer size = +([\d.]+) MiB")
# name, split, layers whose experts stay in main memory, context length
PLANNED: tuple[tuple[str, tuple[float, ...], int | None, int], ...] = (
    ("Llama 3.1 8B", (1.0, 2.0), None, 8192),
    ("Qwen2.5 0.5B", (1.0, 2.0), None, 2048),
    ("Qwen3 30B-A3B", (1.0, 1.0), None, 8192),
    ("Qwen3 30B-A3B", (1.0,), 48, 32768),
    ("Qwen3 30B-A3B", (2.0, 1.0), 20, 8192),
    ("Gemma 3 12B", (1.0, 2.0), None, 8192),
    ("Mixtral 8x7B", (1.0,), None, 4096),
)
QUESTION = "Repeat this list: green river, old stone, quiet lamp, green river, old stone."
NUM_TOKENS = 48


def answers(_model: str, names: tuple[str, ...]) -> dict[str, Any]:
    """Token ids of answers at a fixed depth, computed here and split over the servers."""
    places = {
        "local": Placement(),
        "split": Placement(names),
        "uneven": Placement(names, tensor_split=(1.0, 3.0)),
        "one": Placement(names, SplitMode.NONE, main_device=1),
        "tensors": Placement(names, SplitMode.TENSOR),
    }
    return {name: _answers(place) for name, place in places.items()}


def _answers(placement: Placement) -> dict[str, list[int]]:
    session = Session()
    request = LoadRequest(str(builtin_target()), str(builtin_draft()), 512, 1, draft_threads=1, placement=placement)
    session.load(replace(request, draft_devices=("none",)))
    ids = {}
    for mode, depth in ((Mode.OFF, None), (Mode.DRAFT, 3), (Mode.NGRAM, 4)):
        chat = ChatRequest((Message("user", QUESTION),), mode, depth, SamplingParams(temperature=0.0), NUM_TOKENS)
        (last,) = (event for event in session.generate(chat) if isinstance(event, Finished))
        ids[mode.value] = list(last.token_ids)
    session.close()
    return ids


def memory(model: str, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Memory by device for several placements: llama.cpp's report, and the estimate."""
    header = read_header(Path(model))
    places = (
        (Placement(names), ALL_LAYERS),
        (Placement(names, tensor_split=(1.0, 2.0)), ALL_LAYERS),
        (Placement(names, tensor_split=(2.0, 1.0), cpu_moe_layers=2), ALL_LAYERS),
        (Placement(names[:1], cpu_moe_layers=4), ALL_LAYERS),
        (Placement(names, overrides=((r"blk\.0\.ffn_.*_exps", "RPC1"),)), ALL_LAYERS),
        (Placement(names[1:]), 4),
    )
    told = []
    for placement, layers in places:
        loaded = open_model(model, LoadOptions(1024, 1, layers, placement=placement))
        devices = find_devices(placement.devices)
        estimated = estimate_memory(
            header, CacheSetup(loaded.info.n_ctx), layers, spread=split_over(placement, devices, devices)
        )
        assert loaded.info.memory is not None
        uses = {use.name: asdict(use) for use in loaded.info.memory.devices}
        loaded.close()
        sizes = {device.name: size for device, size in zip(devices, estimated.devices_bytes, strict=True)}
        told.append({"placement": repr(placement), "uses": uses, "estimated": sizes})
    return told


def planned(_model: str, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Compute buffers of well-known models on both servers: llama.cpp's plan and the estimate."""
    told = []
    for geometry, split, experts, n_ctx in PLANNED:
        with tempfile.TemporaryDirectory() as folder:
            path = GEOMETRIES[geometry].write(Path(folder) / "m.gguf")
            header = read_header(path)
            placement = Placement(names[: len(split)], tensor_split=split, cpu_moe_layers=experts)
            lines = _plan(path, placement, n_ctx)
        devices = find_devices(placement.devices)
        compute = sum(float(mib) for line in lines for mib in _COMPUTE.findall(line))
        memory = estimate_memory(header, CacheSetup(n_ctx), ALL_LAYERS, spread=split_over(placement, devices, devices))
        told.append({"geometry": geometry, "compute": compute, "estimated": memory.compute.gpu_bytes / MIB})
    return told


def _plan(path: Path, placement: Placement, n_ctx: int) -> list[str]:
    lib, native = library.start(), NativePlacement(placement)
    params = lib.llama_model_default_params()
    params.n_gpu_layers, params.no_alloc, params.load_mode = ALL_LAYERS, True, 0
    native.write_to(params)
    own = lib.llama_context_default_params()
    own.n_ctx, own.n_batch, own.n_ubatch, own.n_outputs_max, own.swa_full = n_ctx, N_BATCH, GPU_UBATCH, MAX_ROWS, True
    with library.placement_lines() as lines:
        model = lib.llama_model_load_from_file(str(path).encode(), params)
        context = lib.llama_init_from_model(model, own)
        lib.llama_free(ctypes.c_void_p(context))
        lib.llama_model_free(model)
    return lines


def short(model: str, names: tuple[str, ...]) -> dict[str, Any]:
    """A device with too little memory for all experts: the layers in main memory, and the notice."""
    real = find_devices(names[:1])
    wanted = estimate_memory(read_header(Path(model)), CacheSetup(1024), ALL_LAYERS).total.gpu_bytes
    small = tuple(replace(device, free_bytes=round(0.7 * wanted)) for device in real)
    setattr(loading_devices, "find_devices", lambda _names: small)  # noqa: B010
    session = Session()
    ready = session.load(LoadRequest(model, None, 1024, 1, placement=Placement(names[:1])))
    session.close()
    assert ready.target.memory is not None
    return {
        "layers": ready.target.placement.cpu_moe_layers,
        "gpu_layers": ready.target.gpu_layers,
        "notices": [str(notice) for notice in ready.notices],
        "taken": {use.name: use.all_bytes for use in ready.target.memory.devices},
        "free": small[0].free_bytes,
    }


def listed(_model: str, names: tuple[str, ...]) -> dict[str, Any]:
    """The device lists while a model is loaded on the devices and afterwards; none is a GPU of this machine."""
    before = [asdict(device) for device in find_devices(names)]
    loaded = open_model(builtin_target(), LoadOptions(512, 1, placement=Placement(names)))
    while_loaded = [asdict(device) for device in find_devices(names)]
    loaded.close()
    return {"before": before, "while": while_loaded, "gpus": len(find_gpus()), "rpc": rpc.is_supported()}


def rows(_model: str, names: tuple[str, ...]) -> dict[str, Any]:
    """Request a split mode that these devices do not support."""
    open_model(builtin_target(), LoadOptions(512, 1, placement=Placement(names, SplitMode.ROW)))
    return {}


def lost(_model: str, names: tuple[str, ...]) -> dict[str, Any]:
    """Compute after the test has ended the server: this process fails, and the test reads its stderr."""
    loaded = open_model(builtin_target(), LoadOptions(512, 1, placement=Placement(names)))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    loaded.context.forward([1, 2, 3], 1)
    return {}


_QUESTIONS: dict[str, Callable[[str, tuple[str, ...]], Any]] = {
    one.__name__: one for one in (answers, memory, planned, short, listed, rows, lost)
}

if __name__ == "__main__":
    question, path, *servers = sys.argv[1:]
    try:
        answer = _QUESTIONS[question](path, tuple(servers))
    except EngineError as error:
        answer = {"error": error.message}
    sys.stdout.write(json.dumps(answer) + "\n")
