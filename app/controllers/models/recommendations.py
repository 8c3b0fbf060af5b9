"""Recommended pairs: judged at first by size, and by headers from the hub when one is opened.

Calls block. The catalog itself is `app.core.hub.pairs.catalog`.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from app.controllers.models.pair_judge import PairJudge, ShouldStop
from app.controllers.models.views import guess_fit, leaves_room
from app.core.domain.errors import AppError
from app.core.domain.models import (
    NUM_SUGGESTED,
    CatalogRow,
    Drafting,
    Hardware,
    ModelRef,
    PairSide,
    PairView,
    Presence,
    RepoModel,
    VocabularyMatch,
)
from app.core.domain.speed.speed_forecast import SpeedForecast
from app.core.hub.downloads.part_file import RESERVE_BYTES
from app.core.hub.errors import HubError
from app.core.hub.pairs.catalog import (
    CatalogError,
    CatalogModel,
    CatalogPair,
    EntryCheck,
    MachineClass,
    Speedup,
    check,
    read_catalog,
)
from engine.errors import EngineError
from engine.records import FitLevel
from engine.sentences import i18n
from ui.text.formatting import decimal_text
from ui.text.language import Translator, mark, translate
from ui.text.problem_words import in_language, in_words
from ui.text.setting_words import sentence

tr = Translator("Recommendations")

HEAD_UNCHECKED = mark("HubRecommendations", "The gain from its head is shown once the file's header is read.")
NOT_CHECKED = mark("HubRecommendations", "Not checked against the hub yet.")


class BrokenCatalogError(AppError):
    title = "The recommendations cannot be shown"
    default_advice = "Reinstall Paceline; searching the hub works without them."


class Recommendations:
    """Safe to use from several threads."""

    def __init__(self, file: Path, judge: PairJudge) -> None:
        self._file = file
        self._judge = judge

    def rows(self) -> tuple[CatalogRow, ...]:
        """All pairs, judged by their listed sizes.

        Raises:
            BrokenCatalogError: the list cannot be read.
        """
        hardware = self._judge.hardware()
        return tuple(self._row(pair, hardware) for pair in self.pairs())

    def suggested(self) -> tuple[CatalogRow, ...]:
        """Suggest up to three pairs that fit and are fast enough, of different families if possible.

        Ordered by `CatalogRow.preference`. If speeds are unknown, suggest pairs for this kind of machine; if no pair
        is fast enough, suggest the fastest pairs.

        Raises:
            BrokenCatalogError: the list cannot be read.
        """
        hardware = self._judge.hardware()
        usual = {MachineClass.LAPTOP, MachineClass.DESKTOP} if hardware.gpus else {MachineClass.LAPTOP}
        fitting = [
            (pair, row)
            for pair in self.pairs()
            if (row := self._row(pair, hardware)).fit is FitLevel.FITS
            and (row.plain is not None or pair.machine in usual or row.pair.is_here)
        ]
        quick = [found for found in fitting if found[1].plain is None or found[1].plain.is_fast_enough]
        if quick:
            fitting = sorted(quick, key=lambda found: found[1].preference, reverse=True)
        else:
            fitting.sort(key=lambda found: found[0].target.size_bytes)
        chosen: list[tuple[CatalogPair, CatalogRow]] = []
        for found in fitting:
            if all(found[0].family != other.family for other, _row in chosen):
                chosen.append(found)
        chosen += [found for found in fitting if found not in chosen]
        return tuple(row for _pair, row in chosen[:NUM_SUGGESTED])

    def open(self, key: str, should_stop: ShouldStop) -> CatalogRow:
        """Query the hub for a pair and judge it by its headers.

        Raises:
            BrokenCatalogError: the list cannot be read.
        """
        pair = next(one for one in self.pairs() if one.key == key)
        checked = check(pair, self._judge.service.client)
        found = in_language(checked.sentence)
        row = replace(self._row(pair, self._judge.hardware()), checked=found)
        here = row.pair.is_here
        if checked.target is None and not here:
            unknown = not checked.is_answered
            words = found if unknown else tr("It is no longer available as listed here.")
            view = replace(row.pair, match_words=words, can_have=unknown)
            return replace(row, pair=view, checked="" if unknown else found)
        refs = _refs(pair, checked)
        try:
            view = self._judge.judge(*refs, should_stop)
        except (HubError, EngineError) as error:
            view = replace(row.pair, match_words=f"{in_words(error.problem).title}: {in_words(error.problem).message}")
            return replace(row, pair=view)
        level = view.fit.level if view.fit else row.fit
        return replace(row, fit=level, pair=view)

    def pairs(self) -> Sequence[CatalogPair]:
        """The list of pairs that the app contains.

        Raises:
            BrokenCatalogError: the list cannot be read.
        """
        try:
            return read_catalog(self._file)
        except CatalogError as error:
            raise BrokenCatalogError(i18n("{error}.", error=error)) from error

    def _row(self, pair: CatalogPair, hardware: Hardware) -> CatalogRow:
        speedup, licence = pair.speedup, pair.target.licence
        if pair.draft is not None and pair.draft.licence != licence:
            licence = tr("{first} and {second}").format(first=licence, second=pair.draft.licence)
        speed_forecast = self._judge.listed_speed_forecast(pair)
        view = PairView(
            self._side(pair.target),
            self._side(pair.draft, is_head=pair.drafting is Drafting.SIDE_FILE) if pair.draft else None,
            VocabularyMatch.UNCHECKED,
            translate("HubRecommendations", NOT_CHECKED),
            drafting=pair.drafting,
        )
        return CatalogRow(
            key=pair.key,
            name=pair.name,
            good_for=sentence(translate("Catalog", pair.good_for)),
            pair=view,
            licence=licence,
            speedup=_times(speedup) if speedup else "",
            source=speedup.source if speedup else "",
            checked="" if pair.verified else translate("HubRecommendations", NOT_CHECKED),
            fit=_fit(view, pair.size_bytes, hardware),
            plain=speed_forecast.plain if speed_forecast else None,
            expected=_expected(speed_forecast, pair.drafting),
            leaves_room=leaves_room(pair.size_bytes, _free_bytes(hardware)),
            thinks=pair.thinks,
        )

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


def _expected(speed_forecast: SpeedForecast | None, drafting: Drafting) -> str:
    """The expected gain as text. A head's cost is not in the list, so the gain of n-grams is shown."""
    if speed_forecast is None:
        return ""
    words = in_language(speed_forecast.headline)
    if drafting in (Drafting.HEADS_INSIDE, Drafting.SIDE_FILE):
        return f"{words} {translate('HubRecommendations', HEAD_UNCHECKED)}"
    return words


def _fit(pair: PairView, weights_bytes: int, hardware: Hardware) -> FitLevel:
    """The fit by listed sizes: weights in memory, download on the disk."""
    missing, free_disk = pair.missing_bytes, hardware.free_disk_bytes
    if missing and free_disk is not None and missing + RESERVE_BYTES > free_disk:
        return FitLevel.TOO_LARGE
    return guess_fit(weights_bytes, _free_bytes(hardware))


def _free_bytes(hardware: Hardware) -> int:
    return hardware.free_memory_bytes + sum(gpu.free_bytes or 0 for gpu in hardware.gpus)


def _refs(pair: CatalogPair, checked: EntryCheck) -> tuple[ModelRef, ModelRef | None]:
    def ref(listed: CatalogModel, found: RepoModel | None) -> ModelRef:
        return ModelRef(listed.repo, found.files[0].path if found else listed.file)

    return ref(pair.target, checked.target), ref(pair.draft, checked.draft) if pair.draft else None


def _times(speedup: Speedup) -> str:
    low, high = decimal_text(speedup.low), decimal_text(speedup.high)
    if low == high:
        words = tr("{times} times, {measured_on}")
        return words.format(times=low, measured_on=speedup.measured_on)
    words = tr("{low} to {high} times, {measured_on}")
    return words.format(low=low, high=high, measured_on=speedup.measured_on)
