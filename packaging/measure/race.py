"""Measures what taking turns costs the lanes of a race, and what a race costs the window.

    QT_QPA_PLATFORM=offscreen python packaging/measure/race.py --target T.gguf --draft D.gguf [--lanes off,suffix,auto]

First, without a window: the lanes on one loaded model, as a race opens them, answer the same question in slices and,
by turns, one after the other as a whole. Reported is each lane's tokens per second in slices over those alone, with a
95 % interval: 1.000 is a race that costs nothing. Then a race runs in the real window, and the longest turn of the
event loop is told. It wants a machine with nothing else to do. Answers go on past their end, so that all have the same
length.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from PySide6.QtWidgets import QApplication
from window import Heartbeat, wait_for

from app.benchmark.lanes import read_lanes
from app.benchmark.race import Lane, Race, RacePlan
from app.benchmark.runs import Variant
from app.controllers.race.lanes import open_beside
from app.controllers.reports import Reports
from app.domain.engine_view import EngineState
from app.domain.races import LaneChoice, RaceSetup
from app.domain.settings.table import FIELDS
from app.paths import assets_dir, find_paths
from app.startup.assembly import assemble, real_engine
from app.storage.settings_file import read_settings, write_settings
from engine.records import ChatRequest, LoadRequest, Message, Mode, SamplingParams
from engine.session.session import Session
from ui.window.main_window import MainWindow

QUESTION = "Write a Python class for a bank account with deposit, withdraw and a history, then explain each method."
WHOLE_S = 1e9  # a slice in which every answer ends: the lane runs alone
SELDOM_MS = 200  # while a race goes on, as in window.py
Speeds = dict[Variant, float]


def speeds_of(lanes: Sequence[Lane], request: ChatRequest, slice_s: float) -> Speeds:
    """Tokens per second of each lane in one round with slices of this length."""
    race = Race(lanes, request, RacePlan(rounds=1, slice_s=slice_s))
    for _ in race.events():
        pass
    return {run.variant: run.stats.tokens_per_second or 0.0 for run in race.runs}


def compared(
    lanes: Sequence[Lane], request: ChatRequest, slice_s: float, repeat: int
) -> Iterator[dict[Variant, float]]:
    """In slices over alone, each first every other time; without the first pair, which warms up."""
    for number in range(repeat + 1):
        order = (slice_s, WHOLE_S) if number % 2 else (WHOLE_S, slice_s)
        found = {length: speeds_of(lanes, request, length) for length in order}
        in_slices, alone = found[slice_s], found[WHOLE_S]
        told = ", ".join(f"{one.label} {in_slices[one]:.1f} / {alone[one]:.1f} tok/s" for one in in_slices)
        print(f"in slices / alone: {told}", flush=True)
        if number:
            yield {variant: in_slices[variant] / alone[variant] for variant in in_slices}


def measure_slices(options: argparse.Namespace, variants: Sequence[Variant]) -> None:
    """Print the ratio of each lane."""
    request = ChatRequest(
        (Message("user", QUESTION),),
        sampling=SamplingParams(temperature=0.0, seed=0),
        max_tokens=options.tokens,
        ignore_eos=True,
    )
    session = Session()
    session.load(LoadRequest(options.target, options.draft, n_ctx=options.ctx))
    with ExitStack() as stack:
        lanes = [Lane(lane.variant, lane.session) for lane in open_beside(variants, session, request, stack)]
        pairs = list(compared(lanes, request, options.slice, options.repeat))
    session.close()
    random = np.random.default_rng(0)
    for variant in variants:
        ratios = [pair[variant] for pair in pairs]
        medians = np.median(random.choice(ratios, (2000, len(ratios))), axis=1)
        low, high = np.percentile(medians, [2.5, 97.5])
        print(f"{variant.label}: in slices over alone {np.median(ratios):.3f} ({low:.3f} to {high:.3f})")


def measure_window(options: argparse.Namespace, variants: Sequence[Variant]) -> None:
    """Race in the window, and print the longest turn of its event loop and what the lanes gave there."""
    paths = find_paths()
    changes = {"target_path": options.target, "draft_path": options.draft or "", "n_ctx": options.ctx}
    paths.settings_file.parent.mkdir(parents=True, exist_ok=True)
    write_settings(paths.settings_file, read_settings(paths.settings_file).settings.changed(changes)[0])
    window = MainWindow(assets_dir(), FIELDS)
    controller = assemble(window, paths, Reports(), real_engine(paths))
    window.show()
    wait_for(lambda: window.engine_view.state is EngineState.READY)
    window.race.open()
    page = window.race.page
    wait_for(page.isVisible)
    heartbeat, stalls = Heartbeat(), []
    lanes = tuple(LaneChoice(Mode(variant.mode), variant.depth) for variant in variants)
    for _ in range(2):  # the first one makes what the page is made of
        heartbeat.start()
        page.start_requested.emit(RaceSetup(QUESTION, lanes, rounds=2, max_tokens=options.tokens))
        wait_for(lambda: not page.is_racing, SELDOM_MS)
        stalls.append(heartbeat.stop())
    if page.result is not None:
        speeds = (f"{lane.stats.tokens_per_second or 0.0:.1f}" for lane in page.result.lanes)
        print(f"in the window: {', '.join(speeds)} tok/s")
    controller.close()
    print(f"longest turn of the event loop: {stalls[0]:.1f} ms in the first race, {stalls[1]:.1f} ms in the second")


def main() -> None:
    """Read the options and measure in a folder of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", required=True)
    parser.add_argument("--draft")
    parser.add_argument("--lanes", default="off,auto")
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--ctx", type=int, default=2048)
    parser.add_argument("--slice", type=float, default=RacePlan().slice_s, help="seconds")
    parser.add_argument("--repeat", type=int, default=12)
    parser.add_argument("--no-window", action="store_true")
    options = parser.parse_args()
    variants = read_lanes(options.lanes)
    measure_slices(options, variants)
    if not options.no_window:
        with tempfile.TemporaryDirectory() as home:
            os.environ["PACELINE_HOME"] = home
            application = QApplication(["paceline"])
            measure_window(options, variants)
            application.quit()


if __name__ == "__main__":
    main()
