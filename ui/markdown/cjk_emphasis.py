"""Emphasis beside Chinese, Japanese and Korean letters, whose writing puts no spaces around it.

CommonMark asks for a space or a sign outside of a delimiter run with a sign inside, so ``是**“重点”**内容`` would keep
its stars. Here such a letter outside is as good as a space, and a full-width sign inside as good as a letter:
https://github.com/tats-u/markdown-cjk-friendly
"""

from __future__ import annotations

import re

from markdown_it.common.utils import isMdAsciiPunct, isPunctChar, isWhiteSpace
from markdown_it.rules_inline.state_inline import Scanned

_CJK = re.compile(
    "[\u1100-\u11ff\u2e80-\u2fdf\u2ff0-\u303f\u3041-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\ufe30-\ufe4f\uff01-\uffee\U00020000-\U0003ffff]"
)


def is_cjk(char: str) -> bool:
    """Whether a character belongs to such writing, its full-width signs included."""
    return _CJK.match(char) is not None


def flanking(before: str, after: str, count: int, *, can_split_word: bool) -> Scanned:
    """What a run of ``count`` delimiters between two characters may do; a space stands for the ends of a block."""
    sign_before, sign_after = _is_sign(before), _is_sign(after)
    outside_before = isWhiteSpace(ord(before)) or sign_before or is_cjk(before)
    outside_after = isWhiteSpace(ord(after)) or sign_after or is_cjk(after)
    left = not isWhiteSpace(ord(after)) and (not sign_after or outside_before)
    right = not isWhiteSpace(ord(before)) and (not sign_before or outside_after)
    return Scanned(
        left and (can_split_word or not right or _is_punctuation(before)),
        right and (can_split_word or not left or _is_punctuation(after)),
        count,
    )


def _is_punctuation(char: str) -> bool:
    return bool(isMdAsciiPunct(ord(char)) or isPunctChar(char))


def _is_sign(char: str) -> bool:
    return _is_punctuation(char) and not is_cjk(char)
