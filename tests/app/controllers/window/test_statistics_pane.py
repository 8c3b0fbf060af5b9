"""Answers are counted by model names; the pane shows totals, exports them and resets them."""

import sqlite3
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.core.domain.sums import PairSums
from app.core.storage.chats import answer_records, totals
from app.core.storage.pair_speeds import PairSpeeds
from engine.records import Finished, FinishReason, Mode, RunStats, Source
from tests.app.fakes import AppHarness
from ui.statistics.panel import ALL

PATIENCE_MS = 30_000
RUN = RunStats(
    mode=Mode.DRAFT, tokens=30, passes=10, proposed=30, accepted=20, decode_s=1.0, plain_ms=50.0,
    provenance={Source.DRAFT: 20, Source.TARGET: 10},
)  # fmt: skip


def answer(harness: AppHarness, qtbot: QtBot, run: RunStats = RUN, text: str = "A question") -> None:
    num_before = len(harness.window.finished)
    harness.window.composer.submitted.emit(text)
    harness.engine.say("An answer.")
    harness.engine.tell(Finished(harness.engine.requests[-1].request_id, FinishReason.LENGTH, run))
    qtbot.waitUntil(lambda: len(harness.window.finished) == num_before + 1, timeout=PATIENCE_MS)


def rows(harness: AppHarness) -> tuple[PairSums, ...]:
    return harness.store.read(totals.read_totals)


def test_an_answer_counts_for_its_models_and_mode(harness: AppHarness, qtbot: QtBot) -> None:
    answer(harness, qtbot)
    answer(harness, qtbot, replace(RUN, mode=Mode.OFF, tokens=10))
    assert [(row.target, row.draft, row.mode, row.sums.stats.tokens) for row in rows(harness)] == [
        ("target", "draft", "draft", 30),
        ("target", "", "off", 10),
    ]
    chat = harness.controller.state.chat_id
    assert chat is not None
    answers = harness.store.read(lambda db: answer_records.answers_of_chat(db, chat))
    assert [(each.target, each.draft) for each in answers] == [("target", "draft"), ("target", "")]


def test_the_last_answers_of_a_pair_are_kept_with_how_fast_they_were(harness: AppHarness, qtbot: QtBot) -> None:
    long = replace(RUN, tokens=75, passes=40, proposed=60, accepted=35, decode_s=2.5, provenance={Source.DRAFT: 35})
    answer(harness, qtbot, long)
    answer(harness, qtbot, replace(long, mode=Mode.OFF))  # nothing to compare with
    answer(harness, qtbot, replace(long, mode=Mode.AUTO, decode_s=5.0, plain_ms=None))
    answer(harness, qtbot, replace(long, mode=Mode.NGRAM))
    answer(harness, qtbot, replace(long, looped=60))  # its drafts were too easy to be representative
    answer(harness, qtbot, replace(long, mode=Mode.AUTO, provenance={Source.NGRAM: long.accepted}))  # not by the draft
    harness.store.read(lambda _db: None)  # waits for earlier writes
    speeds = PairSpeeds(harness.paths.pair_speeds_file)
    assert [(each.mode, each.speedup) for each in speeds.get("target", "draft").answers] == [
        ("draft", 1.5),
        ("auto", None),
    ]
    assert [each.mode for each in speeds.get("target", "").answers] == ["ngram", "auto"]
    harness.controller.statistics.reset()
    harness.store.read(lambda _db: None)
    assert speeds.all() == ()


def test_an_answer_that_goes_on_counts_its_tokens_once(harness: AppHarness, qtbot: QtBot) -> None:
    answer(harness, qtbot)
    before = harness.messages()[-1]
    harness.window.transcript.continue_requested.emit(before.id)
    harness.engine.say(" More.")
    harness.engine.tell(Finished(harness.engine.requests[-1].request_id, FinishReason.END, replace(RUN, tokens=5)))
    qtbot.waitUntil(lambda: len(harness.window.finished) == 2, timeout=PATIENCE_MS)
    (row,) = rows(harness)
    assert (row.sums.num_answers, row.sums.stats.tokens) == (1, 35)
    stats = harness.messages()[-1].stats
    assert stats is not None
    assert stats.tokens == 35


def test_the_pane_shows_all_time(harness: AppHarness, qtbot: QtBot) -> None:
    panel = harness.window.stats
    answer(harness, qtbot)
    harness.window.sidebar.new_chat.emit()
    answer(harness, qtbot, replace(RUN, tokens=10), "Another question")
    qtbot.mouseClick(panel.switch.buttons[ALL], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.all.answers.value == "2", timeout=PATIENCE_MS)
    assert panel.all.lines["tokens"].value == "40"
    answer(harness, qtbot)
    qtbot.waitUntil(lambda: panel.all.lines["tokens"].value == "70", timeout=PATIENCE_MS)


def test_a_reset_leaves_the_chats_alone(harness: AppHarness, qtbot: QtBot) -> None:
    panel = harness.window.stats
    answer(harness, qtbot)
    panel.show_page(ALL)
    qtbot.waitUntil(lambda: panel.all.answers.value == "1", timeout=PATIENCE_MS)
    qtbot.mouseClick(panel.reset_button, Qt.MouseButton.LeftButton)
    (action,) = [each for each in harness.window.findChildren(QPushButton) if each.text() == "Reset"]
    qtbot.mouseClick(action, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.all.answers.value == "-", timeout=PATIENCE_MS)
    assert rows(harness) == ()
    assert harness.messages()[-1].stats is not None


def test_a_reset_that_the_disk_refuses_is_reported(
    harness: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_db: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    answer(harness, qtbot)
    monkeypatch.setattr("app.controllers.window.statistics_pane.reset_totals", refuse)
    harness.window.stats.reset_requested.emit()
    qtbot.waitUntil(lambda: bool(harness.window.problems), timeout=PATIENCE_MS)
    assert harness.window.problems[-1].title == "The chats could not be saved"
    assert len(rows(harness)) == 1
