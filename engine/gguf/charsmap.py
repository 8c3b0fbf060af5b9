"""The table by which a unigram tokenizer normalises text: checked for every text, before llama.cpp looks into it.

llama.cpp walks it letter by letter and throws where a place is outside of it, which ends the process; so a table that
is broken for one letter passes every trial in which that letter does not occur. Layout (SentencePiece, as llama.cpp
reads it in `llm_tokenizer_ugm_session::normalize_prefix`): the length of an XOR-compressed compact double array in
bytes, its nodes of 32 bits, then the replacements, each ended by a zero byte.
"""

from __future__ import annotations

from engine.gguf.source import broken, check

MAX_BYTES = 4 * 2**20  # the largest known, of XLM-RoBERTa, has 0.3 MB
MAX_DEPTH = 1024  # bytes of the longest text that is replaced as a whole; real tables have 18
_VALUE = 2**31 - 1


def check_charsmap(data: bytes) -> None:
    """Walk through all that a text can reach.

    Raises:
        ModelHeaderError: the sentence says what is wrong.
    """
    import numpy as np  # noqa: PLC0415  (the window's first page checks no tokenizer, and must not wait for this)

    check(len(data) <= MAX_BYTES, "its table of characters has {length:,} bytes", length=len(data))
    num_bytes = int.from_bytes(data[:4], "little") if len(data) >= 4 else len(data)
    check(num_bytes + 4 < len(data), "its table of characters is cut short")
    nodes = np.frombuffer(data, "<u4", num_bytes // 4, 4).astype(np.int64)
    replacements = data[4 + num_bytes :]
    if not len(nodes):
        return
    bases = (nodes >> 10) << ((nodes & (1 << 9)) >> 6)
    # A node says which letter leads to it, so it is known from where: each is an edge behind one place.
    letters = nodes & 0xFF
    edges = ((letters > 0) & (nodes >> 31 == 0)).nonzero()[0]
    edges = edges[(edges ^ letters[edges]).argsort(kind="stable")]
    origins = edges ^ letters[edges]
    seen = np.zeros(len(nodes), dtype=np.bool_)
    here, last_end = bases[:1], replacements.rfind(b"\0")
    for _depth in range(MAX_DEPTH):
        # Any letter may follow, so all that it can lead to has to be inside.
        check(bool((here | 0xFF).max() < len(nodes)), "its table of characters points outside of itself")
        here = here[~seen[here]]
        if not len(here):
            return
        seen[here] = True
        first, last = origins.searchsorted(here), origins.searchsorted(here, side="right")
        counts = last - first
        found = edges[np.repeat(first - (counts.cumsum() - counts), counts) + np.arange(counts.sum())]
        if not len(found):
            return
        here = found ^ bases[found]
        check(bool(here.max() < len(nodes)), "its table of characters points outside of itself")
        places = nodes[here[(nodes[found] >> 8) & 1 == 1]] & _VALUE
        is_ended = not len(places) or bool(places.max() <= last_end)
        check(is_ended, "its table of characters has a replacement without an end")
        here = np.unique(here)
    raise broken("its table of characters has no end")
