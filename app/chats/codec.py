"""Figures and provenance of an answer as compact JSON, and back; what cannot be read is left out and logged.

Spans: ``["target",5,3,"draft",4,"recovered",[2," cat"]]`` means tokens of 5 and 3 characters from the target, one of 4
from the draft, and a recovered one of 2 characters in the place of a rejected " cat".
"""

from __future__ import annotations

import dataclasses
import functools
import json
import logging
from collections.abc import Iterable
from typing import Any

from engine.records import Mode, RunStats, Source, TokenSpan

log = logging.getLogger(__name__)

MAX_REJECTED_CHARS = 200  # more of what was not said is not worth keeping
_STATS_FIELDS = {field.name for field in dataclasses.fields(RunStats)}
# Few different ones occur thousands of times.
_span = functools.lru_cache(maxsize=4096)(TokenSpan)
_TUPLES = ("proposed_by_depth", "accepted_by_depth", "decisions")


def spans_to_text(spans: Iterable[TokenSpan]) -> str:
    """Encode provenance; the source is written only where it changes."""
    items: list[str | int | list[int | str]] = []
    source = None
    for span in spans:
        if span.source is not source:
            source = span.source
            items.append(source.value)
        items.append([span.num_chars, span.rejected[:MAX_REJECTED_CHARS]] if span.rejected else span.num_chars)
    return json.dumps(items, separators=(",", ":"))


def spans_from_text(text: str | None) -> tuple[TokenSpan, ...]:
    """Decode provenance; empty where there is none or it cannot be read."""
    if not text:
        return ()
    spans, source = [], Source.TARGET
    try:
        for item in json.loads(text):
            if isinstance(item, str):
                source = Source(item)
            elif isinstance(item, list):
                spans.append(TokenSpan(int(item[0]), source, str(item[1])[:MAX_REJECTED_CHARS]))
            else:
                spans.append(_span(int(item), source))
    except (ValueError, TypeError, IndexError):
        log.warning("The provenance of a stored answer cannot be read and is left out.")
        return ()
    return tuple(spans)


def stats_to_text(stats: RunStats | None) -> str | None:
    """Encode the counters of an answer."""
    if stats is None:
        return None
    # Not asdict: it would deep-copy the mapping's keys for nothing.
    values: dict[str, Any] = {name: getattr(stats, name) for name in sorted(_STATS_FIELDS)}
    values["provenance"] = {source.value: count for source, count in stats.provenance.items()}
    return json.dumps(values, separators=(",", ":"))


def stats_from_text(text: str | None) -> RunStats | None:
    """Decode the counters; keys of another version are passed over."""
    if not text:
        return None
    try:
        values = {key: value for key, value in json.loads(text).items() if key in _STATS_FIELDS}
        for name in _TUPLES:
            if name in values:
                values[name] = tuple(values[name])
        if "mode" in values:
            values["mode"] = Mode(values["mode"])
        counts = values.get("provenance", {})
        values["provenance"] = {Source(key): int(count) for key, count in counts.items()}
        return RunStats(**values)
    except (ValueError, TypeError, AttributeError):
        log.warning("The figures of a stored answer cannot be read and are left out.")
        return None
