"""Measures start, list and search with thousands of conversations, in a folder of its own.

``python packaging/measure/conversations.py [--chats 5000] [--messages 100000] [--home DIR] [--json OUT]``

The store is filled with invented words whose frequencies fall as those of real text do, so that common and rare
words and beginnings of words occur. The window is opened without a display and with an engine that answers nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtTest import QTest  # noqa: E402
from PySide6.QtWidgets import QApplication  # noqa: E402

from app.controllers.controller import Controller  # noqa: E402
from app.controllers.reports import ThreadReports  # noqa: E402
from app.core.domain.conversations import SearchHit  # noqa: E402
from app.core.domain.settings.table import FIELDS  # noqa: E402
from app.core.paths import assets_dir, find_paths  # noqa: E402
from app.core.storage.chats.index import rebuild  # noqa: E402
from app.core.storage.chats.opening import StoreLocation  # noqa: E402
from app.core.storage.chats.store import ChatStore  # noqa: E402
from app.startup.assembly import assemble  # noqa: E402
from engine.records import EngineReady, LoadRequest, ModelInfo  # noqa: E402
from engine.requests import OnEvent, Request  # noqa: E402
from engine.session.worker import EngineWorker  # noqa: E402
from ui.window.main_window import MainWindow  # noqa: E402

NUM_WORDS = 30_000
SYLLABLES = "ba con de er fi gra hu in ka lo mi no pre qua ri sta te un"
NUM_TYPED = 40  # words of the vocabulary, common and rare, typed beside these
TYPED = ("the conversation", "spain", "unter", "prelo mi", "a", "zzz", "stagra conde", "kaka")
LONGEST_WAIT_S = 30.0
N_CTX = 4096


class IdleWorker(EngineWorker):
    """An engine whose models are there at once, and that computes nothing: what it is asked for, nobody takes."""

    def __init__(self, on_event: OnEvent) -> None:
        super().__init__(on_event, _no_session)
        self._report = on_event

    def start(self) -> None:
        """Start no thread."""

    def submit(self, request: Request, _on_event: OnEvent | None = None) -> None:
        """Say that the target is there."""
        if isinstance(request, LoadRequest):
            target = ModelInfo(request.target, "idle", "none", 0, 0, 0, N_CTX, 0, 1, 0, "none")
            self._report(EngineReady(target, request_id=request.request_id))


def _no_session() -> NoReturn:
    raise NotImplementedError


def words(rng: random.Random) -> list[str]:
    """Invented words, the most frequent first."""
    found = ["the", "a", "of", "and", "to", "conversation", "spain"]
    seen = set(found)
    while len(found) < NUM_WORDS:
        word = "".join(rng.choices(SYLLABLES.split(), k=rng.randint(1, 5)))
        if word not in seen:
            seen.add(word)
            found.append(word)
    return found


def marked_up(chosen: list[str]) -> str:
    """Words as an answer writes them: bold and code here and there, a list, a table, a link, a block of code."""
    for at in range(0, len(chosen), 7):
        chosen[at] = (f"**{chosen[at]}**", f"`{chosen[at]}`", f"[{chosen[at]}](https://example.org/{at})")[at % 3]
    text = " ".join(chosen[:20])
    for at in range(20, len(chosen), 20):
        line = " ".join(chosen[at : at + 20])
        text += (f"\n- {line}", f"\n\n## {line}", f"\n| {line} |\n|---|", f"\n```python\n{line}\n```")[at // 20 % 4]
    return text


def fill(place: StoreLocation, num_chats: int, num_messages: int) -> None:
    """Make a store of this size by plain statements: a hundred thousand acknowledged turns would take an hour."""
    store = ChatStore(place, lambda _trouble: None)
    problem = store.open()
    if problem is not None:
        raise SystemExit(problem.message)
    rng = random.Random(20261120)  # noqa: S311 (invented words, no secret)
    vocabulary = words(rng)
    weights = [1 / (rank + 3) for rank in range(len(vocabulary))]
    each = num_messages // num_chats

    def job(db: sqlite3.Connection) -> None:
        now_us = int(time.time() * 1e6)
        for chat in range(1, num_chats + 1):
            at_us = now_us - (num_chats - chat) * 3_600_000_000
            title = " ".join(rng.choices(vocabulary, weights, k=5))
            db.execute(
                "INSERT INTO conversations (id, title, created_at, updated_at, mode, shown_root) "
                "VALUES (?, ?, ?, ?, 'off', ?)",
                (chat, title, at_us, at_us, chat * 10_000),
            )
            values = []
            for number in range(each):
                chosen = rng.choices(vocabulary, weights, k=rng.choice((12, 40, 150)))
                first = chat * 10_000
                role = "assistant" if number % 2 else "user"
                text = marked_up(chosen) if number % 2 else " ".join(chosen)
                parent = first + number - 1 if number else None
                values.append((first + number, chat, number, role, text, at_us, parent, first + number + 1))
            db.executemany(
                "INSERT INTO messages (id, conversation_id, position, role, text, state, created_at, parent_id, "
                "shown_child) VALUES (?, ?, ?, ?, ?, 'complete', ?, ?, ?)",
                values,
            )
        rebuild(db)

    store.write(job)
    store.close()


def measure_start() -> tuple[float, MainWindow, Controller]:
    """Seconds from nothing to a shown window with its list and the last conversation."""
    started = time.perf_counter()
    window = MainWindow(assets_dir(), FIELDS)
    controller = assemble(window, find_paths(), ThreadReports(), IdleWorker)
    window.models.leave()  # not a first run
    window.show()
    QApplication.processEvents()
    return time.perf_counter() - started, window, controller


def measure_search(window: MainWindow) -> dict[str, float]:
    """Milliseconds from a key to its results on the screen, for every key of several words."""
    found: list[float] = []
    shown: list[Sequence[SearchHit]] = []
    sidebar = window.sidebar
    show = sidebar.show_results

    def show_and_note(hits: Sequence[SearchHit]) -> None:
        show(hits)
        shown.append(hits)

    sidebar.show_results = show_and_note  # type: ignore[method-assign]
    rng = random.Random(1)  # noqa: S311 (invented words, no secret)
    for typed in (*TYPED, *rng.sample(words(random.Random(20261120))[:5_000], NUM_TYPED)):  # noqa: S311
        sidebar.search.clear()
        for character in typed:
            shown.clear()
            started = time.perf_counter()
            QTest.keyClicks(sidebar.search, character)
            while not shown and time.perf_counter() - started < LONGEST_WAIT_S:
                QApplication.processEvents()
            sidebar.results.viewport().repaint()
            found.append((time.perf_counter() - started) * 1000)
    return {
        "keys": len(found),
        "median_ms": round(statistics.median(found), 1),
        "p95_ms": round(sorted(found)[int(len(found) * 0.95)], 1),
        "p99_ms": round(sorted(found)[int(len(found) * 0.99)], 1),
        "longest_ms": round(max(found), 1),
    }


def measure_list(controller: Controller, times: int = 20) -> float:
    """Milliseconds to rename a conversation, read the whole list again and show it."""
    conversations = controller.conversations
    gaps = []
    for number in range(times):
        started = time.perf_counter()
        conversations.rename(1 + number, f"Renamed {number}")
        QApplication.processEvents()
        gaps.append((time.perf_counter() - started) * 1000)
    return round(statistics.median(gaps), 1)


def main() -> None:
    """Fill where needed, measure, tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chats", type=int, default=5_000)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--home", help="a folder to fill and to keep; default: one that goes afterwards")
    parser.add_argument("--json", metavar="OUT")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PACELINE_HOME"] = options.home or folder
        paths = find_paths()
        if not paths.chats_file.exists():
            fill(StoreLocation(paths.chats_file, paths.backups), options.chats, options.messages)
        application = QApplication([])
        cold_s, window, controller = measure_start()
        result = {
            "chats": options.chats,
            "messages": options.messages,
            "file_mb": round(paths.chats_file.stat().st_size / 1e6, 1),
            "start_s": round(cold_s, 3),
            "list_ms": measure_list(controller),
            "search": measure_search(window),
        }
        window.close()
        application.processEvents()
    text = json.dumps(result, indent=1)
    sys.stdout.write(text + "\n")
    if options.json:
        Path(options.json).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
