"""Handles scripts without spaces between words, in which a word may be anywhere in a run of letters.

Used for Chinese, Japanese, Thai, Lao, Khmer, Burmese, Tibetan; also Korean, whose particles are attached to words.
"""

import re
from collections.abc import Iterable

_LETTERS = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_LETTER = re.compile(f"[{_LETTERS}]")
_BETWEEN = re.compile(f"(?<=[{_LETTERS}])(?=.)|(?<=.)(?=[{_LETTERS}])", re.DOTALL)


def has_unspaced(text: str) -> bool:
    return not text.isascii() and _LETTER.search(text) is not None


def spaced(text: str) -> str:
    """Put spaces around letters of such scripts, so that a word index treats each letter as a word."""
    return _BETWEEN.sub(" ", text) if has_unspaced(text) else text


def any_word_pattern(words: Iterable[str], *, whole: bool = False) -> str:
    """A regular expression that matches any of ``words`` at the beginning of a word (``whole``: as a whole word).

    Words in scripts without spaces also match inside a run of letters.
    """
    longest_first = sorted(words, key=len, reverse=True)
    return "|".join(_with_word_edges(word, whole=whole) for word in longest_first)


def _with_word_edges(word: str, *, whole: bool) -> str:
    before = "" if has_unspaced(word[:1]) else rf"(?:(?<!\w)|(?<=[{_LETTERS}]))"
    behind = "" if not whole or has_unspaced(word[-1:]) else rf"(?:(?!\w)|(?=[{_LETTERS}]))"
    return f"{before}{re.escape(word)}{behind}"
