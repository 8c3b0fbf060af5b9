"""Times of passes are stored with the bytes that they read, for forecasts of other models."""

from pathlib import Path

import pytest

from app.core.paths import builtin_draft, builtin_target
from engine.gguf.header import read_header
from engine.gguf.model_parts import size_of_files
from engine.gguf.token_weights import head_weights
from engine.heads.loading import open_own_heads
from engine.loading.loading import LoadOptions, open_model
from engine.pacing.pair_costs import keep_sample
from engine.storage.pass_samples import SampleStore
from tests.engine.heads.head_factory import qwen35_with_mtp

HEADS = LoadOptions(n_ctx=256, threads=1, gpu_layers=0, heads=True)
pytestmark = pytest.mark.skipif(not builtin_target().exists(), reason="the built-in models are not here")


def test_a_target_and_a_draft_are_kept_under_their_files() -> None:
    store = SampleStore()
    for path, points, step_ms in ((builtin_target(), {1: 0.4, 8: 1.2}, None), (builtin_draft(), None, 0.15)):
        loaded = open_model(path, LoadOptions(n_ctx=256, threads=1, gpu_layers=0))
        keep_sample(store, loaded, 1, points_ms=points, step_ms=step_ms)
        loaded.close()
    target, draft = store.samples
    assert (target.name, target.size_bytes, target.plain_ms) == (
        builtin_target().name,
        size_of_files(builtin_target()),
        0.4,
    )
    assert (draft.name, draft.step_ms, draft.plain_ms) == (builtin_draft().name, 0.15, 0.15)
    assert 0 < draft.weights.num_bytes < target.weights.num_bytes
    assert not target.on_gpu


def test_a_head_is_kept_with_what_a_token_of_it_reads(tmp_path: Path) -> None:
    target = open_model(qwen35_with_mtp().write(tmp_path / "itself.gguf"), HEADS)
    head = open_own_heads(target, HEADS)
    store, path = SampleStore(), target.model.path
    keep_sample(store, head, 1, step_ms=0.1, target=path)
    keep_sample(store, head, 1, step_ms=0.1)  # nothing follows for an unknown target
    (kept,) = store.samples
    weights = head_weights(read_header(path))
    assert (kept.name, kept.weights, kept.step_ms) == ("itself.gguf", weights, 0.1)
    assert kept.size_bytes != size_of_files(path), "it is not taken for its target"
    head.close()
    target.close()
