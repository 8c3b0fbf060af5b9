"""Tests formulas: found in Markdown but not in prices, typeset within limits, copied as their source."""

import pytest
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageView
from engine.records import Source, TokenSpan
from tests.ui.conftest import STATS
from ui.formulas import formula
from ui.formulas.formula import Formula, typeset, without_delimiters
from ui.markdown.html_writer import formula_source
from ui.markdown.parser import SafeParser
from ui.theme.theme import Theme
from ui.transcript.cards.prose_view import ProseView
from ui.transcript.finder import plain_text
from ui.window.main_window import MainWindow

OBJECT = "\N{OBJECT REPLACEMENT CHARACTER}"
GENEROUS_MS = 30_000


def formulas(text: str) -> list[str]:
    found = []
    for token in SafeParser().parse(text):
        children = token.children or []
        found += [each.content for each in (token, *children) if each.type == "formula"]
        found += [token.content] if token.type == "formula_block" and token.info else []
    return found


@pytest.mark.parametrize(
    "text",
    [
        "$5 and $6",
        "It costs $5, or $6 with milk.",
        "US$5 and A$6",
        "between $10 and $20, not 30$",
        "$10 or 20$ today",
        "about $1.50/kg",
        "a lone $ sign",
        "$$$",
        "$ 5 and $ 6",
        "5 $ + tax 3 $ more",
        "a $ sign and a $ sign",
        "a $ b$",
        "$5美元，共10$",
        "价格$5，不是$6",
        "é$x$é",
        "\\$x$ and \\$y$",
        "`$x$`",
        "```\n$x$\n```",
        "    $x$ indented",
        "$HOME/bin:$PATH",
        "\\( never closed",
        "\\(\\)",
        "$$\nnever closed\n\nanother paragraph $$",
    ],
)
def test_what_is_no_formula(text: str) -> None:
    assert formulas(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Einstein: $E = mc^2$.", ["$E = mc^2$"]),
        ("($x$), $y$-axis, **$z$**", ["$x$", "$y$", "$z$"]),
        ("costs $5, where $n$ is the number", ["$n$"]),
        ("\\(a\\) and \\[b\\] and $$c$$ here", ["\\(a\\)", "\\[b\\]", "$$c$$"]),
        ("text\n$$\nx\n$$\ntext", ["$$\nx\n$$"]),
        ("text\n\\[\nx\n\\]\ntext", ["\\[\nx\n\\]"]),
        ("$$ x $$", ["$$ x $$"]),
        ("- $$\n  x\n  $$", ["$$\nx\n$$"]),
        ("> \\[ x \\]", ["\\[ x \\]"]),
        ("| a |\n|---|\n| $x$ |", ["$x$"]),
        ("$a_1$ *and* $b_2$", ["$a_1$", "$b_2$"]),
        ("时间$O(n)$，其中$n$是$nums$的。", ["$O(n)$", "$n$", "$nums$"]),
        ("함수 $f$는, 関数$f$は, ฟังก์ชัน$f(x)$คือ", ["$f$", "$f$", "$f(x)$"]),
        ("其中 $ a + b = c $ 成立, $ \\alpha $ and $ x $", ["$ a + b = c $", "$ \\alpha $", "$ x $"]),
        ("$ \\text{cost} = 5 $", ["$ \\text{cost} = 5 $"]),
        ("$50\\%$", ["$50\\%$"]),
        ("$x\\$y$", ["$x\\$y$"]),
    ],
)
def test_what_is_a_formula(text: str, found: list[str]) -> None:
    assert formulas(text) == found


def test_the_signs_say_what_kind_it_is() -> None:
    assert without_delimiters("$x$") == without_delimiters("\\(x\\)") == ("x", False)
    assert without_delimiters("$$\nx\n$$") == without_delimiters("\\[ x \\]") == ("x", True)


@pytest.mark.parametrize(
    "source",
    [
        "$x^2$",
        "$$\\frac{a}{b}$$",
        "\\[\\begin{aligned} a &= b \\\\ &= c \\end{aligned}\\]",
        "$\\boxed{42}$",
        "$$f(x)=\\begin{cases} 1 & x>0 \\\\ 0 & \\text{else} \\end{cases}$$",
        "$$a \\tag{1}$$",
        "$\\mathbb{R} \\to \\mathcal{L}$",
    ],
)
def test_common_formulas_are_typeset(source: str) -> None:
    found = typeset(source)
    assert found is not None
    assert 0 < found.width < 40
    assert 0 < found.ascent + found.descent < 12
    assert formula.INK in found.svg


@pytest.mark.parametrize(
    "source",
    [
        "$\\frac{$",
        "$" + "{" * 60 + "x" + "}" * 60 + "$",
        "$" + "x+" * 2_000 + "x$",
        "$\\newcommand{\\a}{\\a\\a}\\a$",
        "$\\def\\a{b}\\a$",
        "$\\href{https://example.org}{x}$",
        "$\\begin{nosuch} x \\end{nosuch$",
        "$$ $$",
    ],
)
def test_what_cannot_be_typeset_gives_nothing(source: str) -> None:
    assert typeset(source) is None


def test_work_is_bounded_by_calls() -> None:
    assert typeset("$x^2$", max_calls=500) is None
    assert typeset("$x^2$") is not None


@pytest.fixture
def view(theme: Theme, qtbot: QtBot) -> ProseView:
    result = ProseView(theme)
    qtbot.addWidget(result)
    result.resize(500, 200)
    result.show()
    return result


HTML = '<p>so <img src="formula:%24x%5E2%24"/> and <img src="formula:%24%5Cfrac%7B%24"/> end</p>'


def test_the_source_is_shown_until_it_is_typeset_and_after_a_failure(view: ProseView, qtbot: QtBot) -> None:
    view.set_html(HTML)
    assert view.toPlainText() == "so $x^2$ and $\\frac{$ end"
    qtbot.waitUntil(lambda: OBJECT in view.toPlainText(), timeout=GENEROUS_MS)
    assert view.toPlainText() == f"so {OBJECT} and $\\frac{{$ end"
    assert view.words() == "so $x^2$ and $\\frac{$ end"
    assert view.accessibleDescription() == view.words()


def test_words_to_be_found_have_the_source() -> None:
    markdown = "# Sum\n\n\\(a_1\\) *and* $b$ for $5\n\n\\[\nx < y\n\\]\n\n```py\n$c$\n```\n"
    assert plain_text(markdown) == "Sum\n\n\\(a_1\\) and $b$ for $5\n\n\\[ x < y \\]\n\n$c$"


def test_a_formula_is_drawn_in_the_colour_of_the_text(view: ProseView, theme: Theme, qtbot: QtBot) -> None:
    view.set_html('<p><img src="formula:%24%24%5Cblacksquare%24%24"/></p>')
    qtbot.waitUntil(lambda: OBJECT in view.toPlainText(), timeout=GENEROUS_MS)
    for name in ("light", "dark"):
        theme.apply(name, theme.parent())  # type: ignore[arg-type]
        image = view.grab().toImage()
        pixels = {image.pixelColor(x, y).rgb() & 0xFFFFFF for x in range(40) for y in range(view.height())}
        wanted = QColor(theme.tokens.text)
        assert min(_distance(QColor(pixel), wanted) for pixel in pixels) < 30


def _distance(one: QColor, other: QColor) -> int:
    return abs(one.red() - other.red()) + abs(one.green() - other.green()) + abs(one.blue() - other.blue())


def test_a_wide_formula_is_made_to_fit(view: ProseView, qtbot: QtBot) -> None:
    view.set_html('<p><img src="formula:%24' + "x%2B" * 30 + 'x%24"/></p>')
    qtbot.waitUntil(lambda: OBJECT in view.toPlainText(), timeout=GENEROUS_MS)
    assert view.document().size().width() <= view.width() + 1
    assert formula_source("https://example.org") == ""
    assert isinstance(theme_formula(view), Formula)


def theme_formula(view: ProseView) -> object:
    return view._theme.formulas.get("$" + "x+" * 30 + "x$")


@pytest.mark.parametrize("source", [Source.DRAFT, Source.TARGET])
def test_a_formula_is_marked_as_words_are(source: Source, window: MainWindow, qtbot: QtBot) -> None:
    text = "so $x^2$ it is"
    spans = (TokenSpan(3, Source.BONUS), TokenSpan(5, source), TokenSpan(6, Source.BONUS))
    window.show_conversation("t", [MessageView(1, "assistant", text, stats=STATS, spans=spans)])
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    (shown,) = window.transcript.findChildren(ProseView)
    qtbot.waitUntil(lambda: OBJECT in shown.toPlainText(), timeout=GENEROUS_MS)
    place = shown.toPlainText().index(OBJECT)

    def pixels() -> set[str]:
        cursor = shown.textCursor()
        cursor.setPosition(place)
        left = shown.cursorRect(cursor)
        cursor.setPosition(place + 1)
        image = shown.viewport().grab().toImage()
        across = range(left.x() + 1, shown.cursorRect(cursor).x())
        return {image.pixelColor(x, y).name() for x in across for y in range(left.top(), left.bottom())}

    line = window.theme.tokens.source(source)
    assert line not in pixels()
    plain = pixels()
    window.transcript.mark_sources(frozenset({source}))
    qtbot.waitUntil(lambda: pixels() != plain)
    assert (line in pixels()) is (source is not Source.TARGET)
    window.transcript.mark_sources(frozenset())
    qtbot.waitUntil(lambda: pixels() == plain)
