"""Stores the times of models' passes on this machine, with the bytes that they read, to forecast other models.

`engine.storage.cost_store` stores times for the same model only; its keys are hashes.
"""

import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine.errors import EngineError
from engine.gguf.header import read_header
from engine.gguf.model_parts import size_of_files
from engine.gguf.token_weights import TokenWeights, head_weights, token_weights
from engine.storage.json_store import JsonStore

log = logging.getLogger(__name__)

FILE_NAME = "passes.json"
_FORMAT = 1
_MAX_MS, _MAX_BYTES = 3_600_000.0, 1 << 50


@dataclass(frozen=True, slots=True)
class PassSample:
    """Times of one model in one placement. ``points_ms``: passes by number of tokens, on a nearly empty cache.

    ``name``, the file's name without its folder, and ``size_bytes`` identify a model.
    """

    name: str
    size_bytes: int
    weights: TokenWeights
    threads: int
    on_gpu: bool
    cache_type: str
    points_ms: Mapping[int, float]
    step_ms: float | None = None  # time of a drafted token, if the model was used as a draft

    @property
    def plain_ms(self) -> float:
        """Time of a one-token pass; for a draft, of a drafted token."""
        return self.points_ms.get(1, self.step_ms or 0.0)


class SampleStore(JsonStore[PassSample]):
    """Samples of this machine; without a folder in memory only."""

    max_entries = 24

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder, FILE_NAME, "samples", _FORMAT, _sample, _data)

    @property
    def samples(self) -> tuple[PassSample, ...]:
        """All samples, newest last."""
        return tuple(self.read().values())

    def add(self, sample: PassSample) -> None:
        """Store a sample, replacing an older one; missing parts are taken from the older."""
        key = f"{sample.name} {sample.size_bytes} {sample.threads} {sample.on_gpu} {sample.cache_type}"
        self.put(key, _joined(self.get(key), sample))


def weights_of_file(path: Path) -> TokenWeights | None:
    """The weights that a pass of a model reads; None if its header cannot be read."""
    try:
        header, size = read_header(path), size_of_files(path)
    except (EngineError, OSError) as error:
        log.info("no weights of %s: %s", path.name, error)
        return None
    is_split = header.metadata.get("split.count", 1) not in (0, 1)
    weights = token_weights(header, size - header.data_offset if is_split else None)
    return weights if weights.num_bytes > 0 else None


def weights_of_head(target: Path, head: Path | None) -> TokenWeights | None:
    """The weights that a head reads per drafted token; ``head`` None: the target's own heads. None if unknown."""
    try:
        return head_weights(read_header(target), read_header(head) if head is not None else None)
    except EngineError as error:
        log.info("no weights of the head of %s: %s", target.name, error)
        return None


def _joined(before: PassSample | None, now: PassSample) -> PassSample:
    if before is None:
        return now
    facts = (now.name, now.size_bytes, now.weights, now.threads, now.on_gpu, now.cache_type)
    return PassSample(*facts, now.points_ms or before.points_ms, before.step_ms if now.step_ms is None else now.step_ms)


def _data(sample: PassSample) -> dict[str, Any]:
    data = asdict(sample)
    data["points_ms"] = {str(n): float(f"{ms:.4g}") for n, ms in sample.points_ms.items()}
    return data


def _sample(entry: dict[str, Any]) -> PassSample:
    """Convert an entry of the file; raises an error if it is invalid."""
    weights = entry["weights"]
    read = {str(kind): int(number) for kind, number in weights["bytes_by_kind"].items()}
    points = {int(n): float(ms) for n, ms in entry["points_ms"].items()}
    step = entry["step_ms"]
    sample = PassSample(
        str(entry["name"]), int(entry["size_bytes"]), TokenWeights(read, int(weights["num_layers"])),
        int(entry["threads"]), bool(entry["on_gpu"]), str(entry["cache_type"]), points,
        None if step is None else float(step),
    )  # fmt: skip
    times = [*points.values(), *([] if sample.step_ms is None else [sample.step_ms])]
    good = all(0.0 < ms < _MAX_MS for ms in times) and all(0 < n < 1 << 20 for n in points)
    good = good and 0 < sample.weights.num_bytes < _MAX_BYTES and all(number >= 0 for number in read.values())
    if not (good and sample.plain_ms > 0 and sample.threads > 0 and 0 <= sample.weights.num_layers < 1 << 16):
        raise ValueError("a figure is outside its range")
    return sample
