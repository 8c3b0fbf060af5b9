"""Encodes the columns `spans`, `stats` and `drawn` of an answer, and `call` of a tool call, as compact JSON.

Unreadable values are left out and logged.

Spans: ``["target",5,3,"draft",4,"recovered",[2," cat"]]`` means tokens of 5 and 3 characters from the target, one of 4
from the draft, and a recovered one of 2 characters in place of a rejected " cat". A list may continue with the
probabilities of the pass that the token ended: the characters of each rejected token (0 if there is at most one), the
probability of the token in percent, then p and q of each observed proposed token. After ``[0,"","greedy"]``
passes chose the most likely token, so there are no probabilities. ``[0,"","drawn"]`` ends such a part.
"""

import dataclasses
import functools
import json
import logging
from collections.abc import Iterable, Mapping
from typing import Any

from app.core.domain.seeds import RECORDED_KEYS, SamplingRecord
from app.core.domain.settings.fields import SettingValue
from app.core.domain.settings.layers import valid_values
from app.core.domain.tools.calls import CallStatus, StoredCall
from app.core.storage.json_records import JSON_ERRORS, read_record
from engine.intervals import checked_counts
from engine.records import GREEDY, PassProbabilities, RunStats, Source, TokenSpan
from engine.sentences import from_json, to_json

log = logging.getLogger(__name__)

_SPECULATIVE_ENDS = frozenset({Source.RECOVERED, Source.BONUS})  # tokens of passes with proposals
_GREEDY, _DRAWN = "greedy", "drawn"
_LOW_SHARES, _HIGH_SHARES = 0.4, 99.6  # percents that stand for all probabilities below 1% and above 99%
# A table of all percentages: a long chat has tens of thousands of them.
_SHARES: dict[float | None, float | None] = {None: None} | {
    each: each / 100 for each in (*range(101), _LOW_SHARES, _HIGH_SHARES)
}
MAX_REJECTED_CHARS = 200  # a longer rejected text is cut
# Cached, since equal spans occur thousands of times.
_span = functools.lru_cache(maxsize=4096)(TokenSpan)


# ---- provenance -----------------------------------------------------------------------------------------------------


def spans_to_text(spans: Iterable[TokenSpan]) -> str:
    """Encode provenance; the source is written only when it changes. Probabilities are rounded to a percent."""
    items: list[str | int | list[Any]] = []
    source, greedy = None, False
    for span in spans:
        probabilities = span.probabilities
        if (probabilities is not None and probabilities.greedy) is not greedy and (
            probabilities is not None or span.source in _SPECULATIVE_ENDS
        ):
            greedy = not greedy
            items.append([0, "", _GREEDY if greedy else _DRAWN])
        if span.source is not source:
            source = span.source
            items.append(source.value)
        rejected = span.rejected[:MAX_REJECTED_CHARS]
        if probabilities is not None and (
            not probabilities.greedy or probabilities.rejected_chars or span.source not in _SPECULATIVE_ENDS
        ):
            items.append([span.num_chars, rejected, *_probabilities_to_list(probabilities)])
        else:
            items.append([span.num_chars, rejected] if rejected else span.num_chars)
    return json.dumps(items, separators=(",", ":"))


def spans_from_text(text: str | None) -> tuple[TokenSpan, ...]:
    """Decode provenance; empty if there is none or it is unreadable."""
    if not text:
        return ()
    spans: list[TokenSpan] = []
    source, every = Source.TARGET, None  # ``every`` is `GREEDY` while passes are greedy
    try:
        for item in json.loads(text):
            if isinstance(item, str):
                source = Source(item)
            elif not isinstance(item, list):
                spans.append(_span(int(item), source, "", every if source in _SPECULATIVE_ENDS else None))
            elif item[2:] in ([_GREEDY], [_DRAWN]):
                every = GREEDY if item[2] == _GREEDY else None
            else:
                same = every if source in _SPECULATIVE_ENDS else None
                probabilities = _probabilities_from_list(item[2:], greedy=every is not None) if len(item) > 2 else same
                spans.append(TokenSpan(int(item[0]), source, str(item[1])[:MAX_REJECTED_CHARS], probabilities))
    except JSON_ERRORS:
        log.warning("The provenance of a stored answer cannot be read and is left out.")
        return ()
    return tuple(spans)


def _probabilities_to_list(probabilities: PassProbabilities) -> list[Any]:
    lengths, room = [], MAX_REJECTED_CHARS
    for length in probabilities.rejected_chars:
        room -= length
        if room < 0:
            break
        lengths.append(length)
    if probabilities.greedy:
        return [lengths or 0]
    chances = [_percent(chance) for pair in probabilities.probs for chance in pair]
    return [lengths or 0, _percent(probabilities.last), *chances]


def _probabilities_from_list(values: list[Any], *, greedy: bool) -> PassProbabilities:
    lengths = tuple(int(length) for length in values[0]) if values[0] else ()
    if any(length < 0 for length in lengths):
        raise ValueError("no length")
    if len(values) == 1:
        return PassProbabilities(greedy=greedy, rejected_chars=lengths)
    chances = [_SHARES[value] for value in values[1:]]
    if None in chances[1::2] or len(chances) % 2 == 0:
        raise ValueError("no chance")
    probs: Any = tuple(zip(chances[1::2], chances[2::2], strict=True))  # no p is None here
    return PassProbabilities(probs, chances[0], rejected_chars=lengths)


def _percent(share: float | None) -> float | None:
    """Whole percents, except near 0 and 1, which are displayed differently."""
    if share is None:
        return None
    value = share * 100
    if 0 < value < 1:
        return _LOW_SHARES
    return _HIGH_SHARES if 99 < value < 100 else round(value)


# ---- figures --------------------------------------------------------------------------------------------------------


def stats_to_text(stats: RunStats | None, *, keeps_templates: bool = False) -> str | None:
    """Encode the counters of an answer.

    With ``keeps_templates`` its decisions can be translated later; else they are plain text.
    """
    if stats is None:
        return None
    # Not asdict: it would deep-copy the mapping's keys.
    values: dict[str, Any] = {field.name: getattr(stats, field.name) for field in dataclasses.fields(stats)}
    values["provenance"] = {source.value: count for source, count in stats.provenance.items()}
    if keeps_templates:
        values["decisions"] = [to_json(decision) for decision in stats.decisions]
    return json.dumps(values, separators=(",", ":"))


def stats_from_text(text: str | None) -> RunStats | None:
    """Decode the counters; keys of another version are ignored. None if a value is invalid."""
    if not text:
        return None
    try:
        data = json.loads(text)
        data["decisions"] = [from_json(decision) for decision in data.get("decisions", ())]
        stats: RunStats = read_record(RunStats, data)
        checked_counts(stats.interval_counts)
    except JSON_ERRORS:
        stats = RunStats(proposed_by_depth=(0,))
    if len(stats.proposed_by_depth) == len(stats.accepted_by_depth):
        return stats
    log.warning("The figures of a stored answer cannot be read and are left out.")
    return None


def sampling_to_text(drawn: SamplingRecord | None) -> str:
    """Encode how an answer was sampled; empty if unknown."""
    return "" if drawn is None else json.dumps({"values": dict(drawn.values)}, separators=(",", ":"))


def sampling_from_text(text: str | None) -> SamplingRecord | None:
    """Decode how an answer was sampled; None if that is unknown, unreadable, or out of range."""
    if not text:
        return None
    try:
        values = _recorded_values(tuple(json.loads(text)["values"].items()))
    except JSON_ERRORS:
        values = {}
    if len(values) < len(RECORDED_KEYS):
        log.warning("How a stored answer was drawn cannot be read and is left out.")
        return None
    return SamplingRecord(values)


@functools.lru_cache(maxsize=256)  # the answers of a chat share it
def _recorded_values(items: tuple[tuple[str, SettingValue], ...]) -> Mapping[str, SettingValue]:
    return valid_values(dict(items), RECORDED_KEYS)


# ---- calls of tools -------------------------------------------------------------------------------------------------


def call_to_text(call: StoredCall | None) -> str:
    """Encode a call without its status; empty for none."""
    if call is None:
        return ""
    fields = {"id": call.call_id, "name": call.name, "server": call.server, "arguments": call.arguments}
    more = {key: getattr(call, key) for key in ("title", "cut", "took_ms")}
    return json.dumps({**fields, **{key: value for key, value in more.items() if value}}, ensure_ascii=False)


def call_from_text(text: str | None, status: str) -> StoredCall | None:
    """Decode a call; None if the message is not a call. The fields of an unreadable call are empty."""
    if not status:
        return None
    known = CallStatus(status) if status in tuple(CallStatus) else CallStatus.UNKNOWN
    try:
        data = json.loads(text or "")
        call: StoredCall = read_record(StoredCall, {**data, "call_id": data["id"], "status": known.value})
    except JSON_ERRORS:
        return StoredCall("", "", "", "", known)
    return call


# ---- options of conversations ---------------------------------------------------------------------------------------

MAX_OPTIONS_CHARS = 1_000_000


def options_to_text(values: Mapping[str, Any]) -> str:
    return json.dumps(dict(values), ensure_ascii=False, separators=(",", ":"))


def options_from_text(text: object) -> dict[str, Any]:
    """Decode options. Unreadable options are logged and returned as empty."""
    if not isinstance(text, str) or not text or len(text) > MAX_OPTIONS_CHARS:
        return {}
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        log.warning("The options of a conversation could not be read: %s", error)
        return {}
    return values if isinstance(values, dict) else {}
