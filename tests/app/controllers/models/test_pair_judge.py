"""Tests the verdicts on a pair, and for rejected pairs the memory of the target alone."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from app.controllers.models import pair_judge as hub_pairs
from app.controllers.models.pair_judge import PairJudge
from app.core.domain.models import Drafting, ModelRef, PairView, VocabularyMatch
from app.core.domain.settings.values import Settings
from app.core.hub.pairs.device_list import DeviceList
from app.core.hub.pairs.speed_forecasts import SpeedForecasts
from app.core.paths import builtin_draft, builtin_target
from engine.errors import ModelFileError
from engine.loading.devices import free_memory
from engine.records import Device
from tests.app.core.hub.pairs.test_speed_forecasts import keep_passes
from tests.engine.gguf_factory import GgufFile, Kind, tiny_llama
from tests.engine.heads.head_factory import eagle3_for, qwen35_with_mtp, stripped

NO_DEVICES = cast("DeviceList", SimpleNamespace(gpus=tuple, find=lambda _names: ()))


def judged(folder: Path, draft: Path | None) -> PairView:
    service = SimpleNamespace(path_of=lambda ref: ref.path, library=SimpleNamespace(folder=folder))
    for model, plain_ms in ((builtin_target(), 4.0), (builtin_draft(), 0.2)):
        keep_passes(folder / "cache", model, plain_ms)
    judge = PairJudge(service, Settings, NO_DEVICES, SpeedForecasts(folder / "cache"))  # type: ignore[arg-type]
    target = ModelRef(path=str(builtin_target()))
    return judge.judge(target, ModelRef(path=str(draft)) if draft else None, lambda: False)


def test_a_refused_pair_tells_what_the_target_takes_alone(tmp_path: Path) -> None:
    mute = tiny_llama(n_ff=32).with_metadata(tokenizer__chat_template=(Kind.STRING, "{{ messages[-1].content }}"))
    refused = judged(tmp_path, mute.write(tmp_path / "other.gguf"))
    alone, pair = judged(tmp_path, None), judged(tmp_path, builtin_draft())
    assert (refused.match, alone.match, pair.match) == (
        VocabularyMatch.NO,
        VocabularyMatch.UNCHECKED,
        VocabularyMatch.YES,
    )
    assert refused.draft is not None
    assert refused.match_words
    assert refused.fit is not None
    assert alone.fit is not None
    assert pair.fit is not None
    assert refused.fit.parts == alone.fit.parts
    assert all(part.draft_bytes is None for part in refused.fit.parts)
    assert any(part.draft_bytes for part in pair.fit.parts)
    assert all(
        view.speed_forecast is not None and "tokens per second" in view.speed_forecast.headline
        for view in (refused, alone, pair)
    )


def test_a_draft_with_another_vocabulary_tells_how_much_it_speaks(tmp_path: Path) -> None:
    pair = judged(tmp_path, tiny_llama(n_ff=32).write(tmp_path / "other.gguf"))
    assert pair.match is VocabularyMatch.TRANSLATED
    assert pair.match_words.startswith("Its vocabulary differs and has ")
    assert pair.match_words.endswith("% of the target's tokens.")
    assert pair.fit is not None
    assert any(part.draft_bytes for part in pair.fit.parts)


MIB = 2**20


@pytest.mark.parametrize(
    ("settings", "gpu_mib", "on_gpu"),
    [
        ({}, 1000, True),  # the engine's initial setting
        ({}, 28, False),  # the target fits in GPU memory, both do not
        ({"gpu_layers": 99}, 28, True),  # set by the user, so reported unchanged
        ({"draft_gpu_layers": 99}, 28, True),
        ({"draft_gpu_layers": 0}, 1000, False),
        ({"gpu_layers": 0}, 1000, False),  # in main memory beside its target
    ],
)
def test_a_draft_is_planned_where_it_would_be_opened(
    settings: dict[str, int],
    gpu_mib: int,
    on_gpu: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gpus = (Device("CUDA0", "One", 1000 * MIB, gpu_mib * MIB),)
    devices = cast("DeviceList", SimpleNamespace(gpus=lambda: gpus, find=lambda _names: gpus))
    monkeypatch.setattr(hub_pairs, "free_memory_at", lambda _folder, devices: free_memory(devices, 10**10))
    service = SimpleNamespace(path_of=lambda ref: ref.path, library=SimpleNamespace(folder=tmp_path))
    chosen, problems = Settings().changed(settings)
    assert not problems
    judge = PairJudge(service, lambda: chosen, devices, SpeedForecasts(tmp_path))  # type: ignore[arg-type]
    target, draft = (
        judge.known(ModelRef(path=str(path)), lambda: False) for path in (builtin_target(), builtin_draft())
    )
    assert bool(judge.plan_for(target, draft, judge.free_memory()).draft_gpu_layers) == on_gpu


@pytest.mark.parametrize(
    ("target", "draft", "drafting", "match"),
    [
        (qwen35_with_mtp(), None, Drafting.HEADS_INSIDE, VocabularyMatch.UNCHECKED),
        (stripped(qwen35_with_mtp()), None, Drafting.TEXT, VocabularyMatch.UNCHECKED),
        (tiny_llama(), eagle3_for(), Drafting.SIDE_FILE, VocabularyMatch.YES),
        (tiny_llama(), eagle3_for(width=96), Drafting.SIDE_FILE, VocabularyMatch.NO),
        (tiny_llama(), tiny_llama(n_ff=32), Drafting.DRAFT_MODEL, VocabularyMatch.YES),
    ],
    ids=["heads inside", "heads left out", "a head", "a head of another model", "a draft model"],
)
def test_how_a_target_drafts_is_read_from_the_headers(
    target: GgufFile, draft: GgufFile | None, drafting: Drafting, match: VocabularyMatch, tmp_path: Path
) -> None:
    service = SimpleNamespace(path_of=lambda ref: ref.path, library=SimpleNamespace(folder=tmp_path))
    judge = PairJudge(service, Settings, NO_DEVICES, SpeedForecasts(tmp_path))  # type: ignore[arg-type]
    second = ModelRef(path=str(draft.write(tmp_path / "draft.gguf"))) if draft is not None else None
    view = judge.judge(ModelRef(path=str(target.write(tmp_path / "target.gguf"))), second, lambda: False)
    assert (view.drafting, view.match) == (drafting, match)
    assert view.fit is not None
    if drafting is Drafting.SIDE_FILE and match is VocabularyMatch.YES:
        assert view.match_words == "By its file header, this head matches the target."
        assert any(part.draft_bytes for part in view.fit.parts)


def test_a_head_is_no_target_though_its_header_is_known(tmp_path: Path) -> None:
    service = SimpleNamespace(path_of=lambda ref: ref.path, library=SimpleNamespace(folder=tmp_path))
    judge = PairJudge(service, Settings, NO_DEVICES, SpeedForecasts(tmp_path))  # type: ignore[arg-type]
    head = ModelRef(path=str(eagle3_for().write(tmp_path / "head.gguf")))
    judge.known(head, lambda: False, may_be_head=True)
    with pytest.raises(ModelFileError, match="does not write text"):
        judge.known(head, lambda: False)
