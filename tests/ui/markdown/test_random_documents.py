"""Random Markdown, cut at random positions: streaming equals parsing at once, and every mark is on its character.

The long form tries 2,000 documents of each kind.
"""

from collections.abc import Iterator
from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from app.core.domain.messages import MessageState, MessageView
from engine.records import Source, TokenSpan
from tests.garbage import collect_some
from tests.long_form import rounds
from tests.ui.markdown.documents import SEPARATORS, documents
from tests.ui.transcript.marks.shown_marks import shown_marks
from ui.theme.theme import Theme
from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.cards.body import AnswerBody
from ui.transcript.cards.code_block import CodeBlock

FULL = settings(
    max_examples=rounds(25, 2000),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
# Each § becomes a character that is unique in the document, so its position is known without a parser.
SHAPES = st.sampled_from(
    [
        "# §§ **§** #",
        "§§ §\n===",
        "§ **§§** *§* `§§` ~~§~~ __§__",
        "§\n§  \n§",
        "- §\n- **§** §\n\n  §",
        "1. §\n   - §\n   - `§`\n2. §",
        "> § §\n§\n>\n> - §",
        "```python\n§§ = '§'\n\n    §\n```",
        "~~~\n§\n  ~~~",
        "   ```\n   §\n     §\n   ```",
        "    §\n\n      §",
        "| § | §§ |\n|---|--:|\n| `§` | § \\| § |\n| **§** | |",
        '[§§](https://example.org/§ "§") § <https://example.org/a§>',
        "![§§](https://example.org/§.png) §",
        "- [x] §§ **§**\n- [ ] §\n  - [X] `§`\n- §\n- [ ]",
        "1. [ ] §\n\n   - [x] § [x] §\n     > - [ ] §\n     > §",
        "- §\n  - §\n\n> §\n> > §",
        "- §\n  - §\n\n  > §\n\n  | § |\n  |---|\n  | § |\n  ```\n  §\n\n    §\n  ```",
        "§ https://example.org/§_§_?§=**§&amp;§. § (www.§.org/§), §",
        "§**https://§.org**§ [§ https://§.org](https://§.org) `www.§.org`",
        "- https://§.org/§\n- http://§\n\n> www.§.§_§ §",
        "\\*§\\* &amp;§&lt; § &copy; §",
        "*§ **§* §** _§",
        "`` § ` § `` ` §",
        "[§](javascript:§) <b>§</b>",
        "$§_1$ § \\(\\frac{§}{2}\\) §",
        "$$\n§ = §\n$$\n§",
        "§\n\\[ § \\]",
        "costs $5 § and $6 §",
        "- $$\n  §\n  $$ \n- §",
        "$$ § never closed",
        "---",
        "😀§😀 §\t§",
    ]
)
TAGS = st.sampled_from(
    [("", ""), ("", ""), ("<think>\n", "\n</think>\n\n"), ("<think>", "</think>"), ("", "\n</think>\n")]
)


@st.composite
def marked_documents(draw: st.DrawFn) -> tuple[str, list[str], list[Source]]:
    """A document of unique characters, its chunks, and the source of each chunk."""
    parts = []
    for opening in (True, False):
        tags = draw(TAGS) if opening else ("", "")
        inner = [draw(each) for _ in range(draw(st.integers(1, 6))) for each in (SHAPES, SEPARATORS)]
        parts += [tags[0], *inner, tags[1]]
    shape, text = "".join(parts), []
    for char in shape:
        text.append(chr(0x4E00 + len(text)) if char == "§" else char)
    whole = "".join(text)
    cuts = sorted(draw(st.lists(st.integers(0, len(whole)), max_size=60)))
    pieces = [whole[start:end] for start, end in pairwise([0, *cuts, len(whole)])]
    return whole, pieces, [draw(st.sampled_from(Source)) for _ in pieces]


def views(card: AnswerCard) -> Iterator[QTextEdit | QPlainTextEdit]:
    bodies: list[AnswerBody] = [card.body]
    if card.reasoning is not None:
        card.reasoning.set_open(True)
        while card.reasoning.body is not None and card.reasoning.body.build_next():
            pass
        bodies += [card.reasoning.body] if card.reasoning.body is not None else []
    for body in bodies:
        for part in body.segments:
            yield part.view if isinstance(part, CodeBlock) else part


def marks(view: QTextEdit | QPlainTextEdit) -> dict[str, str]:
    """The colour of the mark on each unique character; empty if there is none."""
    colors = {char: item.color for item in shown_marks(view) for char in item.words}
    text = view.toPlainText()
    return {char: colors.get(char, "") for char in text if char >= "\u4e00" and char <= "\u9fff"}


@FULL
@given(marked_documents())
def test_every_mark_is_on_its_character(theme: Theme, case: tuple[str, list[str], list[Source]]) -> None:
    text, pieces, sources = case
    spans = tuple(TokenSpan(len(piece), source) for piece, source in zip(pieces, sources, strict=True))
    true = [source for span in spans for source in [span.source] * span.num_chars]
    whole = AnswerCard(theme, MessageView(1, "assistant", text, spans=spans), 600)
    while whole.build_next():
        pass
    grown = AnswerCard(theme, MessageView(1, "assistant", "", MessageState.STREAMING), 600)
    grown.mark_sources(frozenset(Source))
    for piece, span in zip(pieces, spans, strict=True):
        grown.append(piece, (span,))
    grown.finish(MessageView(1, "assistant", text))
    found = []
    for card in (whole, grown):
        parts = list(views(card))
        card.mark_sources(frozenset(Source))
        found.append([part.toPlainText() for part in parts])
        for part in parts:
            for char, color in marks(part).items():
                assert color == theme.tokens.source(true[text.index(char)]), (char, text)
    assert found[0] == found[1]
    for card in (whole, grown):
        card.deleteLater()
    collect_some()


@FULL
@given(documents(), documents(), TAGS, st.data())
def test_what_streams_in_equals_what_is_shown_at_once(
    theme: Theme, thought: str, words: str, tags: tuple[str, str], data: st.DataObject
) -> None:
    text = f"{tags[0]}{thought}{tags[1]}{words}"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=40)))
    whole = AnswerCard(theme, MessageView(1, "assistant", text), 600)
    while whole.build_next():
        pass
    grown = AnswerCard(theme, MessageView(1, "assistant", "", MessageState.STREAMING), 600)
    for start, end in pairwise([0, *cuts, len(text)]):
        grown.append(text[start:end])
    grown.finish(MessageView(1, "assistant", text))
    assert shown(grown) == shown(whole)
    for card in (whole, grown):
        card.deleteLater()
    collect_some()


def shown(card: AnswerCard) -> list[str]:
    return [view.toHtml() if isinstance(view, QTextEdit) else view.toPlainText() for view in views(card)]
