r"""Formulas in Markdown as parser rules: ``$x$``, ``\(x\)``, ``$$x$$`` and ``\[x\]``. No Qt, paints nothing.

A dollar sign is usually money: it opens a formula only before a non-space and after no letter or digit, and closes one
only after a non-space and before no letter or digit (Pandoc's rule, slightly stricter). Letters of scripts without
spaces, such as Chinese, do not count. If both dollar signs have a space inside, the content must look like TeX. A
display formula at the start of a line ends at its closing sign or at an empty line.
"""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

from app.core.domain.unspaced import has_unspaced

INLINE, BLOCK = "formula", "formula_block"
MAX_INLINE_CHARS = 600
_CLOSING = {"$$": "$$", "\\[": "\\]"}
_MONEY = re.compile(r"\d[\d.,]*(?:\s|$)")
_AMOUNT_BEFORE = re.compile(r"\d\s\Z")
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3,}(?![^{]*\})")  # a plain word: outside of braces and not a command
_TEX = re.compile(r"[\\^_{}=+<>/*]")


def add_formulas(parser: MarkdownIt) -> None:
    parser.inline.ruler.before("escape", INLINE, _inline)
    parser.block.ruler.before("fence", BLOCK, _block, {"alt": ["paragraph", "reference", "blockquote", "list"]})


def _inline(state: StateInline, silent: bool) -> bool:
    src, start = state.src, state.pos
    opening = src[start : start + 2]
    end = -1
    if opening in ("\\(", "\\["):
        end = _find(src, "\\)" if opening == "\\(" else "\\]", start + 2, state.posMax)
    elif opening == "$$":
        end = _find(src, "$$", start + 2, state.posMax)
    elif opening[:1] == "$":
        end = _end_of_dollars(src, start, state.posMax)
    if end < 0:
        return False
    if not silent:
        token = state.push(INLINE, "", 0)
        token.content = src[start:end]
        token.info = "display" if opening in _CLOSING else ""
    state.pos = end
    return True


def _find(src: str, closing: str, start: int, limit: int) -> int:
    """The offset after the closing sign; -1 if there is none in range, or if the formula would be empty."""
    place = src.find(closing, start, min(limit, start + MAX_INLINE_CHARS))
    return place + len(closing) if place > start and src[start:place].strip() else -1


def _end_of_dollars(src: str, start: int, limit: int) -> int:
    if start and (_is_word_char(src[start - 1]) or src[start - 1] in "$\\"):
        return -1
    first = src[start + 1 : start + 2]
    spaced = first in (" ", "\u00a0") and not _AMOUNT_BEFORE.search(src, max(start - 2, 0), start)
    if not first or (first.isspace() and not spaced) or first == "$":
        return -1
    place = start + 1
    limit = min(limit, start + MAX_INLINE_CHARS)
    while (place := src.find("$", place, limit)) >= 0:
        following = src[place + 1 : place + 2]
        if src[place - 1] == "\\":
            place += 1
        elif src[place - 1].isspace() != spaced or _is_word_char(following) or following == "$":
            return -1
        else:
            content = src[start + 1 : place]
            return -1 if _is_money(content) or (spaced and not _is_tex(content.strip())) else place + 1
    return -1


def _is_word_char(char: str) -> bool:
    """Whether this character makes an adjacent dollar sign part of a word."""
    return char.isalnum() and not has_unspaced(char)


def _is_money(content: str) -> bool:
    """Whether the text between two dollar signs is an amount and words."""
    amount = (_MONEY.match(content) and " " in content) or (content[:1].isdigit() and has_unspaced(content))
    return bool(amount) and not _TEX.search(content)


def _is_tex(content: str) -> bool:
    """Whether the content is a single letter, or TeX without plain words."""
    return len(content) == 1 or bool(_TEX.search(content) and not _WORD.search(content))


def _block(state: StateBlock, startLine: int, endLine: int, silent: bool) -> bool:  # noqa: N803
    if state.is_code_block(startLine):
        return False
    first = _line(state, startLine)
    closing = _CLOSING.get(first[:2])
    if closing is None:
        return False
    closed, line = False, startLine
    if closing in first[2:]:
        closed = first.endswith(closing) and first.index(closing, 2) == len(first) - 2 > 2
        if not closed:
            return False
    else:
        line, closed = _last_line(state, startLine, endLine, closing)
    if silent:
        return True
    state.line = line + 1
    token = state.push(BLOCK, "", 0)
    token.content = "\n".join(_line(state, each) for each in range(startLine, line + 1))
    token.info = "closed" if closed else ""
    token.map = [startLine, state.line]
    return True


def _last_line(state: StateBlock, start: int, end: int, closing: str) -> tuple[int, bool]:
    """The line with the closing sign and True, else the last line before an empty line or the container's end."""
    line = start
    while line + 1 < end and not state.isEmpty(line + 1) and state.sCount[line + 1] >= state.blkIndent:
        line += 1
        if _line(state, line).endswith(closing):
            return line, True
    return line, False


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()
