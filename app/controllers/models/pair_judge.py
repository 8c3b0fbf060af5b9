"""Judges pairs for the Models panel (match, fit, speed) by file headers from the hub or the disk.

Calls block. The verdicts come from `app.core.hub.pairs.assessment`.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from app.controllers.models.hub_service import HubService
from app.controllers.models.views import fit_view
from app.core.domain.devices import device_names
from app.core.domain.models import (
    Drafting,
    DraftList,
    Gpu,
    Hardware,
    ModelRef,
    PairSide,
    PairView,
    Presence,
    VocabularyMatch,
)
from app.core.domain.settings.values import Settings
from app.core.domain.speed.speed_forecast import SpeedForecast
from app.core.hub.file_names import quantization_of
from app.core.hub.pairs.assessment import LoadPlan, assess_pair, free_memory_at, pair_plan
from app.core.hub.pairs.catalog import CatalogPair
from app.core.hub.pairs.device_list import DeviceList
from app.core.hub.pairs.draft_finder import BELONGS, DraftSearch, find_drafts
from app.core.hub.pairs.speed_forecasts import Conditions, SpeedForecasts
from app.core.hub.remote_header import KnownModel, read_local_header, read_remote_header
from app.core.load_requests import asked_placement
from engine.drafters.translation.comparison import vocabulary_sentence
from engine.errors import DeviceError, EngineError
from engine.fit.table import FreeMemory, experts_to_leave, fit_table
from engine.gguf.head_files import has_next_token_layers, head_method
from engine.gguf.model_kind import check_writes_text
from engine.gguf.title import model_title
from engine.llama.library import physical_cores
from engine.loading.devices import split_over
from engine.records import Device, FitLevel, Placement
from engine.sandbox.probe import PairVerdict
from ui.text.formatting import parameters
from ui.text.language import Translator
from ui.text.problem_words import in_language

tr = Translator("HubPairs")

log = logging.getLogger(__name__)

ShouldStop = Callable[[], bool]
ReportDrafts = Callable[[DraftList], None]
DEFAULT_N_CTX = 8192
ALL_LAYERS = 10_000  # number of GPU layers for "all": more than any model has
MAX_HEADERS = 8  # limit of the header cache; one header has up to 20 MB
DIFFERENT_VOCABULARY = tr.mark("The vocabularies differ.")
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
        speed_forecasts: SpeedForecasts,
    ) -> None:
        self.service = service
        self._settings = settings
        self._speed_forecasts = speed_forecasts
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
        free_memory = self.free_memory()
        plan = self.plan_for(first, second, free_memory)
        proof = assess_pair(first, second, plan, free_memory, should_stop)
        match, words, used = VocabularyMatch.UNCHECKED, "", second
        if proof.match is not None:
            yes = VocabularyMatch.YES if proof.match.coverage is None else VocabularyMatch.TRANSLATED
            match = yes if proof.match.matches else VocabularyMatch.NO
            words = verdict_words(proof.match, is_head=_is_head(second))
            if match is VocabularyMatch.NO:  # only the target is usable: judge its memory alone
                used, proof = None, replace(assess_pair(first, None, plan, free_memory), match=proof.match)
        coverage = proof.match.coverage if proof.match is not None else None
        speed_forecast = self._speed_forecast(first, used, plan, 1.0 if coverage is None else coverage)
        return PairView(
            target=self.side(target, first),
            draft=self.side(draft, second) if draft else None,
            match=match,
            match_words=words,
            fit=fit_view(proof.fit, proof.pair),
            speed_forecast=speed_forecast,
            drafting=_drafting(first, second),
        )

    def _speed_forecast(
        self, target: KnownModel, draft: KnownModel | None, plan: LoadPlan, coverage: float
    ) -> SpeedForecast | None:
        return self._speed_forecasts.of_pair(target, draft, replace(self._conditions(plan), coverage=coverage))

    def _conditions(self, plan: LoadPlan) -> Conditions:
        settings = self._settings()
        threads, draft_threads = settings.integer("threads"), settings.integer("draft_threads")
        return Conditions(plan, threads, draft_threads, settings.number("temperature"))

    def listed_speed_forecast(self, pair: CatalogPair) -> SpeedForecast | None:
        """Expected speed of a recommended pair, by the sizes in the list; None if unknown."""
        fits_gpu = sum(gpu.free_bytes or 0 for gpu in self._devices.gpus()) > pair.target.size_bytes
        plan = replace(self.plan(), gpu_layers=int(fits_gpu), draft_gpu_layers=int(fits_gpu))
        draft = pair.draft if pair.drafting is Drafting.DRAFT_MODEL else None
        return self._speed_forecasts.of_list(pair.target, draft, self._conditions(plan))

    def draft_here(self, target: ModelRef, should_stop: ShouldStop) -> PairView | None:
        """The most promising local draft for a target; None if no draft would make it faster.

        Reading a vocabulary takes seconds, so drafts that would not pay by their size are skipped first.

        Raises:
            ModelFileError: the target's header cannot be used, or the job was cancelled.
        """
        known = self.known(target, should_stop)
        for draft in self._promising_drafts(known, should_stop):
            view = self.judge(target, draft, should_stop)
            fits = view.fit is None or view.fit.level is not FitLevel.TOO_LARGE
            is_worth_using = view.speed_forecast is not None and view.speed_forecast.is_draft_worth_using
            if is_worth_using and fits and view.match is not VocabularyMatch.NO:
                return view
        return None

    def _promising_drafts(self, target: KnownModel, should_stop: ShouldStop) -> list[ModelRef]:
        """Drafts that would pay if they shared all of the target's tokens, best first."""
        if target.path is None:
            return []
        found, room, own = [], self.free_memory(), target.path.resolve()
        for model in self.service.library.models_near(target.path):
            if model.missing or model.path.resolve() == own:
                continue
            ref = ModelRef(path=str(model.path))
            try:
                draft = self.known(ref, should_stop, may_be_head=True)
            except EngineError as error:
                log.info("%s is no draft: %s", model.name, error.message)
                continue
            speed_forecast = self._speed_forecast(target, draft, self.plan_for(target, draft, room), 1.0)
            if speed_forecast is not None and speed_forecast.is_draft_worth_using:
                found.append((speed_forecast.score, ref))
        return [ref for _score, ref in sorted(found, key=lambda each: each[0], reverse=True)]

    def drafts(
        self, target: ModelRef, catalog: Sequence[CatalogPair], report: ReportDrafts, should_stop: ShouldStop
    ) -> DraftList:
        """Search disk, list and hub for drafts; ``report`` receives intermediate results on this thread.

        Raises:
            HubError, ModelFileError: the target's header cannot be used, or the job was stopped.
        """
        known = self.known(target, should_stop)
        side = self.side(target, known)
        report(DraftList(side, busy=True))
        library = self.service.library
        models = library.models_near(known.path) if known.path is not None else library.models()

        def found(search: DraftSearch, *, busy: bool = True) -> DraftList:
            return DraftList(side, search.rows, busy, in_language(search.words))

        search = find_drafts(
            known, models, catalog, self.service.client, should_stop, lambda so_far: report(found(so_far))
        )
        return found(search, busy=False)

    def side(self, ref: ModelRef, known: KnownModel | None = None) -> PairSide:
        """One side of a pair; its name is from the header if known, else from the file."""
        path = self.service.path_of(ref)
        name, facts = ref.name.removesuffix(".gguf"), []
        if known is not None:
            name = model_title(known.header.metadata, known.name, known.header.num_params)
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

    def plan(self) -> LoadPlan:
        """How the settings would load a pair; automatic GPU layers count as all."""
        settings, places = self._settings(), self._devices_of_settings()
        layers, draft_layers = settings.integer("gpu_layers"), settings.integer("draft_gpu_layers")
        chosen = ALL_LAYERS if layers is None else layers
        if draft_layers is None:
            draft_layers = ALL_LAYERS if settings.text("draft_device") else chosen
        placement = asked_placement(settings)
        draft_placement = Placement() if settings.text("draft_device") else placement
        return LoadPlan(
            n_ctx=settings.integer("n_ctx") or DEFAULT_N_CTX,
            cache_type=settings.text("cache_type"),
            draft_cache_type=settings.text("draft_cache_type"),
            gpu_layers=chosen if places.target else 0,
            draft_gpu_layers=draft_layers if places.draft else 0,
            spread=split_over(placement, places.all, places.target),
            draft_spread=split_over(replace(draft_placement, cpu_moe_layers=None), places.all, places.draft),
            parallel=settings.integer("parallel") or 0,
        )

    def _devices_of_settings(self) -> _PairDevices:
        """The devices named in the settings. A missing device is ignored here; loading reports it."""
        settings = self._settings()
        try:
            target = self._devices.find(asked_placement(settings).devices)
            own = device_names(settings.text("draft_device"))
            return _PairDevices(target, self._devices.find(own) if own else target)
        except DeviceError:
            return _PairDevices((), ())

    def plan_for(self, target: KnownModel, draft: KnownModel | None, room: FreeMemory) -> LoadPlan:
        """`plan` with the draft's device and the number of layers whose experts stay in main memory.

        If the device is automatic, a draft runs on the CPU if it was faster there or does not fit on the GPU.
        """
        plan = self._with_draft_placed(target, draft, room)
        settings = self._settings()
        if settings.integer("gpu_layers") is None and settings.integer("cpu_moe_layers") is None:
            plan = replace(plan, cpu_moe_layers=experts_to_leave(pair_plan(target, draft, plan), room))
        return plan

    def _with_draft_placed(self, target: KnownModel, draft: KnownModel | None, room: FreeMemory) -> LoadPlan:
        plan = self.plan()
        if self._settings().text("draft_device"):
            return plan
        if draft is None or not plan.draft_gpu_layers or self._settings().integer("draft_gpu_layers") is not None:
            return plan
        beside = replace(plan, draft_gpu_layers=0)
        if self._settings().integer("gpu_layers") is not None:  # the user's number of layers applies to both
            return plan
        fits, fits_beside = (fit_table(pair_plan(target, draft, one), room).verdict for one in (plan, beside))
        return beside if fits is FitLevel.TOO_LARGE and fits_beside is not FitLevel.TOO_LARGE else plan

    def free_memory(self) -> FreeMemory:
        return free_memory_at(self.service.library.folder, self._devices_of_settings().all)

    def hardware(self) -> Hardware:
        memory = psutil.virtual_memory()
        gpus = tuple(Gpu(gpu.description, gpu.total_bytes, gpu.free_bytes) for gpu in self._devices.gpus())
        disk = free_memory_at(self.service.library.folder).disk_bytes
        return Hardware(physical_cores(), memory.total, memory.available, disk, gpus)


def _is_head(model: KnownModel | None) -> bool:
    return model is not None and bool(head_method(model.header))


def _drafting(target: KnownModel, draft: KnownModel | None) -> Drafting:
    """How the pair drafts, by its headers."""
    if draft is not None:
        return Drafting.SIDE_FILE if _is_head(draft) else Drafting.DRAFT_MODEL
    return Drafting.HEADS_INSIDE if has_next_token_layers(target.header) else Drafting.TEXT
