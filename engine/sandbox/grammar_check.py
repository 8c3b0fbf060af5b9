"""Tests an untrusted grammar in a helper process, since llama.cpp's parser recurses for every parenthesis.

Grammars that `engine.grammar` creates from schemas need no test: llguidance bounds their depth, work and memory.
"""

from __future__ import annotations

import functools
import sys

from engine.errors import GrammarError
from engine.sandbox.helper import HelperTimeoutError, run_helper
from engine.sandbox.limits import limit_memory, limit_time, quiet_crashes, write_no_files
from engine.sentences import i18n

MAX_GRAMMAR_CHARS = 65_536
_LIMIT_S = 20.0  # allows for a slow start on a busy machine
_CPU_LIMIT_S, _MEMORY_BYTES = 10, 2**29
_GOOD, _BAD = b"good", b"bad"


@functools.lru_cache(maxsize=64)
def check_grammar(text: str) -> str:
    """Return ``text`` if llama.cpp can parse it.

    Raises:
        GrammarError: llama.cpp cannot parse it; the message has its reason, if any.
    """
    if not text.strip() or "\0" in text or len(text) > MAX_GRAMMAR_CHARS:
        raise GrammarError(i18n("A grammar must have rules, and {most:,} characters at most.", most=MAX_GRAMMAR_CHARS))
    try:
        ended = run_helper("grammar", data=text.encode("utf-8", "replace"), limit_s=_LIMIT_S)
    except HelperTimeoutError as error:
        raise GrammarError("The grammar could not be read in time.", "Make it simpler.") from error
    if ended.output.strip() == _GOOD:
        return text
    if ended.output.strip() == _BAD:
        raise GrammarError(i18n("The grammar cannot be read: {reason}.", reason=_reason(ended.stderr)))
    raise GrammarError("llama.cpp crashed over this grammar.", "Make it simpler: fewer nested groups.")


def _reason(stderr: str) -> str:
    """The first line with a reason, without quotes from the grammar."""
    for line in stderr.splitlines():
        _, found, reason = line.partition("error parsing grammar: ")
        if found:
            return reason[:200].rstrip(" .")
        if "left recursion" in line:
            return i18n("a rule begins with itself")
    return i18n("it has no rule called root, or names a rule that is missing")


def parse(words: list[str]) -> int:  # noqa: ARG001  (the signature of helpers)
    """The helper: parse a grammar from standard input with llama.cpp, and print a one-word verdict."""
    quiet_crashes()
    limit_time(_CPU_LIMIT_S)
    write_no_files()
    text = sys.stdin.buffer.read()
    from engine.llama import library  # noqa: PLC0415  (the parent need not load it)

    lib = library.start()
    limit_memory(0, _MEMORY_BYTES)
    sampler = lib.llama_sampler_init_grammar(None, text, b"root")
    sys.stdout.buffer.write(_GOOD if sampler else _BAD)
    sys.stdout.flush()
    sys.stderr.write(f"\n{library.last_error()}\n")
    return 0
