"""Draws the pictures of engines of others with made-up content: the page, a chat that leaves the machine, thinking.

    python packaging/screenshots/engines.py [--out docs/screenshots]

Addresses, models and figures in these pictures are examples.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import content
from files import THEMES, at_each_scale
from parts import ROOT, Pictures, Waiter
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QApplication

from app.domain.engine_view import EngineState, EngineView
from app.domain.engines import EngineFacts, EngineKind, EngineRecord, RemoteModel, remote_name, remote_path
from app.domain.messages import MessageView
from app.domain.models import CatalogRow, ModelRef, PairSide, PairView
from app.hub.pairs.catalog import CatalogModel, CatalogPair, read_catalog
from app.remote.worker import NOT_HERE, model_info
from engine.records import Mode, RunStats, ThinkingOption
from tests.ui import filled_window
from tests.ui.conftest import ASSETS
from ui.text.catalogues import install_language
from ui.window.main_window import MainWindow

SPARK = EngineRecord(
    "https://gpu.example.org:8000",
    EngineFacts(EngineKind.VLLM, "0.32.0", (RemoteModel("Qwen/Qwen3-32B", 40_960),), "spec_decode"),
)
STUDIO = EngineRecord(
    "http://192.168.1.20:1234",
    EngineFacts(
        EngineKind.LM_STUDIO, "", (RemoteModel("openai/gpt-oss-20b", 131_072), RemoteModel("qwen/qwen3-4b", 32_768))
    ),
    allows_plain=True,
)
ANSWER = "Four of the six words have to do with water: **river**, **boat**, **rain** and **sea**."
FIGURES = RunStats(
    mode=Mode.AUTO,
    prompt_tokens=816,
    prompt_cached_tokens=412,
    time_to_first_token_s=0.31,
    tokens=388,
    passes=161,
    proposed=322,
    accepted=227,
    proposed_by_depth=(161, 161),
    accepted_by_depth=(134, 93),
    decode_s=5.9,
    inter_token_ms_p50=12.4,
    inter_token_ms_p95=33.1,
    context_used=1204,
    context_size=40_960,
    decisions=("drafted tokens are counted by vLLM for all its requests together, those of others included",),
)
NAVIGATION_PX = 200  # of the place of the models, at its left
WAYS = (ThinkingOption("on"), ThinkingOption("off"))


def draw(options: argparse.Namespace) -> None:
    """Draw in both themes."""
    application = QApplication(["paceline"])
    install_language(application, ASSETS / "translations", options.language)
    waiter = Waiter(application)
    for theme in THEMES:
        window = filled_window.make_window(waiter)  # type: ignore[arg-type]
        window.set_theme(theme)
        window.resize(1280, 800)
        pictures = Pictures(window, waiter, theme, options)
        path = remote_path(SPARK.url, "Qwen/Qwen3-32B")
        target = model_info(SPARK, SPARK.facts.models[0], path, WAYS)
        window.header.set_engines((SPARK, STUDIO))
        reasons: dict[Mode, str] = {mode: NOT_HERE for mode in Mode if mode is not Mode.OFF}
        window.set_mode(Mode.OFF)
        window.set_engine(EngineView(EngineState.READY, target, unavailable=reasons))
        rows, folders = content.conversations()
        window.set_conversations([replace(row, left_machine=row.id == 1) for row in rows], 1, folders)
        pictures.set_context(replace(content.CONTEXT, size=40_960))
        show_chat(window, waiter)
        pictures.shoot("engines-chat")
        window.composer.thinking.open_menu()
        menu = window.composer.thinking.menu_of_options
        pictures.shoot("engines-thinking", over=(menu,), area=pictures.middle(220))
        menu.close()
        draw_pages(window, pictures, path)
        window.close()


def show_chat(window: MainWindow, waiter: Waiter) -> None:
    """A conversation with an engine's model, and the figures that such an engine tells."""
    name = remote_name(remote_path(SPARK.url, "Qwen/Qwen3-32B"))
    views = [
        MessageView(1, "user", content.QUESTION),
        MessageView(2, "assistant", content.THOUGHT + ANSWER, stats=FIGURES, target=name, thinking_ms=2400),
    ]
    window.show_conversation("Weekend plans", views)
    window.stats.begin()
    passes, tokens = 0, 0
    for step in content.STEPS:
        passes, tokens = passes + 4, tokens + step
        window.stats.show_stats(replace(FIGURES, tokens=tokens, passes=passes, decode_s=passes * 0.0366))
    window.stats.end(FIGURES)
    waiter.waitUntil(lambda: not window.transcript.is_building)
    window.composer.edit.setFocus()


def draw_pages(window: MainWindow, pictures: Pictures, used: str) -> None:
    """The page of engines, with some in the list and one being added; the catalog, and how an entry drafts."""
    place = window.models.panel
    window.models.toggle()
    place.open("engines")
    place.engines.set_engines((SPARK, STUDIO))
    place.engines.set_used(used)
    place.engines.form.address.setText("http://192.168.1.30:8000")
    place.engines.form.key.setText("an example")
    pictures.shoot("engines", area=QRect(NAVIGATION_PX, 0, 860, 480))
    place.open("recommended")
    pairs = [pair for pair in read_catalog(ASSETS / "catalog.toml") if pair.speedup is not None]
    place.recommended.set_rows([catalog_row(pair) for pair in pairs])
    place.recommended.list.choose_first()
    pictures.shoot("models-recommended", area=QRect(0, 0, 1200, 500))


def catalog_row(pair: CatalogPair) -> CatalogRow:
    """An entry of the catalog before the hub and this machine were asked."""

    def side(model: CatalogModel) -> PairSide:
        name = model.repo.partition("/")[2].removesuffix("-GGUF")
        return PairSide(ModelRef(model.repo, model.file), name, model.quantization, model.size_bytes)

    gain = pair.speedup
    return CatalogRow(
        pair.key,
        pair.name,
        f"{pair.good_for[:1].upper()}{pair.good_for[1:]}.",
        PairView(side(pair.target), side(pair.draft) if pair.draft else None, drafting=pair.drafting),
        pair.target.licence,
        f"{gain.low:g} to {gain.high:g} times, {gain.measured_on}" if gain else "",
        gain.source if gain else "",
    )


def main() -> int:
    """Draw everything: a process for each scale."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "screenshots")
    parser.add_argument("--only", nargs="*", help="these parts only")
    parser.add_argument("--language", default="en")
    parser.add_argument("--one-scale", action="store_true", help="that of QT_SCALE_FACTOR")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.one_scale:
        draw(options)
    else:
        at_each_scale(__file__, sys.argv[1:])
    return 0


if __name__ == "__main__":
    sys.exit(main())
