"""A prose view returns the height from which it changed, whatever was marked before."""

from itertools import pairwise

import pytest
from PySide6.QtGui import QTextBlock, QTextDocument, QTextTable
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from engine.records import Source
from ui.markdown.blocks import BlockStream
from ui.theme.palette import LIGHT
from ui.theme.theme import Theme
from ui.transcript.cards.prose_view import ProseView, document_style, indent_of
from ui.transcript.marks.provenance import MarkedRange

BASE_PX, WIDTH_PX = 15, 400
INDENT_PX = indent_of(BASE_PX)


@pytest.mark.parametrize("shorter", ["", "<p>One</p>"])
def test_marks_of_text_that_is_gone_can_be_taken_away(qtbot: QtBot, theme: Theme, shorter: str) -> None:
    """A race writes the next round into the same view; its text may end before a marked position."""
    view = ProseView(theme)
    qtbot.addWidget(view)
    view.set_html("<p>One</p><p>Two and three</p>")
    view.mark_words([MarkedRange(0, 3, Source.DRAFT), MarkedRange(8, 9, Source.NGRAM)])
    view.set_html(shorter)
    top = view.mark_words([MarkedRange(0, 3, Source.DRAFT)] if shorter else [])
    assert top is not None
    assert 0 <= top <= view.document().size().height()


@pytest.fixture
def document(qapp: QApplication) -> QTextDocument:
    """An empty document, laid out like those of answers."""
    result = QTextDocument()
    result.setDocumentMargin(0)
    result.setIndentWidth(INDENT_PX)
    font = result.defaultFont()
    font.setPixelSize(BASE_PX)
    result.setDefaultFont(font)
    result.setDefaultStyleSheet(document_style(LIGHT, BASE_PX, "monospace"))
    return result


def show(document: QTextDocument, text: str) -> None:
    stream = BlockStream()
    document.setHtml("".join(block.html for block in stream.feed(text) + stream.finish()))
    document.setTextWidth(WIDTH_PX)


def blocks(document: QTextDocument) -> list[QTextBlock]:
    found, block = [], document.begin()
    while block.isValid():
        found += [block] if block.text().strip() else []
        block = block.next()
    return found


def test_a_long_line_of_code_in_a_list_is_broken(document: QTextDocument) -> None:
    show(document, f"- item\n  ```\n  {'word ' * 60}\n  ```")
    assert document.idealWidth() <= WIDTH_PX
    (cell,) = document.rootFrame().childFrames()
    assert document.documentLayout().frameBoundingRect(cell).width() <= WIDTH_PX


def test_no_heading_is_smaller_than_the_text(document: QTextDocument) -> None:
    show(document, "\n".join(f"{'#' * level} heading" for level in range(1, 7)))
    sizes = [block.begin().fragment().charFormat().font().pixelSize() for block in blocks(document)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == BASE_PX
    assert sizes[2] > BASE_PX


@pytest.mark.parametrize("end", ["", "\n- f", "\n\ng"])
def test_items_of_lists_in_lists_stand_evenly_apart(document: QTextDocument, end: str) -> None:
    show(document, "- a\n  - b\n    - c\n    - [x] d\n- e" + end)
    layout = document.documentLayout()
    tops = [layout.blockBoundingRect(block).top() for block in blocks(document)[:5]]
    gaps = {round(below - above) for above, below in pairwise(tops)}
    assert len(gaps) == 1


def test_what_ends_with_a_list_in_a_list_keeps_the_margin_below(document: QTextDocument) -> None:
    for text in ("- a", "- a\n  - b", "- a\n  - b\n    1. c", "- a\n  - b\n  - [x] c"):
        show(document, text)
        assert blocks(document)[-1].blockFormat().bottomMargin() == 10


def test_quotes_code_and_tables_in_lists_have_the_lists_indent(document: QTextDocument) -> None:
    show(document, "- a\n  > b\n  - c\n    ```\n    d\n    ```\n\n    | e |\n    |---|\n\n> f")
    margins = [frame.frameFormat().leftMargin() for frame in document.rootFrame().childFrames()]
    assert margins == [INDENT_PX, 2 * INDENT_PX, 2 * INDENT_PX, 0]


def test_a_quote_after_a_nested_list_is_apart_from_it(document: QTextDocument) -> None:
    show(document, "- a\n  - b\n\n> c")
    (quote,) = document.rootFrame().childFrames()
    assert quote.frameFormat().leftMargin() == 0
    assert quote.frameFormat().topMargin() >= 8


def test_a_check_mark_stands_where_the_bullet_would(document: QTextDocument) -> None:
    show(document, "- [x] a\n- b")
    task, item = blocks(document)
    assert task.blockFormat().textIndent() < 0
    assert item.blockFormat().textIndent() == 0
    assert task.textList().format().style().value == 0
    assert item.textList().format().style().value != 0


def test_the_numbers_of_a_list_have_room(document: QTextDocument) -> None:
    for text in ("9. a\n10. b", "99. a\n100. b", "- a\n  1234. b"):
        show(document, text)
        block = blocks(document)[-1]
        listed = block.textList()
        number = listed.format().start() + listed.itemNumber(block)
        room = block.blockFormat().leftMargin() + INDENT_PX
        assert room >= len(str(number)) * BASE_PX * 0.6  # as wide as its digits


def test_a_tenth_item_moves_no_other(document: QTextDocument) -> None:
    show(document, "".join(f"{number}. a\n" for number in range(1, 11)))
    assert {block.blockFormat().leftMargin() for block in blocks(document)} == {0}


@pytest.mark.parametrize(
    ("text", "left", "right"),
    [("> words", 3, 0), ("> שלום words", 0, 3), ("> 1. שלום", 0, 3), ("> ```\n> x\n> ```\n\nשלום", 3, 0)],
)
def test_the_bar_of_a_quote_stands_where_its_lines_begin(
    document: QTextDocument, text: str, left: float, right: float
) -> None:
    show(document, text)
    quote = next(frame for frame in document.rootFrame().childFrames() if isinstance(frame, QTextTable))
    cell = quote.cellAt(0, 0).format().toTableCellFormat()
    assert (cell.leftBorder(), cell.rightBorder()) == (left, right)


def test_blanks_in_code_stay(theme: Theme, qtbot: QtBot) -> None:
    view = ProseView(theme)
    qtbot.addWidget(view)
    view.set_html('<p>So <span class="code">a  b   c</span> and  on</p>')
    assert view.toPlainText() == "So a  b   c and on"
