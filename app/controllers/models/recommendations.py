"""Recommended pairs: judged at first by size, and by headers from the hub when one is opened.

Calls block. The catalog itself is `app.core.hub.pairs.catalog`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from app.controllers.models.hub_service import guess_fit, leaves_room
from app.controllers.models.pair_judge import PairJudge, ShouldStop
from app.core.domain.errors import AppError
from app.core.domain.models import (
    CatalogRow,
    Drafting,
    ModelRef,
    PairSide,
    PairView,
    Presence,
    RepoModel,
    Suitability,
    VocabularyMatch,
)
from app.core.hub.downloads.part_file import RESERVE_BYTES
from app.core.hub.errors import HubError
from app.core.hub.pairs.catalog import CatalogError, CatalogModel, CatalogPair, EntryCheck, check, read_catalog
from engine.errors import EngineError
from engine.fit.fit import FreeMemory
from engine.records import FitLevel
from engine.sentences import i18n
from ui.text.language import Translator, mark, translate
from ui.text.problem_words import in_language, in_words
from ui.text.setting_words import sentence

tr = Translator("Recommendations")

NOT_CHECKED = mark("HubRecommendations", "Not checked against the hub yet.")
READING_SPEED = 8.0  # tokens a second
SURELY_FAST, FAST = 10.0, 2 * READING_SPEED  # the estimate may be a quarter too high
_EXPERTS_IN_NAME = re.compile(r"(\d+(?:\.\d+)?)B[-_]A(\d+(?:\.\d+)?)B", re.IGNORECASE)


class BrokenCatalogError(AppError):
    title = "The recommendations cannot be shown"
    default_advice = "Reinstall Paceline; searching the hub works without them."


class Recommendations:
    """Safe to use from several threads."""

    def __init__(self, file: Path, judge: PairJudge, read_speed: Callable[[], float | None]) -> None:
        """``read_speed``: bytes of memory a second that the processor reads; None if unknown."""
        self._file, self._judge, self._read_speed = file, judge, read_speed

    def rows(self) -> tuple[CatalogRow, ...]:
        """All pairs, judged by their listed sizes.

        Raises:
            BrokenCatalogError: the list cannot be read.
        """
        free = self._judge.free_memory()
        return tuple(self._row(pair, free) for pair in self.pairs())

    def open(self, key: str, should_stop: ShouldStop) -> CatalogRow:
        """Query the hub for a pair and judge it by its headers.

        Raises:
            BrokenCatalogError: the list cannot be read.
        """
        pair = next(one for one in self.pairs() if one.key == key)
        checked = check(pair, self._judge.service.client)
        found = in_language(checked.sentence)
        row = replace(self._row(pair, self._judge.free_memory()), checked=found)
        if checked.target is None and not row.pair.is_here:
            unknown = not checked.is_answered
            words = found if unknown else tr("It is no longer available as listed here.")
            view = replace(row.pair, match_words=words, can_have=unknown)
            return replace(row, pair=view, checked="" if unknown else found)
        try:
            view = self._judge.judge(*_refs(pair, checked), should_stop)
        except (HubError, EngineError) as error:
            view = replace(row.pair, match_words=f"{in_words(error.problem).title}: {in_words(error.problem).message}")
            return replace(row, pair=view)
        return replace(row, fit=view.fit.level if view.fit else row.fit, pair=view)

    def pairs(self) -> Sequence[CatalogPair]:
        """The list of pairs that the app contains.

        Raises:
            BrokenCatalogError: the list cannot be read.
        """
        try:
            return read_catalog(self._file)
        except CatalogError as error:
            raise BrokenCatalogError(i18n("{error}.", error=error)) from error

    def _row(self, pair: CatalogPair, free: FreeMemory) -> CatalogRow:
        licence = pair.target.licence
        if pair.draft is not None and pair.draft.licence != licence:
            licence = tr("{first} and {second}").format(first=licence, second=pair.draft.licence)
        view = PairView(
            self._side(pair.target),
            self._side(pair.draft, is_head=pair.drafting is Drafting.SIDE_FILE) if pair.draft else None,
            VocabularyMatch.UNCHECKED,
            translate("HubRecommendations", NOT_CHECKED),
            drafting=pair.drafting,
        )
        is_on_gpu = free.gpu_bytes > pair.target.size_bytes  # its speed is unknown, but far above the processor's
        speed = None if is_on_gpu else self._tokens_per_s(pair.target)
        fit = _fit(view, pair.size_bytes, free)
        suits = Suitability.NOT if fit is not FitLevel.FITS else Suitability.POORLY
        if suits and leaves_room(pair.size_bytes, free.main_bytes + free.gpu_bytes):
            felt = FAST if is_on_gpu else (speed or 0.0) / (2 if pair.thinks else 1)
            suits = Suitability.FAST if felt >= FAST else Suitability.WELL if felt >= SURELY_FAST else suits
        return CatalogRow(
            key=pair.key,
            name=pair.name,
            good_for=sentence(translate("Catalog", pair.good_for)),
            pair=view,
            licence=licence,
            checked="" if pair.verified else translate("HubRecommendations", NOT_CHECKED),
            fit=fit,
            suits=suits,
            tokens_per_s=speed,
            thinks=pair.thinks,
        )

    def _tokens_per_s(self, target: CatalogModel) -> float | None:
        """The speed at which memory delivers the weights of a pass; ``30B-A3B`` in a name tells the experts' share."""
        speed, experts = self._read_speed(), _EXPERTS_IN_NAME.search(target.repo)
        share = float(experts[2]) / float(experts[1]) if experts else 1.0
        return speed / (share * target.size_bytes) if speed else None

    def _side(self, model: CatalogModel, *, is_head: bool = False) -> PairSide:
        ref = ModelRef(model.repo, model.file)
        path = self._judge.service.path_of(ref)
        return PairSide(
            ref=ModelRef(model.repo, model.file, path),
            # A head may be in its target's repository, so the file's name is used.
            name=model.file.removesuffix(".gguf") if is_head else model.repo.partition("/")[2].removesuffix("-GGUF"),
            detail=f"{model.quantization} · {model.repo}",
            size_bytes=model.size_bytes,
            presence=Presence.HERE if path else Presence.ABSENT,
        )


def _fit(pair: PairView, weights_bytes: int, free: FreeMemory) -> FitLevel:
    """The fit by listed sizes: weights in memory, download on the disk."""
    missing = pair.missing_bytes
    if missing and free.disk_bytes is not None and missing + RESERVE_BYTES > free.disk_bytes:
        return FitLevel.TOO_LARGE
    return guess_fit(weights_bytes, free.main_bytes + free.gpu_bytes)


def _refs(pair: CatalogPair, checked: EntryCheck) -> tuple[ModelRef, ModelRef | None]:
    def ref(listed: CatalogModel, found: RepoModel | None) -> ModelRef:
        return ModelRef(listed.repo, found.files[0].path if found else listed.file)

    return ref(pair.target, checked.target), ref(pair.draft, checked.draft) if pair.draft else None
