"""Rejected tokens are painted above their replacements and never become part of the text."""

from itertools import pairwise

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QTextLayout
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageView
from engine.records import Source, TokenSpan
from tests.ui.conftest import STATS
from ui.markdown.blocks import BlockStream, plan_segments
from ui.markdown.html_writer import formula_address
from ui.theme.theme import Theme
from ui.transcript.cards.prose_view import REJECTED_LINE_HEIGHT, ProseView, rejected_height
from ui.transcript.marks.provenance import SourceRuns, rejected_at
from ui.window.main_window import MainWindow

OBJECT = "\N{OBJECT REPLACEMENT CHARACTER}"
RAW = "The **cat** lay.\n\nIt slept."
SPANS = (
    TokenSpan(4, Source.DRAFT),
    TokenSpan(7, Source.RECOVERED, " dog sat"),
    TokenSpan(7, Source.DRAFT),
    TokenSpan(9, Source.RECOVERED, "He\n"),
)


def test_a_note_stands_where_the_token_is_shown() -> None:
    runs = SourceRuns()
    runs.extend(SPANS)
    stream = BlockStream()
    (segment,) = plan_segments(stream.feed(RAW) + stream.finish())
    shown = "The cat lay.\nIt slept."
    assert rejected_at(shown, segment.source_map, runs.rejections()) == [(4, " dog sat"), (13, "He\n")]


def vermilion(view: ProseView, color: str) -> int:
    image = view.grab().toImage()
    wanted = QColor(color)
    near = 0
    for x in range(image.width()):
        for y in range(image.height()):
            pixel = image.pixelColor(x, y)
            near += abs(pixel.red() - wanted.red()) + abs(pixel.blue() - wanted.blue()) < 40
    return near


def test_the_toggle_shows_them_and_leaves_the_text_alone(window: MainWindow, qtbot: QtBot) -> None:
    window.show_conversation("t", [MessageView(2, "assistant", RAW, stats=STATS, spans=SPANS)])
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    card = window.transcript.last_answer()
    assert card is not None
    view = card.body.segments[0]
    assert isinstance(view, ProseView)
    text, height = view.toPlainText(), view.height()
    assert vermilion(view, window.transcript._theme.tokens.recovered) == 0
    box = window.stats.now.rejected
    window.stats.now.ensureWidgetVisible(box)
    qtbot.mouseClick(box, Qt.MouseButton.LeftButton, pos=box.rect().center() - box.rect().center() / 2)
    assert view.toPlainText() == text
    assert card.text == RAW
    assert view.height() > height
    assert vermilion(view, window.transcript._theme.tokens.recovered) > 20
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_Space)
    assert view.height() == height
    assert vermilion(view, window.transcript._theme.tokens.recovered) == 0


def test_lines_with_low_formulas_stand_as_far_apart_as_lines_of_words(theme: Theme, qtbot: QtBot) -> None:
    view = ProseView(theme)
    qtbot.addWidget(view)
    view.resize(400, 100)
    view.show()
    view.set_rejected([(0, "lake")])
    words = "and more words " * 12
    view.set_html(f'<p>{words}</p><p>A sum <img src="{formula_address("$x^2 + y_2$")}"/> of {words}</p>')
    view.set_rejected([(0, "lake")])
    qtbot.waitUntil(lambda: OBJECT in view.toPlainText(), timeout=30_000)
    view.set_rejected([(1, "lake")])
    plain, formula = view.document().begin(), view.document().begin().next()

    def steps(layout: QTextLayout) -> list[float]:
        bases = [layout.lineAt(number).y() + layout.lineAt(number).ascent() for number in range(layout.lineCount())]
        return [round(below - above) for above, below in pairwise(bases)]

    assert steps(formula.layout())[0] <= steps(plain.layout())[0] + 1


@pytest.mark.parametrize("formula", ["$x$", "$\\frac{a}{b}$", "$\\frac{\\frac{a}{b}}{\\frac{c}{d}}$"])
@pytest.mark.parametrize("before", ["", "<p>Before.</p>"])
def test_a_line_with_a_formula_leaves_room_for_them(theme: Theme, qtbot: QtBot, formula: str, before: str) -> None:
    view = ProseView(theme)
    qtbot.addWidget(view)
    view.resize(400, 100)
    view.show()
    view.set_html(
        before
        + "<p>A chance of "
        + f'<img src="{formula_address(formula)}"/>'
        + " or so "
        + "and more words " * 12
        + "</p>"
    )
    qtbot.waitUntil(lambda: OBJECT in view.toPlainText(), timeout=30_000)
    start = view.toPlainText().index("A chance")
    view.set_rejected([(start, "lake")])
    block = view.document().findBlock(start)
    layout = block.layout()
    tops = [layout.lineAt(number).y() for number in range(layout.lineCount())]
    bottoms = [tops[number] + layout.lineAt(number).height() for number in range(layout.lineCount())]
    room = rejected_height(theme)
    origin = view.document().documentLayout().blockBoundingRect(block).top()
    assert origin + tops[0] >= room
    plain = theme.type.answer * REJECTED_LINE_HEIGHT - layout.lineAt(1).height()  # space above a plain line
    assert tops[0] <= max(room, plain) + 2  # and not much more
    assert len(tops) > 1
    # A formula lower than a line may extend below it; words never overlap the space of the notes.
    assert all(below - above >= room for above, below in zip(bottoms, tops[1:], strict=False))
    view.set_rejected([])
    assert view.document().findBlock(start).layout().lineAt(0).y() < room
