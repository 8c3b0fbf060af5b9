"""Tests the sources of shown characters, and their marks in answers."""

from itertools import groupby, pairwise

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QTextBrowser
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageState, MessageView
from engine.records import Source, TokenSpan
from tests.ui.conftest import STATS
from tests.ui.markdown.documents import documents
from tests.ui.transcript.marks.shown_marks import shown_marks
from ui.markdown.blocks import BlockStream, plan_segments
from ui.markdown.source_map import SourceMap
from ui.theme.palette import DARK, LIGHT
from ui.transcript.cards.body import AnswerBody
from ui.transcript.cards.prose_view import ProseView
from ui.transcript.marks.marks import UNDERLINES
from ui.transcript.marks.provenance import MarkedRange, PassView, RangeLocator, SourceRuns
from ui.window.main_window import MainWindow

WORDS = st.text(alphabet="abc de\n😀", min_size=1, max_size=5)
SPANS = (TokenSpan(4, Source.DRAFT), TokenSpan(6, Source.RECOVERED), TokenSpan(6, Source.DRAFT))
RAW = "One **two** tree"


def runs(*spans: TokenSpan) -> SourceRuns:
    result = SourceRuns()
    result.extend(spans)
    return result


def plain(text: str) -> SourceMap:
    """The source map of a text that is shown unchanged."""
    return SourceMap(text, range(len(text)))


def located(raw: str, shown: str, *spans: TokenSpan) -> list[MarkedRange]:
    stream = BlockStream()
    (segment,) = plan_segments(stream.feed(raw) + stream.finish())
    return runs(*spans).locate(shown, segment.source_map)


def test_marks_of_formatting_are_skipped() -> None:
    ranges = located(RAW, "One two tree", *SPANS)
    shown = [("One two tree"[item.start : item.start + item.length], item.source) for item in ranges]
    assert shown == [("One ", Source.DRAFT), ("two ", Source.RECOVERED), ("tree", Source.DRAFT)]


def test_positions_are_counted_as_qt_counts() -> None:
    ranges = located("😀x", "😀x", TokenSpan(1, Source.DRAFT), TokenSpan(1, Source.BONUS))
    assert [(r.start, r.length) for r in ranges] == [(0, 2), (2, 1)]


def test_no_range_crosses_a_line() -> None:
    ranges = located("ab\ncd", "ab\ncd", TokenSpan(5, Source.DRAFT))
    assert [(r.start, r.length) for r in ranges] == [(0, 2), (3, 2)]


def test_characters_behind_the_last_span_are_not_marked() -> None:
    assert [(r.start, r.length) for r in located("three", "three", TokenSpan(2, Source.DRAFT))] == [(0, 2)]


def test_a_formula_is_one_character_of_its_own_source() -> None:
    raw = "a $a$ a"
    spans = (TokenSpan(2, Source.DRAFT), TokenSpan(3, Source.BONUS), TokenSpan(2, Source.DRAFT))
    words = [("a", Source.DRAFT), ("\ufffc", Source.BONUS), ("a", Source.DRAFT)]
    for shown in ("a \ufffc a", raw):
        ranges = located(raw, shown, *spans)
        assert [item.source for item in ranges] == [source for _, source in words]
    assert [(item.start, item.length) for item in located(raw, "a \ufffc a", *spans)] == [(0, 2), (2, 1), (4, 1)]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(WORDS, st.sampled_from(Source)), max_size=20))
def test_plain_text_is_located_exactly(pieces: list[tuple[str, Source]]) -> None:
    raw = "".join(text for text, _ in pieces)
    ranges = runs(*(TokenSpan(len(text), source) for text, source in pieces)).locate(raw, plain(raw))
    units = [source for text, source in pieces for char in text for _ in range(len(char.encode("utf-16-le")) // 2)]
    shown = [char for char in raw for _ in range(len(char.encode("utf-16-le")) // 2)]
    marked: list[Source | None] = [None] * len(units)
    for item in ranges:
        marked[item.start : item.start + item.length] = [item.source] * item.length
    solid = [place for place, char in enumerate(shown) if not char.isspace()]
    assert [marked[place] for place in solid] == [units[place] for place in solid]
    assert all(a.start + a.length <= b.start for a, b in pairwise(ranges))


def _marked_words(window: MainWindow) -> dict[str, str]:
    card = window.transcript.last_answer()
    assert card is not None
    prose = card.body.segments[0]
    assert isinstance(prose, QTextBrowser)
    return {item.words.strip(): item.color for item in shown_marks(prose)}


class _OneByOne(RangeLocator):
    """Scans every word separately."""

    def _scan_words(self, *_words: object) -> bool:
        return False


@pytest.mark.usefixtures("qapp")
@settings(deadline=None, max_examples=80, suppress_health_check=list(HealthCheck))
@given(documents(), st.lists(st.tuples(st.integers(1, 9), st.sampled_from(Source)), max_size=60), st.floats(0, 1))
@example("ab cd", [(2, Source.DRAFT), (1, Source.NGRAM), (2, Source.DRAFT)], 0.0)
def test_words_looked_at_together_are_marked_as_one_by_one(
    text: str, pieces: list[tuple[int, Source]], cut: float
) -> None:
    stream, runs = BlockStream(), SourceRuns()
    runs.extend(TokenSpan(length, source) for length, source in pieces)  # may end before or after the text
    for segment in plan_segments(stream.feed(text) + stream.finish()):
        document = QTextDocument()
        document.setHtml(segment.html)
        shown = segment.code if segment.is_code else document.toPlainText()
        grown = RangeLocator(runs)
        grown.locate(shown[: int(cut * len(shown))], segment.source_map)
        wanted = _OneByOne(runs).locate(shown, segment.source_map)
        assert RangeLocator(runs).locate(shown, segment.source_map) == wanted
        assert grown.locate(shown, segment.source_map) == wanted


def test_the_legend_marks_tokens_of_its_source(window: MainWindow, qtbot: QtBot) -> None:
    window.show_conversation("t", [MessageView(1, "assistant", RAW, stats=STATS, spans=SPANS)])
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    assert _marked_words(window) == {}
    qtbot.mouseClick(window.stats.now.sources[Source.RECOVERED], Qt.MouseButton.LeftButton)
    assert _marked_words(window) == {"two": LIGHT.recovered}
    window.set_theme("dark")
    qtbot.waitUntil(lambda: _marked_words(window) == {"two": DARK.recovered})
    qtbot.mouseClick(window.stats.now.sources[Source.RECOVERED], Qt.MouseButton.LeftButton)
    assert _marked_words(window) == {}


def test_a_streaming_answer_is_marked_as_it_grows(window: MainWindow) -> None:
    window.stats.now.sources[Source.DRAFT].click()
    window.begin_answer(MessageView(1, "assistant", "", MessageState.STREAMING))
    place = 0
    for span in SPANS:
        window.transcript.append_text(RAW[place : place + span.num_chars], (span,))
        place += span.num_chars
    assert set(_marked_words(window)) == {"One", "tree"}
    window.finish_answer(MessageView(1, "assistant", RAW, stats=STATS))
    assert set(_marked_words(window)) == {"One", "tree"}


def test_marks_while_growing_equal_marks_at_the_end(window: MainWindow) -> None:
    text = "\n\n".join(f"word{number} `code`" for number in range(30)) + "\n\n```py\nx = 1\n```\n\nend"
    window.stats.now.sources[Source.DRAFT].click()
    window.begin_answer(MessageView(1, "assistant", "", MessageState.STREAMING))
    for number, place in enumerate(range(0, len(text), 3)):
        piece = text[place : place + 3]
        source = Source.DRAFT if number % 2 else Source.BONUS
        window.transcript.append_text(piece, (TokenSpan(len(piece), source),))
    card = window.transcript.last_answer()
    assert card is not None
    window.transcript.finish_answer(MessageView(1, "assistant", text))
    views = [getattr(part, "view", part) for part in card.body.segments]

    def ranges() -> list[list[tuple[int, int]]]:
        return [[(item.start, item.end) for item in shown_marks(view)] for view in views]

    grown = ranges()
    card.body.mark(card.text, card._runs, frozenset({Source.DRAFT}))
    assert grown == ranges()
    assert min(len(part) for part in grown[:3]) > 3


def test_the_end_of_an_answer_marks_only_what_is_not_marked_yet(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "\n\n".join(f"Paragraph {number}.\n\n```py\nx = {number}\n```" for number in range(12)) + "\n\nend"
    spans = tuple(TokenSpan(1, Source.DRAFT) for _ in text)
    window.stats.now.sources[Source.DRAFT].click()
    window.begin_answer(MessageView(1, "assistant", "", MessageState.STREAMING))
    for place in range(0, len(text), 20):
        window.transcript.append_text(text[place : place + 20], spans[place : place + 20])
        card = window.transcript.last_answer()
        assert card is not None
        body = card.body
        qtbot.waitUntil(lambda body=body: not body._join_timer.isActive())  # type: ignore[misc]
    marked = []
    mark_one = AnswerBody._mark_one
    monkeypatch.setattr(AnswerBody, "_mark_one", lambda body, part: (marked.append(part), mark_one(body, part)))
    window.finish_answer(MessageView(1, "assistant", text, spans=spans))
    assert len(marked) < 5 < len(body.segments)
    marked.clear()
    window.begin_answer(MessageView(2, "assistant", "", MessageState.STREAMING))
    window.transcript.append_text(text, spans)
    window.finish_answer(MessageView(2, "assistant", text, spans=(TokenSpan(len(text), Source.BONUS),)))
    assert _marked_words(window) == {}  # the final spans count


def test_marking_leaves_the_text_alone(window: MainWindow, qtbot: QtBot) -> None:
    window.show_conversation("t", [MessageView(1, "assistant", RAW, stats=STATS, spans=SPANS)])
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    card = window.transcript.last_answer()
    assert card is not None
    before = card.body.segments[0].toHtml()  # type: ignore[union-attr]
    for row in window.stats.now.sources.values():
        row.click()
    assert card.body.segments[0].toHtml() == before  # type: ignore[union-attr]
    assert card.text == RAW


def test_each_source_has_an_underline_of_its_own() -> None:
    styles = sorted(style.name for style in UNDERLINES.values())
    assert [len(list(group)) for _, group in groupby(styles)] == [1] * len(Source)


PASSES = (
    TokenSpan(3, Source.DRAFT),
    TokenSpan(3, Source.DRAFT),
    TokenSpan(4, Source.RECOVERED, " sat on"),
    TokenSpan(1, Source.TARGET),
    TokenSpan(4, Source.NGRAM),
)
PASSES_RAW = "The cat lay.The"


def test_the_sources_tell_the_passes_apart() -> None:
    told = runs(*PASSES)
    first = PassView(("The", " ca"), " sat on", "t la", Source.RECOVERED)
    assert [told.pass_at(PASSES_RAW, place) for place in (0, 5, 9)] == [first] * 3
    assert told.pass_at(PASSES_RAW, 10) == PassView((), "", "y", Source.TARGET)
    assert told.pass_at(PASSES_RAW, 12) == PassView((".The",), "", "", Source.NGRAM)
    assert told.pass_at(PASSES_RAW, 99) is None


def test_a_line_of_two_directions_is_marked_letter_by_letter(window: MainWindow, qtbot: QtBot) -> None:
    """Letters that follow each other in the text may be anywhere on the line."""
    text = "abc שלום def!"
    spans = (
        TokenSpan(2, Source.TARGET), TokenSpan(4, Source.DRAFT), TokenSpan(6, Source.NGRAM), TokenSpan(1, Source.BONUS),
    )  # fmt: skip
    window.show_conversation("t", [MessageView(1, "assistant", text, stats=STATS, spans=spans)])
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    window.transcript.mark_sources(frozenset({Source.DRAFT, Source.NGRAM}))
    (view,) = window.transcript.findChildren(ProseView)
    strips = view.marks.strips(view.rect())
    by_source = {source: [box for box, _base, of in strips if of is source] for source in (Source.DRAFT, Source.NGRAM)}
    assert [item.words for item in shown_marks(view)] == ["c של", "ום def"]
    assert (len(by_source[Source.DRAFT]), len(by_source[Source.NGRAM])) == (4, 6)
    hebrew = [by_source[Source.DRAFT][2], by_source[Source.DRAFT][3], *by_source[Source.NGRAM][:2]]
    assert [box.left() for box in hebrew] == sorted((box.left() for box in hebrew), reverse=True)
    edges = sorted((box.left(), box.right()) for boxes in by_source.values() for box in boxes)
    assert all(left[1] <= right[0] + 1 for left, right in pairwise(edges)), "no letter is under another"
    assert all(right > left for left, right in edges)
