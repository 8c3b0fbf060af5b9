"""Opens Medusa and Hydra heads beside a loaded target; this engine computes them, on the processor."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from engine.gguf.header import read_header
from engine.gguf.model_parts import size_of_files
from engine.heads.loaded import LoadedHead
from engine.heads.medusa.model import MedusaModel
from engine.heads.medusa.weights import MedusaWeights, read_medusa
from engine.heads.tap import LastRows
from engine.llama import library
from engine.llama.head_graph import HeadGraphs
from engine.loading.loading import LoadedModel, LoadOptions
from engine.records import CacheType, MemoryUse, ModelInfo
from engine.sequence import CachedSequence

_BYTES_PER_THREAD = 16 * 2**20  # below so many weights a head, handing work to another thread costs more than it saves


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedMedusa(LoadedHead):
    """Medusa or Hydra heads; ``model`` is the target's."""

    context: HeadGraphs
    weights: MedusaWeights
    tap: LastRows

    def follow(self, *, on: bool) -> None:
        """See `LoadedHead.follow`."""
        self.tap.switch(on=on)

    def beside(self, target: LoadedModel) -> LoadedMedusa:
        """See `LoadedHead.beside`."""
        return _loaded(target, self.weights, self.info, self.context.threads)

    def gave_rows(self, num_tokens: int) -> bool:
        """See `LoadedHead.gave_rows`: those of its last token."""
        row = self.tap.row() if num_tokens == self.tap.num_past else None
        return row is not None and bool(row.any())


def open_medusa(path: Path, target: LoadedModel, options: LoadOptions) -> LoadedMedusa:
    """Open heads whose header fits the target's.

    Raises:
        DraftRefusedError: they belong to another tokenizer, or lack what the target cannot lend.
        ContextError: there is no memory for them.
        ModelFileError: a file cannot be read.
    """
    header = read_header(path)
    weights = read_medusa(path, target.model.path)
    info = replace(
        target.info,
        path=str(path),
        name=str(header.metadata.get("general.name") or path.stem),
        architecture=header.architecture,
        num_params=header.num_params,
        size_bytes=size_of_files(path),
        gpu_layers=0,
        cache_type=CacheType.F16,
        recommended=(),
        head=weights.layout.method,
    )
    largest = max(
        sum(block.weight.data.nbytes for block in one.blocks) + one.output.data.nbytes for one in weights.heads
    )
    threads = min(library.physical_cores(), 1 + largest // _BYTES_PER_THREAD)
    return _loaded(target, weights, info, options.threads or threads)


def _loaded(target: LoadedModel, weights: MedusaWeights, info: ModelInfo, threads: int) -> LoadedMedusa:
    layout, embedding = weights.layout, weights.embedding
    kind = embedding.kind if embedding is not None else "F32"
    graphs = HeadGraphs(weights.heads, layout.width, kind, target.context.n_ctx)
    graphs.set_threads(threads)
    memory = MemoryUse(weights_bytes=graphs.num_bytes, cache_bytes=0, compute_bytes=0, measured=True)
    tap = LastRows(target.context, layout.width)
    return LoadedMedusa(
        model=target.model,
        context=graphs,
        sequence=CachedSequence(MedusaModel(weights, graphs, tap)),
        info=replace(info, memory=memory, n_ctx=graphs.n_ctx, threads=threads),
        can_rollback=True,
        owns_weights=False,
        target=target.sequence,
        is_own=False,
        reach=layout.num_heads,
        weights=weights,
        tap=tap,
    )
