"""Writes parsed Markdown as the HTML that Qt's text documents support: no raw HTML, no images, safe links only.

Colours come from the document's style sheet, so the HTML does not depend on the palette. A formula is an image whose
address is its source.
"""

import re
from collections.abc import Callable, Sequence
from html import escape
from urllib.parse import quote, unquote

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from ui.markdown.lists import DEPTH, FIRST_CLASS, ITEMS, NEW_LIST_CLASS, NUM_DIGITS, RIGHT_TO_LEFT, TASK
from ui.markdown.math_rules import BLOCK, INLINE
from ui.text.reading_direction import RIGHT_TO_LEFT_DIRECTIONS

_ALIGN = {"text-align:left": "left", "text-align:right": "right", "text-align:center": "center"}


MAX_QUOTE_LEVEL = 8
FORMULA = "formula:"  # prefix of the address of a formula
FORMULA_IMAGE = re.compile(rf'<img src="({FORMULA}[^"]*)"/>')


def formula_address(source: str) -> str:
    """The image address of a formula in the HTML; contains its source."""
    return FORMULA + quote(source, safe="")


def formula_source(address: str) -> str:
    return unquote(address.removeprefix(FORMULA)) if address.startswith(FORMULA) else ""


def image_link(token: Token) -> str:
    """A link with the description of an image: images are never loaded."""
    address = str(token.attrGet("src") or "")
    return f'<a href="{escape(address)}">{escape(token.content or "image")}</a>'


def _nested_code(token: Token) -> str:
    """Code in a list or quotation: a table cell, since Qt gives only cells a background."""
    opening = f'<table class="code{_table_classes(token)}" width="100%" cellspacing="0"><tr><td class="code">'
    return f'{opening}<pre class="nested" dir="ltr">{escape(token.content.rstrip())}</pre></td></tr></table>'


def _table_classes(token: Token) -> str:
    """The CSS classes for a table's indent in lists, and for a table that begins an item."""
    depth = token.meta.get(DEPTH)
    return (f" in{depth}" if depth else "") + (f" {FIRST_CLASS}" if token.meta.get(FIRST_CLASS) else "")


def _ordered_list(token: Token) -> str:
    """An ordered list, indented further if its last number is long."""
    start = token.attrGet("start")
    num_digits = len(str((1 if start is None else int(start)) + token.meta.get(ITEMS, 1) - 1))
    kinds = [str(token.attrGet("class") or ""), f"digits{num_digits}" if num_digits > NUM_DIGITS else ""]
    kind = " ".join(filter(None, kinds))
    return "<ol" + (f' start="{start}"' if start is not None else "") + (f' class="{kind}"' if kind else "") + ">\n"


def _list_item(token: Token) -> str:
    """A list item. A list of tasks and other items is split wherever the kind changes."""
    kind, turns = token.attrGet("class"), token.meta.get(NEW_LIST_CLASS)
    item = f'<li class="{kind}">' if kind else "<li>"
    return item if turns is None else f'</ul>\n<ul class="{turns}">\n{item}'


def _cell(tag: str) -> Callable[[Token], str]:
    def opening(token: Token) -> str:
        width = token.attrGet("width")
        align = _ALIGN.get(str(token.attrGet("style") or ""), "left")
        return f'<{tag} align="{align}" width="{width}">' if width else f'<{tag} align="{align}">'

    return opening


def _table(token: Token) -> str:
    kind = token.attrGet("class") or "grid"
    way = ' align="right"' if token.meta.get(RIGHT_TO_LEFT) else ""
    width = token.attrGet("width") or "100%"
    return f'<table class="{kind}{_table_classes(token)}" width="{width}"{way} cellspacing="0" cellpadding="6">'


def _open_quote(token: Token) -> str:
    """Open a quotation, up to a nesting limit: Qt's layout time doubles with each nested table."""
    if token.level >= MAX_QUOTE_LEVEL:
        return ""
    kind = "quote-rtl" if token.meta.get(RIGHT_TO_LEFT) else "quote"
    return f'<table class="quote{_table_classes(token)}" width="100%" cellspacing="0"><tr><td class="{kind}">'


def _close_quote(token: Token) -> str:
    return "</td></tr></table>" if token.level < MAX_QUOTE_LEVEL else ""


def _formula(token: Token) -> str:
    return f'<img src="{formula_address(token.content)}"/>'


def _formula_block(token: Token) -> str:
    """A display formula on its own line; its source while it is incomplete."""
    if not token.info:
        return f"<p>{escape(token.content).replace(chr(10), '<br/>')}</p>"
    return f'<p class="formula" align="center">{_formula(token)}</p>'


# Elements that Qt lays out differently from browsers.
_RULES: dict[str, Callable[[Token], str]] = {
    "code_inline": lambda token: f'<span class="code">{escape(token.content)}</span>',
    "fence": _nested_code,
    "code_block": _nested_code,
    "image": image_link,
    "text_special": lambda token: escape(token.content),
    INLINE: _formula,
    BLOCK: _formula_block,
    "hr": lambda _token: "<hr/>",
    "softbreak": lambda _token: "<br/>",  # chat models expect their line breaks to be shown
    "table_open": _table,
    "table_close": lambda _token: "</table>",
    "th_open": _cell("th"),
    "td_open": _cell("td"),
    "blockquote_open": _open_quote,
    "blockquote_close": _close_quote,
    "ordered_list_open": _ordered_list,
    "list_item_open": _list_item,
    TASK: lambda token: token.content,
}


class _DocumentRenderer(RendererHTML):
    def __init__(self) -> None:
        super().__init__()
        rules: dict[str, Callable[..., str]] = dict(self.rules)
        rules.update({name: _rule(make) for name, make in _RULES.items()})
        self.rules = rules  # type: ignore[assignment]  # declared as methods, used as callables

    def renderInline(self, tokens: Sequence[Token], options: OptionsDict, env: EnvType) -> str:
        """Render inline content, with a fast path for words and simple marks."""
        parts: list[str] = []
        has_code = any(token.type == "code_inline" for token in tokens)
        # Isolate code within right-to-left text: brackets at its ends would change sides.
        isolates_code = has_code and any(RIGHT_TO_LEFT_DIRECTIONS.search(token.content) for token in tokens)
        for index, token in enumerate(tokens):
            if token.type == "text":
                parts.append(escapeHtml(token.content))
            elif token.type == "code_inline" and isolates_code:
                parts.append(f"\u2066{self.rules[token.type](tokens, index, options, env)}\u2069")
            elif token.type in self.rules:
                parts.append(self.rules[token.type](tokens, index, options, env))
            elif token.attrs or token.hidden or token.block:
                parts.append(self.renderToken(tokens, index, options, env))
            else:
                parts.append(f"</{token.tag}>" if token.nesting < 0 else f"<{token.tag}>")
        return "".join(parts)


def _rule(make: Callable[[Token], str]) -> Callable[..., str]:
    def render(tokens: Sequence[Token], index: int, *_rest: object) -> str:
        return make(tokens[index])

    return render


_RENDERER = _DocumentRenderer()


def render_tokens(parser: MarkdownIt, tokens: Sequence[Token]) -> str:
    return str(_RENDERER.render(list(tokens), parser.options, {}))
