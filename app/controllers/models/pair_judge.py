"""Judges pairs for the Models panel (match, fit, measured speed) by file headers from the hub or the disk.

Calls block. The verdicts come from `app.core.hub.pairs.assessment`.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from app.controllers.models.hub_service import HubService
from app.core.domain.devices import device_names
from app.core.domain.model_name import name_of_file
from app.core.domain.models import (
    Drafting,
    FitSummary,
    MemoryPlace,
    ModelRef,
    PairSide,
    PairView,
    Presence,
    VocabularyMatch,
)
from app.core.domain.settings.values import Settings
from app.core.domain.speed.pair_speed import PairSpeed
from app.core.hub.file_names import quantization_of
from app.core.hub.pairs.assessment import check_draft, free_memory_at
from app.core.hub.pairs.device_list import DeviceList
from app.core.hub.remote_header import KnownModel, read_local_header, read_remote_header
from app.core.load_requests import asked_placement
from app.core.storage.pair_speeds import PairSpeeds
from engine.drafters.translation.comparison import vocabulary_sentence
from engine.errors import DeviceError
from engine.fit.cache_size import CacheSetup
from engine.fit.estimate import DeviceSplit
from engine.fit.fit import (
    FreeMemory,
    ModelPlan,
    PairPlan,
    advice,
    choose_parallel,
    experts_to_leave,
    judge,
    memory_fit,
)
from engine.gguf.head_files import has_next_token_layers, head_method
from engine.gguf.model_kind import check_writes_text
from engine.gguf.title import model_title
from engine.loading.devices import split_over
from engine.records import Device, FitLevel, Placement
from engine.sandbox.probe import PairVerdict
from engine.sentences import i18n
from ui.text.formatting import parameters
from ui.text.language import Translator, translate
from ui.text.problem_words import in_language

tr = Translator("HubPairs")

ShouldStop = Callable[[], bool]
DEFAULT_N_CTX = 8192
ALL_LAYERS = 10_000  # number of GPU layers for "all": more than any model has
MAX_HEADERS = 8  # limit of the header cache; one header has up to 20 MB
DIFFERENT_VOCABULARY = tr.mark("The vocabularies differ.")
BELONGS = i18n("By its file header, this head matches the target.")
SAME_VOCABULARY = tr.mark("Both vocabularies have the same tokens and settings.")


def verdict_words(verdict: PairVerdict, *, is_head: bool = False) -> str:
    """A sentence about the vocabularies: why they differ, the translatable share, or that they match."""
    if verdict.coverage is not None:
        return in_language(vocabulary_sentence(verdict.coverage))
    if verdict.reason:
        return in_language(verdict.reason)
    if is_head:
        return in_language(BELONGS)
    return tr(SAME_VOCABULARY if verdict.matches else DIFFERENT_VOCABULARY)


@dataclass(frozen=True, slots=True)
class _PairDevices:
    target: tuple[Device, ...]
    draft: tuple[Device, ...]

    @property
    def all(self) -> tuple[Device, ...]:
        """The devices of both, without duplicates."""
        return tuple({device.name: device for device in (*self.target, *self.draft)}.values())


class PairJudge:
    """Safe to use from several threads."""

    def __init__(
        self,
        service: HubService,
        settings: Callable[[], Settings],
        devices: DeviceList,
        speeds: PairSpeeds,
    ) -> None:
        self.service = service
        self._settings = settings
        self._speeds = speeds
        self._devices = devices
        self._lock = threading.Lock()
        self._known: dict[ModelRef, KnownModel] = {}

    def known(self, ref: ModelRef, should_stop: ShouldStop, *, may_be_head: bool = False) -> KnownModel:
        """The header of a model; cached. ``may_be_head``: also accept a separate head file.

        Raises:
            HubError, ModelFileError: the header cannot be read.
        """
        path = self.service.path_of(ref)
        key = ModelRef(path=path) if path else ref
        with self._lock:
            found = self._known.get(key)
        if found is None:
            if path:
                found = read_local_header(Path(path), may_be_head=True)
            else:
                model = self.service.model(ref)
                client = self.service.client
                found = read_remote_header(client, ref.repo, model, should_stop=should_stop, may_be_head=True)
            with self._lock:
                self._known[key] = found
                if len(self._known) > MAX_HEADERS:
                    del self._known[next(iter(self._known))]
        if not may_be_head:
            check_writes_text(found.header, found.name)
        return found

    def judge(self, target: ModelRef, draft: ModelRef | None, should_stop: ShouldStop) -> PairView:
        """Judge a pair. Without a draft, or with a draft that does not match, only the target's memory is judged.

        Raises:
            HubError, ModelFileError: the target's header cannot be used, or the job was stopped.
        """
        first = self.known(target, should_stop)
        second = self.known(draft, should_stop, may_be_head=True) if draft else None
        match, words, used = VocabularyMatch.UNCHECKED, "", second
        if second is not None:
            verdict = check_draft(first, second, should_stop)
            yes = VocabularyMatch.YES if verdict.coverage is None else VocabularyMatch.TRANSLATED
            match = yes if verdict.matches else VocabularyMatch.NO
            words = verdict_words(verdict, is_head=_is_head(second))
            used = second if verdict.matches else None
        room = self.free_memory()
        return PairView(
            target=self.side(target, first),
            draft=self.side(draft, second) if draft else None,
            match=match,
            match_words=words,
            fit=fit_view(self.plan(first, used, room), room),
            measured=self._measured(first, used),
            drafting=_drafting(first, second),
        )

    def _measured(self, target: KnownModel, draft: KnownModel | None) -> PairSpeed | None:
        if target.path is None or (draft is not None and draft.path is None):
            return None
        return self._speeds.get(name_of_file(target.path), name_of_file(draft.path) if draft and draft.path else "")

    def side(self, ref: ModelRef, known: KnownModel | None = None) -> PairSide:
        """One side of a pair; its name is from the header if known, else from the file."""
        path = self.service.path_of(ref)
        name, facts = ref.name.removesuffix(".gguf"), []
        if known is not None:
            name = model_title(known.header.metadata.get("general.name"), known.name)
            kind = quantization_of(known.path.name if known.path else ref.file)
            facts = [kind, known.header.architecture, parameters(known.header.num_params)]
        facts.append(ref.repo)
        return PairSide(
            ref=ModelRef(ref.repo, ref.file, path),
            name=name,
            detail=" · ".join(fact for fact in facts if fact),
            size_bytes=known.size_bytes if known else None,
            presence=Presence.HERE if path else Presence.ABSENT,
        )

    def plan(self, target: KnownModel, draft: KnownModel | None, room: FreeMemory) -> PairPlan:
        """How the settings would load a pair; automatic GPU layers count as all. The context is limited to the trained.

        If the places are automatic, a draft that does not fit on the GPU runs on the CPU, and experts that do not fit
        stay in main memory.
        """
        settings, devices, placement = self._settings(), self._devices_of_settings(), asked_placement(self._settings())
        layers, draft_layers = settings.integer("gpu_layers"), settings.integer("draft_gpu_layers")
        chosen, has_own_device = ALL_LAYERS if layers is None else layers, bool(settings.text("draft_device"))
        trained, n_ctx = target.header.arch_value("context_length"), settings.integer("n_ctx") or DEFAULT_N_CTX
        n_ctx = min(n_ctx, trained) if isinstance(trained, int) and trained > 0 else n_ctx

        def model_plan(model: KnownModel, cache_type: str, gpu_layers: int, spread: DeviceSplit) -> ModelPlan:
            download_bytes = 0 if model.path is not None else model.size_bytes
            setup = CacheSetup(n_ctx, cache_type, cache_type)
            return ModelPlan(model.header, setup, gpu_layers, model.weights_bytes, download_bytes, spread)

        spread = split_over(placement, devices.all, devices.target)
        first = model_plan(target, settings.text("cache_type"), chosen if devices.target else 0, spread)
        pair = PairPlan(replace(first, side=target.side))
        if draft is not None:
            draft_placement = Placement() if has_own_device else placement
            spread = split_over(replace(draft_placement, cpu_moe_layers=None), devices.all, devices.draft)
            usual = ALL_LAYERS if has_own_device else chosen
            number = (usual if draft_layers is None else draft_layers) if devices.draft else 0
            second = model_plan(draft, settings.text("draft_cache_type"), number, spread)
            pair, beside = replace(pair, draft=second), replace(pair, draft=replace(second, gpu_layers=0))
            if layers is draft_layers is None and not has_own_device and _fits_only(beside, pair, room):
                pair = beside
        if layers is None and settings.integer("cpu_moe_layers") is None:
            pair = replace(pair, target=pair.target.with_experts_on_cpu(experts_to_leave(pair, room)))
        return pair.answering(choose_parallel(pair, room, settings.integer("parallel") or 0))

    def _devices_of_settings(self) -> _PairDevices:
        """The devices named in the settings. A missing device is ignored here; loading reports it."""
        settings = self._settings()
        try:
            target = self._devices.find(asked_placement(settings).devices)
            own = device_names(settings.text("draft_device"))
            return _PairDevices(target, self._devices.find(own) if own else target)
        except DeviceError:
            return _PairDevices((), ())

    def free_memory(self) -> FreeMemory:
        return free_memory_at(self.service.library.folder, self._devices_of_settings().all)


def _fits_only(one: PairPlan, other: PairPlan, room: FreeMemory) -> bool:
    verdicts = [memory_fit(pair, room).verdict for pair in (one, other)]
    return verdicts[1] is FitLevel.TOO_LARGE and verdicts[0] is not FitLevel.TOO_LARGE


def fit_view(pair: PairPlan, room: FreeMemory) -> FitSummary:
    """The verdict on each memory."""
    fit, setup = memory_fit(pair, room), pair.target.setup
    places = [_memory(translate("HubFitViews", "Memory"), fit.needed.main_bytes, room.main_bytes)]
    if len(room.devices) > 1:
        used = zip(fit.needed.devices_bytes, room.devices, strict=False)
        places.extend(_memory(name, taken, free) for taken, (name, free) in used if taken)
    elif room.gpu_bytes:
        places.append(_memory(translate("HubFitViews", "GPU memory"), fit.needed.gpu_bytes, room.gpu_bytes))
    if fit.disk_bytes and room.disk_bytes is not None:
        level = FitLevel.TOO_LARGE if fit.lacks_disk else FitLevel.FITS
        places.append(MemoryPlace(translate("HubFitViews", "Disk"), fit.disk_bytes, room.disk_bytes, level))
    return FitSummary(
        n_ctx=setup.n_ctx,
        parallel=setup.num_answers,
        places=tuple(places),
        level=fit.verdict,
        advice=in_language(advice(pair, room)),
    )


def _memory(label: str, needed: int, free: int) -> MemoryPlace:
    return MemoryPlace(label, needed, free, judge(needed, free))


def _is_head(model: KnownModel | None) -> bool:
    return model is not None and bool(head_method(model.header))


def _drafting(target: KnownModel, draft: KnownModel | None) -> Drafting:
    """How the pair drafts, by its headers."""
    if draft is not None:
        return Drafting.SIDE_FILE if _is_head(draft) else Drafting.DRAFT_MODEL
    return Drafting.HEADS_INSIDE if has_next_token_layers(target.header) else Drafting.TEXT
