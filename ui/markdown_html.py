"""Markdown parsing and the HTML that Qt's text documents understand: no raw HTML, no images, safe links only.

Knows no Qt: colours come from a style sheet of the document, so the same HTML serves both palettes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from ui.links import is_safe

_ALIGN = {"text-align:left": "left", "text-align:right": "right", "text-align:center": "center"}


class SafeParser(MarkdownIt):
    """CommonMark with tables and strikethrough. Raw HTML and unsafe links stay visible as text.

    Reference definitions are off: with them a block could change its meaning after it was closed.
    """

    def __init__(self) -> None:
        super().__init__("commonmark", {"html": False})
        self.enable(["table", "strikethrough"]).disable("reference")

    def validateLink(self, url: str) -> bool:
        """Called by the parser for each address."""
        return is_safe(url)


def _image(token: Token) -> str:
    """Nothing is ever loaded: an image is its description, linked to its address."""
    address = str(token.attrGet("src") or "")
    return f'<a href="{escape(address)}">{escape(token.content or "image")}</a>'


def _nested_code(token: Token) -> str:
    """Code inside a list or a quotation."""
    return f'<pre class="nested">{escape(token.content.rstrip())}</pre>'


def _cell(tag: str) -> Callable[[Token], str]:
    return lambda token: f'<{tag} align="{_ALIGN.get(str(token.attrGet("style") or ""), "left")}">'


# What Qt lays out differently from browsers.
_RULES: dict[str, Callable[[Token], str]] = {
    "code_inline": lambda token: f'<span class="code">{escape(token.content)}</span>',
    "fence": _nested_code,
    "code_block": _nested_code,
    "image": _image,
    "hr": lambda _token: "<hr/>",
    "softbreak": lambda _token: "<br/>",  # chat models mean their line breaks
    "table_open": lambda _token: '<table class="grid" cellspacing="0" cellpadding="6">',
    "table_close": lambda _token: "</table>",
    "th_open": _cell("th"),
    "td_open": _cell("td"),
    "blockquote_open": lambda _token: '<table class="quote" cellspacing="0"><tr><td class="quote">',
    "blockquote_close": lambda _token: "</td></tr></table>",
}


class _DocumentRenderer(RendererHTML):
    def __init__(self) -> None:
        super().__init__()
        rules: dict[str, Callable[..., str]] = dict(self.rules)
        rules.update({name: _rule(make) for name, make in _RULES.items()})
        self.rules = rules  # type: ignore[assignment]  # declared as methods, used as callables


def _rule(make: Callable[[Token], str]) -> Callable[..., str]:
    def render(tokens: Sequence[Token], index: int, *_rest: object) -> str:
        return make(tokens[index])

    return render


_RENDERER = _DocumentRenderer()


def render_tokens(parser: MarkdownIt, tokens: Sequence[Token]) -> str:
    """HTML of some top-level tokens."""
    return str(_RENDERER.render(list(tokens), parser.options, {}))
