"""Tests the widgets of an answer: growing in chunks results in the same widgets as setting all text at once."""

from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.ui.markdown.documents import cut_documents, documents
from ui.theme.palette import DARK
from ui.theme.theme import Theme
from ui.transcript.cards.body import AnswerBody
from ui.transcript.cards.code_block import CodeBlock
from ui.transcript.cards.prose_view import ProseView
from ui.transcript.finder import plain_text

CODE = "Before.\n\n```python\ndef f(x):  # says\n    return 'é😀' + x\n```\n\nAfter."


def shown(body: AnswerBody) -> list[str]:
    return [
        f"{part.label.text()}: {part.view.toPlainText()}" if isinstance(part, CodeBlock) else part.toHtml()
        for part in body.segments
    ]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=cut_documents())
def test_streamed_widgets_equal_those_made_at_once(theme: Theme, case: tuple[str, list[str]]) -> None:
    text, pieces = case
    streamed, at_once = AnswerBody(theme), AnswerBody(theme)
    for piece in pieces:
        streamed.append(piece)
    streamed.finish()
    at_once.set_text(text)
    assert shown(streamed) == shown(at_once)
    streamed.deleteLater()
    at_once.deleteLater()


GROWING = (
    "# A title\n\nSome words, **bold** ones and more, 2 + 3.\nA line\n\n- one item\n- two *of* them\n   - deep one\n"
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.one_of(st.just(GROWING), documents()), step=st.integers(1, 9))
def test_at_every_moment_it_looks_as_if_it_were_laid_out_anew(theme: Theme, text: str, step: int) -> None:
    body = AnswerBody(theme, None, 500)
    for start in range(0, len(text), step):
        body.append(text[start : start + step])
        for part in body.segments:
            if not isinstance(part, CodeBlock):
                anew = ProseView(theme)
                anew.fit(500)
                anew.set_html(part._html or "")
                assert anew.toHtml() == part.toHtml()
                assert anew.height() == part.height()
    body.deleteLater()


def test_the_open_block_stands_where_it_stands_when_it_is_closed(theme: Theme, qtbot: QtBot) -> None:
    text = GROWING + "\n> quoted\n\nwords\n\n| a | b |\n|--|--|\n| 1 | 2 |\n\nend\n\n---\n\n## more\n\nthe end"
    for end in (place for place in range(1, len(text)) if text[place : place + 2] == "\n\n"):
        grown, whole = AnswerBody(theme, None, 500), AnswerBody(theme, None, 500)
        for body in (grown, whole):
            qtbot.addWidget(body)
            body.resize(500, 900)
        for char in text[:end]:
            grown.append(char)
        whole.set_text(text[:end])
        for body in (grown, whole):
            body.show()
            body.layout().activate()
        assert sum(part.isVisible() for part in grown.segments) >= sum(part.isVisible() for part in whole.segments)
        assert grown.sizeHint().height() == whole.sizeHint().height(), text[:end]


def test_items_of_long_and_short_lists_have_the_same_distance(theme: Theme, qtbot: QtBot) -> None:
    body = AnswerBody(theme, None, 500)
    qtbot.addWidget(body)
    body.set_text("".join(f"{number}. item\n" for number in range(1, 31)))
    (prose,) = body.segments
    assert isinstance(prose, ProseView)
    places, block = [], prose.document().begin()
    while block.isValid():
        assert block.textList().itemText(block) == f"{len(places) + 1}."
        places.append(prose.document().documentLayout().blockBoundingRect(block).y())
        block = block.next()
    assert len(places) == 30
    assert len({round(below - above) for above, below in pairwise(places)}) == 1
    assert plain_text("".join(f"- {number}\n" for number in range(30))).split("\n") == [str(n) for n in range(30)]


def test_a_table_in_parts_looks_like_one(theme: Theme, qtbot: QtBot) -> None:
    rows = "".join(f"| {number} | words |\n" for number in range(40))
    body = AnswerBody(theme, None, 500)
    qtbot.addWidget(body)
    body.set_text(f"| a | b |\n|---|---|\n{rows}")
    body.resize(500, body.sizeHint().height())
    body.show()
    body.layout().activate()
    assert len(body.segments) > 2
    image = body.grab().toImage()
    scale = image.devicePixelRatio()
    column = [image.pixelColor(round(150 * scale), y).name() for y in range(image.height())]
    line = theme.tokens.border_strong
    places = [y for y, color in enumerate(column) if color == line.lower()]
    apart = {below - above for above, below in pairwise(places)}
    assert len(places) == 42  # above and below 41 rows, no line twice
    assert len(apart) <= 2  # rows may end in half pixels
    assert max(apart) - min(apart) <= 1


def test_code_is_copied_whole(theme: Theme, qtbot: QtBot) -> None:
    body = AnswerBody(theme)
    qtbot.addWidget(body)
    for char in CODE:
        body.append(char)
    code = body.segments[1]
    assert isinstance(code, CodeBlock)
    body.show()
    code.copy_button.click()
    assert QApplication.clipboard().text() == "def f(x):  # says\n    return 'é😀' + x\n"


def _colours(code: CodeBlock) -> dict[str, str]:
    """The text of each coloured range, and its colour."""
    found = {}
    block = code.view.document().firstBlock()
    while block.isValid():
        utf16 = block.text().encode("utf-16-le")
        for part in block.layout().formats():
            words = utf16[2 * part.start : 2 * (part.start + part.length)].decode("utf-16-le")
            found[words] = part.format.foreground().color().name()
        block = block.next()
    return found


def test_code_is_coloured_when_its_fence_closes(theme: Theme, qtbot: QtBot) -> None:
    body = AnswerBody(theme)
    qtbot.addWidget(body)
    body.append("```python\ndef f(x):\n    return 'é😀' + 1\n")
    code = body.segments[0]
    assert isinstance(code, CodeBlock)
    assert _colours(code) == {}
    body.append("```\n")
    qtbot.waitUntil(lambda: "1" in _colours(code), timeout=30_000)
    colours = _colours(code)
    assert colours["def"] == theme.tokens.code_keyword
    assert colours["f"] == theme.tokens.code_name
    assert "".join(key for key, value in colours.items() if value == theme.tokens.code_string).count("é😀") == 1
    assert colours["1"] == theme.tokens.code_number


def test_another_palette_recolours_code_and_keeps_the_text(theme: Theme, qtbot: QtBot) -> None:
    body = AnswerBody(theme)
    qtbot.addWidget(body)
    body.set_text(CODE)
    before = [part.toPlainText() for part in body.segments if not isinstance(part, CodeBlock)]
    host = theme.parent()
    theme.apply("dark", host)  # type: ignore[arg-type]
    code = body.segments[1]
    assert isinstance(code, CodeBlock)
    qtbot.waitUntil(lambda: "def" in _colours(code), timeout=30_000)
    assert _colours(code)["def"] == DARK.code_keyword
    assert [part.toPlainText() for part in body.segments if not isinstance(part, CodeBlock)] == before


def test_prose_is_as_high_as_its_text(theme: Theme, qtbot: QtBot) -> None:
    body = AnswerBody(theme)
    qtbot.addWidget(body)
    body.resize(400, 300)
    body.show()
    body.set_text("word " * 200)
    prose = body.segments[0]
    qtbot.waitUntil(lambda: prose.width() == 400 and prose.height() > 200)
    assert abs(prose.height() - prose.document().size().height()) <= 1
    wide = prose.height()
    body.resize(200, 300)
    qtbot.waitUntil(lambda: prose.height() > 1.5 * wide)


def test_a_selection_survives_more_text(theme: Theme, qtbot: QtBot) -> None:
    body = AnswerBody(theme)
    qtbot.addWidget(body)
    body.append("first words ")
    prose = body.segments[0]
    cursor = prose.textCursor()
    cursor.setPosition(0)
    cursor.setPosition(5, cursor.MoveMode.KeepAnchor)
    prose.setTextCursor(cursor)
    body.append("and more")
    assert prose.textCursor().selectedText() == "first"


def test_long_lines_of_code_wrap_where_it_is_wished(theme: Theme, qtbot: QtBot) -> None:
    body = AnswerBody(theme)
    qtbot.addWidget(body)
    body.resize(400, 300)
    body.show()
    body.set_text("```\n" + "long " * 60 + "\nshort\n```\n")
    code = body.segments[0]
    assert isinstance(code, CodeBlock)
    qtbot.waitUntil(lambda: code.view.horizontalScrollBar().maximum() > 0)
    before = code.view.toPlainText()
    flat = code.view.height()
    qtbot.mouseClick(code.wrap_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: code.view.height() > 2 * flat)
    assert code.view.horizontalScrollBar().maximum() == 0
    qtbot.waitUntil(lambda: code.view.verticalScrollBar().maximum() == 0)
    assert code.view.toPlainText() == before
    wide = code.view.height()
    body.resize(300, 300)
    qtbot.waitUntil(lambda: code.view.height() > wide)
    code.wrap_button.setFocus()
    qtbot.keyClick(code.wrap_button, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: code.view.height() == flat)


def test_the_view_of_a_block_that_was_joined_is_used_again(theme: Theme, qtbot: QtBot) -> None:
    body = AnswerBody(theme)
    qtbot.addWidget(body)
    body.resize(500, 300)
    body.show()
    seen: list[ProseView | CodeBlock] = []  # the objects themselves: an id may be reused
    for number in range(12):
        body.append(f"Paragraph {number}.\n\nThe next")
        seen += [part for part in body.segments if part not in seen]
        qtbot.waitUntil(lambda: not body._join_timer.isActive())
        body.append(" one.\n\n")
        seen += [part for part in body.segments if part not in seen]
        qtbot.waitUntil(lambda: not body._join_timer.isActive())
    assert len(seen) <= len(body.segments) + 2
    body.finish()
    qtbot.waitUntil(lambda: len(body.findChildren(ProseView)) == len(body.segments))


def test_a_block_that_was_closed_stays_as_it_is_when_code_begins_below_it(theme: Theme, qtbot: QtBot) -> None:
    body = AnswerBody(theme)
    qtbot.addWidget(body)
    body.resize(500, 300)
    body.show()
    body.append("One.\n\nTwo.\n\nThree\nand")
    qtbot.waitUntil(lambda: not body._join_timer.isActive())
    run, tail = body.segments
    body.append(" four.\n\n```python\nx = 1\n")
    assert body.segments[:2] == [run, tail]
    code = body.segments[2]
    assert isinstance(code, CodeBlock)
    body.resize(500, body.sizeHint().height())
    before = body.grab().toImage()
    qtbot.waitUntil(lambda: len(body.segments) == 2)
    assert body.sizeHint().height() == body.height()
    assert body.segments == [run, code]
    assert shown(body)[0].count("four.") == 1
    assert body.grab().toImage() == before
    body.append("y = 2\n```\n\nThe end.")
    body.finish()
    at_once = AnswerBody(theme)
    qtbot.addWidget(at_once)
    at_once.set_text("One.\n\nTwo.\n\nThree\nand four.\n\n```python\nx = 1\ny = 2\n```\n\nThe end.")
    assert shown(body) == shown(at_once)


def test_code_is_read_from_the_left_whatever_its_first_words_are(theme: Theme, qtbot: QtBot) -> None:
    body = AnswerBody(theme)
    qtbot.addWidget(body)
    body.set_text("```js\n// تعليق\nx\n```\n\nتعليق\n")
    code = body.segments[0]
    assert isinstance(code, CodeBlock)
    blocks = code.view.document().firstBlock(), body.segments[1].document().firstBlock()
    assert [block.textDirection() for block in blocks] == [
        Qt.LayoutDirection.LeftToRight,
        Qt.LayoutDirection.RightToLeft,
    ]
    code.view.set_wraps(True)
    code.reset()
    code.set_code("// تعليق", "js", closed=True)
    assert code.view.document().firstBlock().textDirection() is Qt.LayoutDirection.LeftToRight
