"""Tests download notices: news is shown once and failures always, in any order of events."""

import threading
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
from pytestqt.qtbot import QtBot

from app.controllers.jobs import JobRunner
from app.controllers.models.library import HubDownloadsController, _arrival_notice
from app.core.domain.errors import AppError
from app.core.domain.models import Download, DownloadStatus, ModelRef
from app.core.paths import find_paths
from engine.records import Problem
from tests.ui.models.records import download

LIMIT_S = 30.0
ONE, TWO = ModelRef("a/one", "one.gguf"), ModelRef("a/two", "two.gguf")


def row(name: str, state: DownloadStatus = DownloadStatus.DONE) -> Download:
    return download(name, name, "a/b", state)


class HubService:
    """A download queue whose state the test sets."""

    def __init__(self) -> None:
        self.rows: tuple[Download, ...] = ()
        self.last_time: tuple[Download, ...] = ()
        self.downloads = SimpleNamespace(start=self._start)
        self.pulls: Callable[[tuple[ModelRef, ...]], None] = lambda _refs: None

    def _start(self) -> None:
        self.rows = (*self.last_time, *self.rows)

    def all_downloads(self) -> tuple[Download, ...]:
        return self.rows

    def pull(self, refs: tuple[ModelRef, ...]) -> None:
        self.pulls(refs)

    def path_of(self, ref: ModelRef) -> str:
        return f"/models/{ref.file}" if any(each.name == ref.file for each in self.rows) else ""


class Bench:
    """The controller with a window that only records; `settle` delivers the results of its jobs."""

    def __init__(self) -> None:
        self.service = HubService()
        self.waiting: list[Callable[[], None]] = []
        self.told: list[Problem] = []
        self.notices: list[str] = []
        self.news: list[str] = []
        self.jobs = JobRunner(self.told.append, self.waiting.append)
        doors = SimpleNamespace(page="", is_open=True, set_downloads=lambda _rows: None, open=lambda _page: None)
        parts: Any = MagicMock(
            window=SimpleNamespace(models=doors, show_notice=self.notices.append), paths=find_paths(), jobs=self.jobs
        )
        service: Any = lambda: self.service  # noqa: E731  (typed as what it stands for)
        self.made = HubDownloadsController(parts, service, MagicMock())
        self.made.arrived.connect(lambda: self.news.append("came"))
        self.made.complete.connect(lambda target, draft: self.news.append(f"chat {target} {draft}".strip()))

    def settle(self, qtbot: QtBot) -> None:
        def is_calm() -> bool:
            while self.waiting:
                self.waiting.pop(0)()
            return not self.jobs._threads and not self.waiting

        qtbot.waitUntil(is_calm)


@pytest.fixture
def bench(qtbot: QtBot) -> Bench:
    return Bench()


def test_a_model_that_came_before_the_first_look_is_reported(bench: Bench, qtbot: QtBot) -> None:
    """A small model is complete before the queue is first queried."""
    bench.made.start()
    bench.settle(qtbot)
    bench.service.rows = (row("one.gguf"),)
    bench.made.show()
    bench.settle(qtbot)
    assert bench.news == ["came"]
    assert ["one.gguf" in notice for notice in bench.notices] == [True]


def test_what_came_last_time_is_no_news(bench: Bench, qtbot: QtBot) -> None:
    bench.service.last_time = (row("old.gguf"),)
    bench.made.show()  # the downloads page, before the stored queue was read
    bench.settle(qtbot)
    bench.made.start()
    bench.settle(qtbot)
    bench.made.show()
    bench.settle(qtbot)
    assert (bench.news, bench.notices) == ([], [])


def test_each_end_is_reported_once(bench: Bench, qtbot: QtBot) -> None:
    bench.made.start()
    bench.settle(qtbot)
    for state in (DownloadStatus.RUNNING, DownloadStatus.VERIFYING, DownloadStatus.DONE, DownloadStatus.DONE):
        bench.service.rows = (row("one.gguf", state),)
        bench.made.show()
        bench.settle(qtbot)
    assert (bench.news, len(bench.notices)) == (["came"], 1)


def test_a_pull_that_fails_is_reported_though_another_was_wanted_meanwhile(bench: Bench, qtbot: QtBot) -> None:
    second = threading.Event()

    def pull(refs: tuple[ModelRef, ...]) -> None:
        if refs == (TWO,):
            second.set()
            return
        assert second.wait(LIMIT_S)
        raise AppError("The hub does not have it.")

    bench.service.pulls = pull
    bench.made.pull((ONE,), then_chat=False)
    bench.made.pull((TWO,), then_chat=False)
    bench.settle(qtbot)
    assert [problem.message for problem in bench.told] == ["The hub does not have it."]


def test_the_chat_begins_when_all_of_it_is_here(bench: Bench, qtbot: QtBot) -> None:
    bench.made.start()
    bench.made.pull((ONE, TWO), then_chat=True)
    bench.settle(qtbot)
    bench.service.rows = (row("one.gguf"),)
    bench.made.show()
    bench.settle(qtbot)
    assert bench.news == ["came"]
    bench.service.rows = (row("one.gguf"), row("two.gguf"))
    bench.made.show()
    bench.settle(qtbot)
    assert bench.news == ["came", "came", "chat /models/one.gguf /models/two.gguf"]


def test_what_has_no_checksum_is_not_said_to_be_checked() -> None:
    hub_row = download("a", "Large", "org/large", DownloadStatus.DONE)
    linked = download("b", "Linked", "", DownloadStatus.DONE)
    linked = replace(linked, request=replace(linked.request, url="https://example.org/x.gguf"))
    assert _arrival_notice([hub_row]) == "Downloaded and checked: Large."
    assert _arrival_notice([linked]) == "Downloaded, but not verified, as there is no checksum: Linked."
    assert _arrival_notice([linked, hub_row]).startswith("Downloaded and checked: Large. Downloaded, but not")
