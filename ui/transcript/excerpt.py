"""Parts of a chat as text and HTML for other programs.

Built from messages, not from widgets. Colours are those of the light palette.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape

from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from PySide6.QtCore import QMimeData
from PySide6.QtGui import QGuiApplication

from app.core.domain.thinking import split_thinking
from ui.markdown.blocks import plain_segments
from ui.markdown.html_writer import image_link
from ui.markdown.lists import TASK, TASKS
from ui.markdown.math_rules import BLOCK, INLINE
from ui.markdown.parser import SafeParser
from ui.markdown.source_map import SourceLines, clip_tokens
from ui.text.reading_direction import is_right_to_left
from ui.theme.highlighting import lexer_of

END_OF_TEXT = 1 << 60  # a position beyond every message's end
MAX_COLOURED_CHARS = 60_000


@dataclass(frozen=True, slots=True)
class ExcerptPart:
    """The text between two positions of a message; ``with_reasoning``: include its reasoning."""

    role: str
    raw: str
    begin: int = 0
    end: int = END_OF_TEXT
    with_reasoning: bool = False


@dataclass(frozen=True, slots=True)
class Excerpt:
    text: str = ""
    html: str = ""

    def mime(self) -> QMimeData:
        data = QMimeData()
        data.setText(self.text)
        if self.html:
            data.setHtml(self.html)
        return data

    def to_clipboard(self) -> None:
        QGuiApplication.clipboard().setMimeData(self.mime())


def code_html(code: str, language: str) -> str:
    """Code coloured for a light background."""
    lexer = lexer_of(code, language) if len(code) <= MAX_COLOURED_CHARS else None
    if lexer is None:
        return escape(code)
    from pygments import highlight  # noqa: PLC0415  (the window does not wait for it)
    from pygments.formatters.html import HtmlFormatter  # noqa: PLC0415

    return highlight(code, lexer, HtmlFormatter(nowrap=True, noclasses=True, style="xcode")).removesuffix("\n")


def portable_part(piece: ExcerptPart) -> PortableText:
    if piece.role != "assistant":
        return plain_to_portable(piece.raw, piece.begin, min(piece.end, len(piece.raw)), code_html)
    split = split_thinking(piece.raw)
    bodies = [(split.shown_reasoning(piece.raw), split.reasoning_start)] * piece.with_reasoning
    bodies.append((split.answer(piece.raw), split.answer_start))
    parts = [
        to_portable(words, max(piece.begin - base, 0), max(piece.end - base, 0), code_html) for words, base in bodies
    ]
    return PortableText("\n\n".join(part.text for part in parts if part.text), "".join(part.html for part in parts))


def excerpt_of(pieces: Iterable[ExcerptPart]) -> Excerpt:
    parts = [portable_part(piece) for piece in pieces]
    return Excerpt("\n\n".join(part.text for part in parts if part.text), "".join(part.html for part in parts))


def code_excerpt(code: str, language: str) -> Excerpt:
    """A code block; its text is the code itself."""
    return Excerpt(code, pre_html(code, language, code_html))


INK, BACKGROUND, LINE = "#1c1e22", "#f2f3f5", "#c5cad2"
_PARSER = SafeParser()
_CODE = f'style="color:{INK};background-color:{BACKGROUND};font-family:monospace'
_CELL = f"border:1px solid {LINE};padding:4px 8px;text-align:"
_BREAKS = frozenset({"softbreak", "hardbreak"})
CodeHtml = Callable[[str, str], str]  # returns the HTML of code in a language
_TEXTS = frozenset({"paragraph_open", "heading_open", "th_open", "td_open", "list_item_open"})


@dataclass(frozen=True, slots=True)
class PortableText:
    """The same content in both forms."""

    text: str = ""
    html: str = ""


def to_portable(markdown: str, begin: int, end: int, code_html: CodeHtml) -> PortableText:
    """Convert the rendered form of ``markdown[begin:end]``."""
    begin, end = (place - markdown.count("\r", 0, place) for place in (begin, min(end, len(markdown))))
    source = markdown.replace("\r", "")
    tokens = _PARSER.parse(source)
    # Record the number of each item of ordered lists, since items may be left out.
    numbers: list[int] = []
    for token in tokens:
        if token.type.endswith("_list_open"):
            numbers.append(int(token.attrGet("start") or 1) if token.tag == "ol" else 0)
        elif token.type.endswith("_list_close"):
            numbers.pop()
        elif token.type == "list_item_open" and numbers[-1]:
            token.info = str(numbers[-1])
            numbers[-1] += 1
    kept = clip_tokens(tokens, SourceLines.of(source), begin, end)
    if len(kept) == len(("<p>", "words", "</p>")) and kept[0].type == "paragraph_open" and (begin or end < len(source)):
        kept = kept[1:2]  # part of one paragraph: drop its tags, since the part may be pasted into another paragraph
    return PortableText(
        _PlainTextWriter().write(kept), str(_RENDERER.render(list(kept), _PARSER.options, {"code_html": code_html}))
    )


def plain_to_portable(text: str, begin: int, end: int, code_html: CodeHtml) -> PortableText:
    """Convert ``text[begin:end]`` of a text whose only markup is code fences."""
    html = ""
    for segment in plain_segments(text[begin:end]):
        if segment.is_code:
            html += pre_html(segment.code, segment.language, code_html)
            continue
        words = escape(segment.code).replace("\t", "    ").replace("  ", "\u00a0 ").replace("\n", "<br>\n")
        html += f'<p dir="rtl">{words}</p>\n' if is_right_to_left(segment.code) else f"<p>{words}</p>\n"
    return PortableText(text[begin:end], html)


class _PlainTextWriter:
    def __init__(self) -> None:
        self._lines: list[str] = []
        self._marks: list[str] = []  # markers of the enclosing list items; once written, spaces of the same width
        self._cells: list[str] | None = None

    def write(self, tokens: Sequence[Token]) -> str:
        for index, token in enumerate(tokens):
            if token.type == "list_item_open":
                is_task = [each.type for each in _next_inline(tokens, index).children or ()][:1] == [TASK]
                self._marks.append(f"{token.info}. " if token.info else "" if is_task else "- ")
            elif token.type == "list_item_close":
                self._marks.pop()
            elif token.type.endswith("_list_open"):
                self._begin(token)
            elif token.type in ("paragraph_open", "heading_open", "table_open", "hr"):
                self._begin(token)
                self._add("---") if token.type == "hr" else None
            elif token.type == "tr_open":
                self._cells = []
            elif token.type == "tr_close":
                self._add("\t".join(self._cells or ()))
                self._cells = None
            elif token.type == "inline" or token.content:
                self._put(token)
        return "\n".join(self._lines)

    def _put(self, token: Token) -> None:
        if token.type != "inline":
            self._begin(token)
            self._add(token.content.removesuffix("\n"))
        elif self._cells is not None:
            self._cells.append(_words_of(token).replace("\n", " "))
        else:
            self._add(_words_of(token))

    def _begin(self, token: Token) -> None:
        """Begin a block. Blocks are separated by an empty line, except in lists."""
        if self._lines and not self._marks and not token.hidden:
            self._lines.append("")

    def _add(self, text: str) -> None:
        for line in text.split("\n"):
            self._lines.append("".join(self._marks) + line)
            self._marks = [" " * len(mark) for mark in self._marks]


def _next_inline(tokens: Sequence[Token], index: int) -> Token:
    """The next inline block after a token; an empty token if there is none."""
    found = (tokens[number] for number in range(index, len(tokens)) if tokens[number].type == "inline")
    return next(found, Token("inline", "", 0))


def _words_of(token: Token) -> str:
    shown = ("\n" if child.type in _BREAKS else child.content for child in token.children or ())
    return "".join(shown).strip("\n")


class _Renderer(RendererHTML):
    def __init__(self) -> None:
        super().__init__()
        rules: dict[str, Callable[..., str]] = dict(self.rules)
        rules.update({name: _rule(make) for name, make in _RULES.items()})
        self.rules = rules  # type: ignore[assignment]  # declared as methods, used as callables

    def renderToken(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """Called for tokens without a rule: adds the text direction, and borders of cells."""
        token = tokens[idx]
        if token.nesting > 0 and token.type in _TEXTS | {"table_open", "ordered_list_open", "bullet_list_open"}:
            token = replace(token, attrs=_attributes(tokens, idx))
        return str(super().renderToken([token, *tokens[idx + 1 : idx + 2]], 0, options, env))


def _attributes(tokens: Sequence[Token], index: int) -> dict[str, str | int | float]:
    token = tokens[index]
    found: dict[str, str | int | float] = {}
    if token.type == "ordered_list_open" and tokens[index + 1].info not in ("", "1"):
        found["start"] = tokens[index + 1].info
    if token.type == "bullet_list_open" and TASKS in str(token.attrGet("class") or ""):
        found["style"] = "list-style-type:none"
    if token.type == "table_open":
        found["style"] = "border-collapse:collapse"
    if token.type in ("th_open", "td_open"):
        align = str(token.attrGet("style") or "").removeprefix("text-align:")
        background = f";color:{INK};background-color:{BACKGROUND}" if token.type == "th_open" else ""
        found["style"] = f"{_CELL}{align or 'start'}{background}"
    if is_right_to_left(_next_inline(tokens, index).content):
        found["dir"] = "rtl"
    return found


def pre_html(code: str, language: str, code_html: CodeHtml) -> str:
    return f'<pre dir="ltr" {_CODE};padding:8px">{code_html(code.removesuffix(chr(10)), language)}</pre>\n'


_RULES: dict[str, Callable[[Token, CodeHtml], str]] = {
    "code_inline": lambda token, _: f'<code dir="ltr" {_CODE};white-space:pre-wrap">{escape(token.content)}</code>',
    "fence": lambda token, code_html: pre_html(token.content, (token.info.split(maxsplit=1) or [""])[0], code_html),
    "code_block": lambda token, code_html: pre_html(token.content, "", code_html),
    "image": lambda token, _: image_link(token),
    "text_special": lambda token, _: escape(token.content),
    "softbreak": lambda _token, _: "<br>\n",
    INLINE: lambda token, _: escape(token.content),
    BLOCK: lambda token, _: f'<p style="text-align:center">{escape(token.content)}</p>\n',
    TASK: lambda token, _: token.content,
}


def _rule(make: Callable[[Token, CodeHtml], str]) -> Callable[..., str]:
    return lambda tokens, index, _options, env: make(tokens[index], env["code_html"])


_RENDERER = _Renderer()
