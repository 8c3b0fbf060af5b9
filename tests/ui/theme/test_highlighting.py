"""Lines that are too long for a lexer stay uncoloured: colouring would block the window."""

from functools import partial

import pytest
from pytestqt.qtbot import QtBot

from tests.conftest import PATIENCE_MS
from ui.theme import highlighting
from ui.theme.highlighting import MAX_LINE_CHARS, line_ranges
from ui.theme.theme import Theme
from ui.transcript.cards.code_block import CodeBlock

LINES = ["def area(width):", '    """The area."""', "    # A comment.", "    return width * 2", "", "print(area(3))"]
CODE = "\n".join(LINES)


@pytest.mark.parametrize(
    ("language", "unit"), [("diff", "a"), ("c", "/"), ("yaml", "@"), ("javascript", "a."), ("diff", " ")]
)
def test_a_very_long_line_stays_plain(language: str, unit: str) -> None:
    assert line_ranges(unit * (60_000 // len(unit)), language) == [[]]


def test_code_of_ordinary_lines_is_coloured() -> None:
    line = "x = " + "1" * (MAX_LINE_CHARS - 4)
    assert all(line_ranges(f"{line}\n{line}", "python"))
    assert line_ranges(f"{line}1\n", "python") == [[], []]


def coloured(block: CodeBlock) -> list[list[tuple[int, int]]]:
    """The ranges of each line with other colours than plain text."""
    document = block.view.document()
    lines = (document.findBlockByNumber(number) for number in range(document.blockCount()))
    return [[(part.start, part.length) for part in line.layout().formats()] for line in lines]


def wanted(code: str) -> list[list[tuple[int, int]]]:
    return [[(start, length) for start, length, _ in line] for line in line_ranges(code, "python")]


def looks_like(block: CodeBlock, lines: list[list[tuple[int, int]]]) -> bool:
    return coloured(block) == lines


@pytest.fixture(name="block")
def fixture_block(theme: Theme, qtbot: QtBot) -> CodeBlock:
    block = CodeBlock(theme)
    qtbot.addWidget(block)
    line_ranges("1", "python")  # loads the lexer
    return block


def test_whole_lines_are_coloured_while_more_is_written(block: CodeBlock, qtbot: QtBot) -> None:
    written = ""
    for number, line in enumerate(LINES[:-1], start=1):
        before = coloured(block)[: number - 1]
        for letter in line + "\n":
            written += letter
            block.set_code(written, "python", closed=False)
            assert coloured(block)[: number - 1] == before  # coloured lines keep their colours
        qtbot.waitUntil(partial(looks_like, block, wanted(written)[:-1]), timeout=PATIENCE_MS)
    block.set_code(CODE, "python", closed=False)
    before = coloured(block)
    block.set_code(CODE + "\n", "python", closed=True)
    assert coloured(block)[:5] == before[:5]
    qtbot.waitUntil(lambda: coloured(block) == wanted(CODE), timeout=PATIENCE_MS)


def test_other_text_begins_without_the_colours_of_the_one_before(block: CodeBlock, qtbot: QtBot) -> None:
    block.set_code("def a():\n    pass\n", "python", closed=False)
    qtbot.waitUntil(lambda: coloured(block)[0] != [], timeout=PATIENCE_MS)
    block.set_code("words of another kind\n", "python", closed=False)
    assert coloured(block)[0] == []


def test_looks_at_code_that_grows_take_a_small_part_of_the_time(
    block: CodeBlock, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = list[str]()
    real = highlighting.ranges

    def ranges(code: str, language: str) -> object:
        looks.append(code)
        return real(code, language)

    monkeypatch.setattr(highlighting, "ranges", ranges)
    monkeypatch.setattr(highlighting, "GROWTH_PAUSE_FACTOR", 1e9)  # the pause after the first update never ends
    block.set_code("a = 1\n", "python", closed=False)
    qtbot.waitUntil(lambda: len(looks) == 1, timeout=PATIENCE_MS)
    for number in range(50):
        block.set_code("a = 1\n" * (number + 2), "python", closed=False)
    qtbot.wait(2 * highlighting.GROWTH_MS)
    assert len(looks) == 1
    block.set_code("a = 1\n" * 51, "python", closed=True)
    qtbot.waitUntil(lambda: all(coloured(block)[:51]), timeout=PATIENCE_MS)
