"""Tests the device of a draft beside a target on a GPU: scripted devices, and a step of one real model."""

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from app.core.paths import builtin_draft, builtin_target
from engine.errors import ModelLoadError
from engine.loading.devices import ALL_LAYERS
from engine.loading.loading import LoadedModel, LoadOptions, open_model
from engine.records import Device, LoadRequest, Mode
from engine.session import draft_placement
from engine.session.draft_placement import DraftPlacement, step_ms
from engine.session.session import Session
from engine.storage.cost_store import CostStore
from tests.engine.answers import answer

BY_RULE = LoadOptions(512)
N_LAYER = 4


@dataclass
class Machine:
    """A computer with a GPU and scripted step times; ``room``: number of the draft's layers that fit there."""

    gpu_ms: float = 1.0
    cpu_ms: float = 1.0
    room: int = ALL_LAYERS
    size: int = 1000
    main_memory: bool = True
    opened: list[int | None] = field(default_factory=list)
    closed: list[int] = field(default_factory=list)
    measured: list[float] = field(default_factory=list)

    def open(self, options: LoadOptions) -> LoadedModel:
        self.opened.append(options.gpu_layers)
        if options.gpu_layers == 0 and not self.main_memory:
            raise ModelLoadError("There is no memory.")
        layers = min(self.room, ALL_LAYERS) if options.gpu_layers is None else options.gpu_layers
        fake: Any = SimpleNamespace(
            model=SimpleNamespace(gpu_layers=layers, n_layer=N_LAYER),
            context=SimpleNamespace(threads=2),
            info=SimpleNamespace(size_bytes=self.size),
            can_rollback=True,
            close=lambda: self.closed.append(layers),
        )
        return cast("LoadedModel", fake)

    def step(self, draft: LoadedModel) -> float:
        took = self.gpu_ms if draft.model.gpu_layers else self.cpu_ms
        self.measured.append(took)
        return took


def place(machine: Machine, folder: Path, monkeypatch: pytest.MonkeyPatch, options: LoadOptions = BY_RULE) -> int:
    """The number of GPU layers of a draft that is opened."""
    monkeypatch.setattr(draft_placement, "step_ms", machine.step)
    monkeypatch.setattr(draft_placement, "choose_threads", lambda *_: 2)
    return DraftPlacement(CostStore(folder)).open("draft.gguf", options, machine.open).model.gpu_layers


def test_the_faster_place_is_taken_and_the_other_copy_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = Machine(gpu_ms=1.2, cpu_ms=0.3)
    assert place(quick, tmp_path / "a", monkeypatch) == 0
    assert quick.closed == [ALL_LAYERS]
    slow = Machine(gpu_ms=1.2, cpu_ms=5.0)
    assert place(slow, tmp_path / "b", monkeypatch) == ALL_LAYERS
    assert slow.closed == [0]


@pytest.mark.parametrize(("cpu_ms", "chosen", "asked"), [(0.3, 0, 0), (5.0, ALL_LAYERS, None)])
def test_the_next_start_opens_it_once_and_measures_nothing(
    cpu_ms: float, chosen: int, asked: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place(Machine(gpu_ms=1.2, cpu_ms=cpu_ms), tmp_path, monkeypatch)
    again = Machine(gpu_ms=9.0, cpu_ms=9.0)
    assert place(again, tmp_path, monkeypatch) == chosen
    assert (again.opened, again.measured, again.closed) == ([asked], [], [])


def test_a_load_that_is_cancelled_at_a_kept_place_tries_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place(Machine(gpu_ms=1.2, cpu_ms=0.3), tmp_path, monkeypatch)
    machine = Machine(main_memory=False)
    with pytest.raises(ModelLoadError):
        DraftPlacement(CostStore(tmp_path)).open("draft.gguf", BY_RULE, machine.open, lambda: True)
    assert machine.opened == [0]


@pytest.mark.parametrize(
    "machine",
    [
        Machine(cpu_ms=0.1, room=3),
        Machine(cpu_ms=0.1, size=draft_placement.MAX_TRIED_BYTES + 1),
        Machine(main_memory=False),
    ],
    ids=["short of graphics memory", "large", "short of main memory"],
)
def test_where_memory_is_short_or_the_draft_large_the_rule_holds(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert place(machine, tmp_path, monkeypatch) == min(machine.room, ALL_LAYERS)
    assert machine.measured == machine.closed == []


def test_a_failure_while_measuring_leaves_nothing_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine()
    monkeypatch.setattr(draft_placement, "choose_threads", lambda *_: 2)

    def fails(_draft: LoadedModel) -> float:
        raise ModelLoadError("It failed.")

    monkeypatch.setattr(draft_placement, "step_ms", fails)
    with pytest.raises(ModelLoadError):
        DraftPlacement(CostStore(tmp_path)).open("draft.gguf", BY_RULE, machine.open)
    assert sorted(machine.closed) == [0, ALL_LAYERS]


@pytest.mark.parametrize(
    ("gpu", "target_layers", "asked", "choice"),
    [(True, 9, None, True), (True, 9, 0, False), (True, 9, 99, False), (True, 0, None, False), (False, 0, None, False)],
)
def test_a_draft_beside_a_gpu_target_is_placed_unless_the_user_chose(
    *, gpu: bool, target_layers: int, asked: int | None, choice: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.llama.library.supports_gpu", lambda: gpu)
    target: Any = SimpleNamespace(model=SimpleNamespace(gpu_layers=target_layers))
    request = LoadRequest("t", "d", draft_gpu_layers=asked)
    assert DraftPlacement(CostStore()).has_choice(request, target) is choice


def test_a_session_keeps_the_faster_of_two_copies_and_drafts_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session()
    session.load(LoadRequest(str(builtin_target()), n_ctx=512, threads=1))
    closed: list[bool] = []
    steps = iter([2.0, 1.0])
    monkeypatch.setattr(DraftPlacement, "has_choice", lambda *_: True)
    monkeypatch.setattr(draft_placement, "_is_worth_trying", lambda _draft: True)
    monkeypatch.setattr(draft_placement, "step_ms", lambda _draft: next(steps))
    close = LoadedModel.close
    monkeypatch.setattr(LoadedModel, "close", lambda model: (closed.append(True), close(model))[1])
    ready = session.set_draft(str(builtin_draft()))
    assert ready.draft is not None
    assert closed == [True]
    assert answer(session, Mode.DRAFT, "one two three one two", depth=3).stats.proposed > 0
    session.close()


def test_a_step_of_a_real_draft_is_timed_and_its_cache_left_as_it_was() -> None:
    draft = open_model(builtin_draft(), LoadOptions(256, 1))
    assert 0.0 < step_ms(draft) < 1000.0
    assert draft.sequence.num_past == 0
    draft.close()


@dataclass
class TwoGpus(Machine):
    """A computer with two GPUs that share the target; ``alone_ms`` by name, for a draft on one of them."""

    alone_ms: dict[str, float] = field(default_factory=dict)
    places: list[tuple[int | None, tuple[str, ...]]] = field(default_factory=list)

    def open(self, options: LoadOptions) -> LoadedModel:
        self.places.append((options.gpu_layers, options.placement.devices))
        draft = super().open(options)
        draft.model.placement = options.placement
        return draft

    def step(self, draft: LoadedModel) -> float:
        (name,) = draft.model.placement.devices or ("",)
        took = self.alone_ms.get(name) if draft.model.gpu_layers else self.cpu_ms
        return self.gpu_ms if took is None else took


@pytest.mark.parametrize(
    ("machine", "place_found"),
    [
        (TwoGpus(2.0, 3.0, alone_ms={"CUDA0": 1.0, "CUDA1": 0.5}), (None, ("CUDA1",))),
        (TwoGpus(2.0, 3.0, alone_ms={"CUDA0": 0.4, "CUDA1": 0.5}), (None, ("CUDA0",))),
        (TwoGpus(2.0, 0.1, alone_ms={"CUDA0": 0.4, "CUDA1": 0.5}), (0, ())),
        (TwoGpus(0.3, 3.0, alone_ms={"CUDA0": 0.4, "CUDA1": 0.5}), (None, ())),
    ],
    ids=["the second alone", "the first alone", "the processor", "both, as the target"],
)
def test_with_two_graphics_processors_each_is_tried_alone(
    machine: TwoGpus, place_found: tuple[int | None, tuple[str, ...]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = tuple(Device(f"CUDA{number}", "GPU", None, None) for number in range(2))
    monkeypatch.setattr(draft_placement, "find_gpus", lambda: both)
    place(machine, tmp_path, monkeypatch)
    assert machine.places == [(None, ()), (0, ()), (None, ("CUDA0",)), (None, ("CUDA1",))]
    assert len(machine.closed) == 3
    again = TwoGpus(9.0, 9.0)
    place(again, tmp_path, monkeypatch)
    assert again.places == [place_found]
    known = DraftPlacement(CostStore(tmp_path)).known_best("draft.gguf", BY_RULE)
    assert known is not None
    assert (known.gpu_layers, known.placement.devices) == place_found
