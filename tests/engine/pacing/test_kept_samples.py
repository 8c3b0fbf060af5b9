"""What passes of a loaded model took is kept with what they read, for forecasts of other models."""

from __future__ import annotations

import pytest

from app.paths import builtin_draft, builtin_target
from engine.loading.loading import LoadOptions, open_model
from engine.pacing.pair_costs import keep_sample
from engine.storage.pass_samples import SampleStore, size_of

pytestmark = pytest.mark.skipif(not builtin_target().exists(), reason="the built-in models are not here")


def test_a_target_and_a_draft_are_kept_under_their_files() -> None:
    store = SampleStore()
    for path, points, step_ms in ((builtin_target(), {1: 0.4, 8: 1.2}, None), (builtin_draft(), None, 0.15)):
        loaded = open_model(path, LoadOptions(n_ctx=256, threads=1, gpu_layers=0))
        keep_sample(store, loaded, 1, points_ms=points, step_ms=step_ms)
        loaded.close()
    target, draft = store.samples
    assert (target.name, target.size_bytes, target.plain_ms) == (builtin_target().name, size_of(builtin_target()), 0.4)
    assert (draft.name, draft.step_ms, draft.plain_ms) == (builtin_draft().name, 0.15, 0.15)
    assert 0 < draft.weights.num_bytes < target.weights.num_bytes
    assert not target.on_gpu
