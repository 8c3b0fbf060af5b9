"""Forecasts the speed of a pair on this machine from headers and earlier measurements. Calls block.

If there are no measurements, the memory's speed is measured once, which takes a third of a second.
"""

import logging
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.core.domain.model_name import name_of_file
from app.core.domain.speed.pair_speed import PairSpeed
from app.core.domain.speed.speed_forecast import SpeedForecast, SpeedRange
from app.core.hub.pairs.assessment import LoadPlan
from app.core.hub.pairs.catalog import CatalogModel
from app.core.hub.remote_header import KnownModel
from app.core.storage.pair_speeds import PairSpeeds
from engine.forecast import (
    MIN_BYTES,
    PairKind,
    PlacedModel,
    forecast_gain,
    forecast_pass,
    forecast_step,
    measure_read_speed,
    pair_kind,
    threads_scale,
)
from engine.gguf.head_files import BLOCKS, block_shape, has_next_token_layers, head_method
from engine.gguf.token_weights import head_weights, token_weights, weights_by_size
from engine.llama.library import physical_cores
from engine.pacing.measuring import ForeignCpuLoad
from engine.storage.json_store import JsonStore
from engine.storage.pass_samples import SampleStore

log = logging.getLogger(__name__)

_FILE, _FORMAT = "read-speed.json", 1
_SLOWEST, _FASTEST = 1e8, 1e14  # bytes a second


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of a forecast. ``threads`` None: chosen by the app."""

    plan: LoadPlan = field(default_factory=LoadPlan)
    threads: int | None = None
    draft_threads: int | None = None
    temperature: float = 0.8
    coverage: float = 1.0  # share of the target's tokens that the draft's vocabulary has


class SpeedForecasts:
    """Makes forecasts. Thread-safe."""

    def __init__(self, cache: Path, speeds: PairSpeeds | None = None) -> None:
        """``cache``: folder of the engine's measurements. ``speeds``: measured speeds of pairs."""
        self._cache, self._speeds = cache, speeds
        self._lock = threading.Lock()
        self._read_speed: float | None = None

    def of_pair(self, target: KnownModel, draft: KnownModel | None, conditions: Conditions) -> SpeedForecast | None:
        """The forecast for a pair, or for the target alone; None if there is not enough data.

        Without a draft the target's own heads are assumed, if its header describes them completely.
        """
        plan = conditions.plan
        first = _placed_model(target, conditions.threads, plan.cache_type, plan.gpu_layers)
        second, kind = _drafter(target, draft, conditions)
        measured = None
        if self._speeds is not None and target.path is not None and (draft is None or draft.path is not None):
            names = [name_of_file(model.path) if model and model.path else "" for model in (target, draft)]
            measured = self._speeds.get(*names)
        return self._forecast(first, second, kind, conditions, measured)

    def of_list(self, target: CatalogModel, draft: CatalogModel | None, conditions: Conditions) -> SpeedForecast | None:
        """The forecast if only the models' sizes are known; the draft is assumed to be of the target's family."""

        def placed(model: CatalogModel, threads: int | None, gpu_layers: int) -> PlacedModel:
            weights = weights_by_size(model.size_bytes, model.quantization, model.repo)
            return PlacedModel(weights, threads or physical_cores(), bool(gpu_layers))

        first = placed(target, conditions.threads, conditions.plan.gpu_layers)
        second = placed(draft, conditions.draft_threads, conditions.plan.draft_gpu_layers) if draft else None
        return self._forecast(first, second, PairKind.FAMILY, conditions)

    def _forecast(
        self,
        target: PlacedModel,
        draft: PlacedModel | None,
        kind: PairKind,
        conditions: Conditions,
        measured: PairSpeed | None = None,
    ) -> SpeedForecast | None:
        samples = SampleStore(self._cache).samples
        # The speed of the memory says nothing about models in the processor's caches.
        is_large = any(each is not None and each.weights.num_bytes >= MIN_BYTES for each in (target, draft))

        def memory(threads: int) -> float | None:
            found = self._read_bytes_per_s() if is_large else None
            return found / threads_scale(physical_cores(), threads) if found is not None else None

        plain = forecast_pass(samples, target, lambda: memory(target.threads))
        if plain is None:
            return None
        gain = alone = forecast_gain(plain.curve, temperature=conditions.temperature)
        if draft is not None:
            step_ms = forecast_step(samples, draft, lambda: memory(draft.threads))
            if step_ms is None:
                return None
            if draft.block_size > 1:  # a pass of the head has ``block_size`` tokens
                step_ms *= plain.curve.cost_ms(draft.block_size + 1) / plain.plain_ms
            how = (kind, conditions.temperature, conditions.coverage)
            gain = forecast_gain(plain.curve, step_ms, *how, draft.block_size)
        speed, name = SpeedRange(*plain.tokens_per_second), plain.measured_with.removesuffix(".gguf")
        by_head = draft is not None and kind is PairKind.HEAD
        return SpeedForecast(speed, gain, alone, plain.basis, name, conditions.temperature, measured, by_head)

    def _read_bytes_per_s(self) -> float | None:
        """The speed of main memory, measured once per installation and number of cores.

        A measurement that other programs disturbed is only a lower bound, so the next start repeats it.
        """
        cores = physical_cores()
        with self._lock:
            store = JsonStore(self._cache, _FILE, "speeds", _FORMAT, _speed)
            self._read_speed = self._read_speed or store.get(str(cores))
            if self._read_speed is None:
                others = ForeignCpuLoad()
                try:
                    self._read_speed = measure_read_speed(cores)
                except (MemoryError, RuntimeError) as error:
                    log.info("the memory's speed could not be measured: %s", error)
                else:
                    if others.is_low:
                        store.put(str(cores), self._read_speed)
            return self._read_speed


def _speed(entry: object) -> float:
    if isinstance(entry, bool) or not isinstance(entry, int | float) or not _SLOWEST < entry < _FASTEST:
        raise ValueError("this is no speed of a memory")
    return float(entry)


def _placed_model(model: KnownModel, threads: int | None, cache_type: str, gpu_layers: int) -> PlacedModel:
    weights = token_weights(model.header, model.weights_bytes if model.num_parts > 1 else None)
    name = model.path.name if model.path is not None else ""
    return PlacedModel(weights, threads or physical_cores(), bool(gpu_layers), cache_type, name, model.size_bytes)


def _drafter(
    target: KnownModel, draft: KnownModel | None, conditions: Conditions
) -> tuple[PlacedModel | None, PairKind]:
    """The drafter for the target: a draft model, a head in a separate file, or the target's own heads."""
    plan = conditions.plan
    place = (conditions.draft_threads, plan.draft_cache_type, plan.draft_gpu_layers)
    if draft is not None and not head_method(draft.header):
        return _placed_model(draft, *place), pair_kind(target.header, draft.header)
    weights = head_weights(target.header, draft.header if draft is not None else None)
    if weights is None or (draft is None and not has_next_token_layers(target.header)):
        return None, PairKind.OTHER
    if draft is not None:
        block_size = block_shape(draft.header).num_drafted if head_method(draft.header) in BLOCKS else 1
        return replace(_placed_model(draft, *place), weights=weights, block_size=block_size), PairKind.HEAD
    own = _placed_model(target, conditions.threads, plan.cache_type, plan.gpu_layers)
    return replace(own, weights=weights, size_bytes=weights.num_bytes), PairKind.HEAD
