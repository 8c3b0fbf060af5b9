"""Cuts a text where it is one run of thousands of letters, signs or spaces.

llama.cpp splits text for many BPE vocabularies with `std::regex`, which calls itself once for each character of a
match: some 25,000 letters without a space end the process on a stack of 8 MB, an eighth of it on one of 1 MB.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

MAX_RUN = 2_000  # characters; no word of any language comes near
_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"  # as llama.cpp's Unicode tables have it
_RUN = re.compile(f"(?<![^{_SPACE}])[^{_SPACE}]{{{MAX_RUN + 1},}}|(?<![{_SPACE}])[{_SPACE}]{{{MAX_RUN + 1},}}")


def without_long_runs(text: str, whole: Collection[str] = ()) -> Iterator[str]:
    """Give the pieces of ``text``, together the same; none of the texts in ``whole`` is cut."""
    begin = 0
    for run in _RUN.finditer(text) if len(text) > MAX_RUN else ():
        for end in range(run.start() + MAX_RUN, run.end(), MAX_RUN):
            place = _before(text, end, whole)
            if place > begin:
                yield text[begin:place]
                begin = place
    yield text[begin:]


def _before(text: str, place: int, whole: Collection[str]) -> int:
    """The nearest place up to ``place`` that lies in none of ``whole``."""
    moved = True
    while moved:
        moved = False
        for each in whole:
            begin = text.find(each, max(0, place - len(each) + 1), place + len(each) - 1)
            if 0 <= begin < place:
                place, moved = begin, True
    return place
