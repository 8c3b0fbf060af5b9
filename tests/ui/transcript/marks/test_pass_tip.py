"""Hovering a marked token shows its pass: every token with its result and probability."""

from types import SimpleNamespace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QTextBrowser, QToolTip
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageView
from engine.records import GREEDY, Mode, PassProbabilities, RunStats, Source, TokenSpan
from ui.transcript.cards import body
from ui.transcript.marks.pass_tip import MAX_ROWS, pass_tip, pass_words
from ui.transcript.marks.provenance import PassView, SourceRuns
from ui.window.main_window import MainWindow

STATS = RunStats(mode=Mode.DRAFT, tokens=5, passes=2)
DRAWN = PassProbabilities(((0.62, 0.71), (0.9149, None), (0.08, 0.55)), 0.34, rejected_chars=(4, 3))
RAW = "The cat lay down."
SPANS = (
    TokenSpan(3, Source.DRAFT),
    TokenSpan(4, Source.NGRAM),
    TokenSpan(4, Source.RECOVERED, " sat on", DRAWN),
    TokenSpan(5, Source.TARGET),
    TokenSpan(1, Source.DRAFT, probabilities=PassProbabilities(((0.5, 0.004), (1.0, 1.0)), 0.7)),
)


def told(view: PassView) -> str:
    """The text of the tip without its markup."""
    document = QTextDocument()
    document.setHtml(pass_tip(view))
    return document.toPlainText()


def passes() -> SourceRuns:
    runs = SourceRuns()
    runs.extend(SPANS)
    return runs


def test_each_token_says_what_became_of_it_and_how_likely_it_was() -> None:
    view = passes().pass_at(RAW, 5)
    assert view == PassView(("The", " cat"), " sat on", " lay", Source.RECOVERED, DRAWN)
    assert view.rejected_texts == (" sat", " on")
    assert [line for line in told(view).splitlines() if line] == [
        "One pass of the target: 2 of 4 proposed tokens accepted.",
        *("The", "accepted", "target 62%", "draft 71%"),
        *("␣cat", "accepted", "target 91%", "from text"),
        *("␣sat", "rejected", "target 8%", "draft 55%"),
        *("␣on", "not checked"),
        *("␣lay", "sampled instead", "target 34%"),
        "Probabilities after temperature, top-k, top-p and min-p.",
    ]
    words = pass_words(view)
    assert "␣cat: accepted, target 91%, from text. ␣sat: rejected, target 8%, draft 55%." in words
    assert "<" not in words


def test_a_pass_in_which_the_answer_ended_tells_what_was_kept() -> None:
    view = passes().pass_at(RAW, 16)
    assert view is not None
    assert "in which the answer ended" in told(view)
    assert ".: accepted, target 50%, draft <1%." in pass_words(view)
    assert "70%" not in told(view)


def test_at_temperature_0_it_says_which_was_the_most_likely() -> None:
    greedy = PassProbabilities(greedy=True, rejected_chars=(4, 3))
    words = pass_words(PassView(("The",), " sat on", " lay", Source.RECOVERED, greedy))
    assert "The: accepted, the most likely." in words
    assert "␣sat: rejected, not the most likely. ␣on: not checked." in words
    assert "␣lay: sampled instead, the most likely." in words
    assert "%" not in words
    bonus = pass_words(PassView(("The",), "", " cat", Source.BONUS, GREEDY))
    assert "1 of 1 proposed" in bonus
    assert "one more, because all were accepted, the most likely" in bonus


def test_what_was_never_noted_is_not_reported() -> None:
    old = told(PassView(("The", " <b>"), " sat\n", " lay", Source.RECOVERED))
    assert "%" not in old
    assert "likely" not in old
    assert "One pass of the target.\n" in old
    assert "␣<b>" in old
    assert "␣sat\N{DOWNWARDS ARROW WITH CORNER LEFTWARDS}" in old
    assert "nothing was proposed" in told(PassView((), "", "y", Source.TARGET))


def test_a_near_tie_that_was_decided_again_is_reported_as_such() -> None:
    words = pass_words(PassView(("The",), "", " cat", Source.TARGET, GREEDY))
    assert "decided again by the target alone" in words
    assert "nothing was proposed" not in words


def test_words_of_the_answer_are_no_marks() -> None:
    tip = pass_tip(PassView(("<b>&",), "<img src=x>", "</td>", Source.RECOVERED))
    assert "&lt;b&gt;&amp;" in tip
    assert "&lt;img src=x&gt;" in tip
    assert "<b>&lt;/td&gt;</b>" in tip


def test_rejected_tokens_are_struck_through_and_said() -> None:
    tip = pass_tip(PassView((), " sat", " lay", Source.RECOVERED))
    assert "<s>␣sat</s>" in tip
    assert "rejected" in tip


def test_a_long_pass_is_cut() -> None:
    probabilities = PassProbabilities(((1.0, None),) * 31, 1.0)
    tip = pass_tip(PassView(("a",) * 31, "", "b", Source.BONUS, probabilities))
    assert tip.count("<tr>") == MAX_ROWS
    assert "and 16 more tokens" in tip


def test_rejected_characters_that_only_together_are_one_are_told_apart() -> None:
    view = PassView(
        (), "é", "x", Source.RECOVERED, PassProbabilities(((0.1, 0.2), (0.0, 0.2)), 0.5, rejected_chars=(0, 1))
    )
    assert "(part of a character): rejected, target 10%, draft 20%. é: rejected, target 0%" in pass_words(view)


# ---- in the window ------------------------------------------------------------------------------------------------


@pytest.fixture
def prose(window: MainWindow, qtbot: QtBot) -> QTextBrowser:
    view = MessageView(2, "assistant", RAW, stats=STATS, spans=SPANS)
    window.show_conversation("Title", [MessageView(1, "user", "ConfirmDialog"), view])
    window.show()
    window.activateWindow()
    card = window.transcript.last_answer()
    assert card is not None
    qtbot.waitUntil(lambda: bool(card.body.segments), timeout=30_000)
    part = card.body.segments[0]
    assert isinstance(part, QTextBrowser)
    qtbot.waitUntil(part.isVisible, timeout=30_000)
    return part


def hover(prose: QTextBrowser, position: int, qtbot: QtBot) -> None:
    """Hover a character."""
    cursor = prose.textCursor()
    cursor.setPosition(position)
    place = prose.cursorRect(cursor).center() + QPoint(3, 0)
    qtbot.mouseMove(prose.viewport(), place - QPoint(1, 0))
    qtbot.mouseMove(prose.viewport(), place)


def test_the_mouse_resting_on_a_marked_token_shows_its_pass(
    window: MainWindow, prose: QTextBrowser, qtbot: QtBot
) -> None:
    QToolTip.hideText()
    qtbot.mouseClick(window.stats.now.sources[Source.DRAFT], Qt.MouseButton.LeftButton)
    hover(prose, 1, qtbot)
    qtbot.waitUntil(lambda: "target 62%" in QToolTip.text(), timeout=30_000)
    hover(prose, 13, qtbot)
    qtbot.waitUntil(lambda: "nothing was proposed" in QToolTip.text(), timeout=30_000)
    assert "%" not in QToolTip.text()


def test_without_marks_the_mouse_shows_nothing(
    window: MainWindow, prose: QTextBrowser, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda _place, text, _view: shown.append(text))
    row = window.stats.now.sources[Source.BONUS]
    qtbot.mouseClick(row, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(row, Qt.MouseButton.LeftButton)
    hover(prose, 1, qtbot)
    qtbot.wait(1200)  # longer than the style's delay of tool tips
    assert shown == []
    qtbot.mouseClick(row, Qt.MouseButton.LeftButton)
    hover(prose, 2, qtbot)
    qtbot.waitUntil(lambda: bool(shown), timeout=30_000)


def test_a_screen_reader_is_told_the_pass(
    window: MainWindow, prose: QTextBrowser, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    reader = SimpleNamespace(isActive=lambda: True, updateAccessibility=lambda event: said.append(event.message()))
    monkeypatch.setattr(body, "QAccessible", reader)
    qtbot.mouseClick(window.stats.now.sources[Source.DRAFT], Qt.MouseButton.LeftButton)
    hover(prose, 1, qtbot)
    qtbot.waitUntil(lambda: bool(said), timeout=30_000)
    assert "The: accepted, target 62%, draft 71%." in said[0]
