"""Assesses a pair by its headers, before the download: whether vocabularies match, and the pair fits in memory.

llama.cpp compares the vocabularies, on stub files in a temporary folder. The engine estimates the memory.
"""

import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from app.core.hub.remote_header import KnownModel
from engine.errors import DraftRefusedError
from engine.fit.cache_size import CacheSetup
from engine.fit.estimate import ONE_DEVICE, DeviceSplit
from engine.fit.table import FitTable, FreeMemory, ModelPlan, PairPlan, choose_parallel, fit_table
from engine.gguf.head_files import head_method
from engine.gguf.header import write_stub
from engine.heads.compatibility import check_head_file
from engine.loading.devices import free_memory
from engine.records import Device
from engine.sandbox.probe import PairVerdict, judge_pairs

_UNSAFE = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """How a pair would be loaded: context, cache types, GPU layers, distribution over devices.

    ``cpu_moe_layers``: number of target layers whose experts stay in main memory. ``parallel``: see `LoadRequest`.
    """

    n_ctx: int = 8192
    cache_type: str = "f16"
    draft_cache_type: str = "f16"
    gpu_layers: int = 0
    draft_gpu_layers: int = 0
    spread: DeviceSplit = ONE_DEVICE
    draft_spread: DeviceSplit = ONE_DEVICE
    cpu_moe_layers: int = 0
    parallel: int = 0


@dataclass(frozen=True, slots=True)
class PairAssessment:
    """The verdicts on a pair. ``match``: None without a draft. ``fit``: of ``pair``, with all concurrent answers."""

    match: PairVerdict | None
    fit: FitTable
    pair: PairPlan


def assess_pair(
    target: KnownModel,
    draft: KnownModel | None,
    plan: LoadPlan,
    room: FreeMemory,
    should_stop: Callable[[], bool] = lambda: False,
) -> PairAssessment:
    """Assess a pair, or a target alone.

    Raises:
        ModelFileError: the target's vocabulary cannot be used, or the assessment was cancelled.
    """
    match = check_draft(target, draft, should_stop) if draft else None
    pair = pair_plan(target, draft, plan)
    pair = pair.answering(choose_parallel(pair, room, plan.parallel))
    return PairAssessment(match, fit_table(pair, room), pair)


def check_draft(target: KnownModel, draft: KnownModel, should_stop: Callable[[], bool] = lambda: False) -> PairVerdict:
    """Check a draft model by its vocabulary, or a head (MTP, EAGLE-3) by its header.

    Raises:
        ModelFileError: the target's vocabulary cannot be used, or the check was cancelled.
    """
    if not head_method(draft.header):
        return check_vocabularies(target, [draft], should_stop)[0]
    try:
        check_head_file(target.header, draft.header)
    except DraftRefusedError as error:
        return PairVerdict(False, error.message)
    return PairVerdict(True)


def check_vocabularies(
    target: KnownModel, drafts: Sequence[KnownModel], should_stop: Callable[[], bool] = lambda: False
) -> tuple[PairVerdict, ...]:
    """Check the vocabularies of ``drafts``; returns one verdict per draft, in order.

    Heads in separate files need `check_draft`.

    Raises:
        ModelFileError: the target's vocabulary cannot be used, or the check was cancelled.
    """
    with tempfile.TemporaryDirectory(prefix="paceline-") as name:
        folder = Path(name)
        stubs = []
        for number, model in enumerate((target, *drafts)):
            (folder / str(number)).mkdir()
            # The stub has the model's name as far as possible, since error messages contain it.
            path = folder / str(number) / f"{_UNSAFE.sub('_', model.name)[:80]}.gguf"
            stubs.append(write_stub(model.header, model.read_at, path))
        return judge_pairs(stubs[0], stubs[1:], should_stop)


def pair_plan(target: KnownModel, draft: KnownModel | None, plan: LoadPlan) -> PairPlan:
    """The input of the memory estimate. The context is limited to the target's training context."""
    trained = target.header.arch_value("context_length")
    n_ctx = min(plan.n_ctx, trained) if isinstance(trained, int) and trained > 0 else plan.n_ctx
    setup = CacheSetup(n_ctx, plan.cache_type, plan.cache_type)
    first = _model_plan(target, setup, plan.gpu_layers, plan.spread).with_experts_on_cpu(plan.cpu_moe_layers)
    first = replace(first, side=target.side)
    if draft is None:
        return PairPlan(first)
    setup = CacheSetup(n_ctx, plan.draft_cache_type, plan.draft_cache_type)
    return PairPlan(first, _model_plan(draft, setup, plan.draft_gpu_layers, plan.draft_spread))


def free_memory_at(models_folder: Path, devices: Sequence[Device] = ()) -> FreeMemory:
    """Free main memory, device memory, and disk space at ``models_folder``, which need not exist yet."""
    folder = models_folder.resolve()
    while not folder.exists():
        folder = folder.parent
    return free_memory(devices, psutil.virtual_memory().available, shutil.disk_usage(folder).free)


def _model_plan(model: KnownModel, setup: CacheSetup, gpu_layers: int, spread: DeviceSplit) -> ModelPlan:
    download_bytes = 0 if model.path is not None else model.size_bytes
    return ModelPlan(model.header, setup, gpu_layers, model.weights_bytes, download_bytes, spread)
