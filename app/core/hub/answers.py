"""From a hub's JSON to records: every field is checked, nothing is believed.

A field that is missing, of a wrong type or absurd is left out; an answer that is no answer at all is an error.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

from app.core.domain.models import RepoFile
from app.core.hub.errors import HubAnswerError, UnsafeNameError
from app.core.hub.file_names import check_repo_id, group_models, is_gguf, quantization_of, safe_parts
from app.core.hub.records import Gated, RepoDetails, RepoSummary
from engine.sentences import said

MAX_REPOS = 1000
MAX_FILES = 20_000
MAX_TAGS = 500
MAX_TEXT_CHARS = 120
MAX_COUNT = 1 << 62
README = "README.md"

_HEX = frozenset("0123456789abcdef")
_YAML_HEAD = re.compile(r"\A\ufeff?---[ \t]*\r?\n.*?^---[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE)


def parse(body: bytes) -> object:
    """Read JSON from a stranger.

    Raises:
        HubAnswerError: it is none, or nested without end.
    """
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise HubAnswerError("The hub sent something that is not JSON.") from error


def summaries_of(answer: object, limit: int) -> tuple[RepoSummary, ...]:
    """Read the answer to a search; entries that name no repository are left out.

    Raises:
        HubAnswerError: it is no list.
    """
    if not isinstance(answer, list):
        raise HubAnswerError("The hub's answer to the search is not a list.")
    found = (summary_of(entry) for entry in answer[:MAX_REPOS])
    return tuple(summary for summary in found if summary is not None)[:limit]


def summary_of(entry: object) -> RepoSummary | None:
    """Read one repository; None where it has no usable name."""
    if not isinstance(entry, dict):
        return None
    try:
        repo_id = check_repo_id(_text(entry.get("id")) or _text(entry.get("modelId")))
    except UnsafeNameError:
        return None
    tags = _texts(entry.get("tags"))
    gguf = _table(entry.get("gguf"))
    names = [path for path in _paths(entry.get("siblings")) if is_gguf(path)]
    return RepoSummary(
        repo_id=repo_id,
        downloads=_count(entry.get("downloads")),
        updated=_moment(entry.get("lastModified")),
        gated=_gated(entry.get("gated")),
        licence=_licence(entry, tags),
        architecture=_text(gguf.get("architecture")),
        num_parameters=_count(gguf.get("total")) or None,
        context_length=_count(gguf.get("context_length")) or None,
        quantizations=tuple(dict.fromkeys(filter(None, map(quantization_of, names)))),
    )


def details_of(answer: object, repo_id: str) -> RepoDetails:
    """Read one repository with its files. Files with a name that is no plain path count, but are not offered.

    Raises:
        HubAnswerError: it is no repository, or another one's name has no meaning as a repository.
    """
    summary = summary_of(answer)
    if summary is None or not isinstance(answer, dict):
        raise HubAnswerError(said("The hub's answer about {repo_id} does not describe a repository.", repo_id=repo_id))
    files = _files(answer.get("siblings"))
    models = group_models(files)
    commit = _text(answer.get("sha")).lower()
    return RepoDetails(
        summary=summary,
        commit=commit if len(commit) == 40 and set(commit) <= _HEX else "",
        models=models,
        has_readme=any(file.path == README for file in files),
    )


def readme_text(body: bytes) -> str:
    """Read a README's Markdown, without the YAML head that only machines read."""
    return _YAML_HEAD.sub("", body.decode("utf-8-sig", "replace"), count=1).replace("\0", "")


def _files(siblings: object) -> list[RepoFile]:
    found: dict[str, RepoFile] = {}
    for entry in siblings[:MAX_FILES] if isinstance(siblings, list) else ():
        if not isinstance(entry, dict) or not isinstance(entry.get("rfilename"), str):
            continue
        path = entry["rfilename"]
        try:
            safe_parts(path)
        except UnsafeNameError:
            continue
        lfs = _table(entry.get("lfs"))
        digest = _text(lfs.get("sha256") or lfs.get("oid")).lower()
        sha256 = digest if len(digest) == 64 and set(digest) <= _HEX else ""
        size = _count(lfs.get("size"))
        found.setdefault(path, RepoFile(path, _count(entry.get("size")) if size is None else size, sha256))
    return list(found.values())


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _paths(siblings: object) -> list[str]:
    return [file.path for file in _files(siblings)]


def _text(value: object) -> str:
    """A short text without control characters; empty for anything else."""
    if not isinstance(value, str) or len(value) > MAX_TEXT_CHARS:
        return ""
    return value if value.isprintable() else ""


def _texts(value: object) -> list[str]:
    entries = value if isinstance(value, list) else [value]
    return [text for text in map(_text, entries[:MAX_TAGS]) if text]


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_COUNT:  # NaN is not
        return None
    return int(value) if value == int(value) else None


def _moment(value: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(_text(value))
    except ValueError:
        return None
    if not 1970 <= moment.year < 2200:  # some clock on this earth could not tell it
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _gated(value: object) -> Gated:
    if value is True:
        return Gated.MANUAL
    return next((gated for gated in Gated if gated == value), Gated.NO)


def _licence(entry: dict[str, Any], tags: list[str]) -> str:
    card = _table(entry.get("cardData"))
    named = _texts(card.get("license")) or [tag.removeprefix("license:") for tag in tags if tag.startswith("license:")]
    return (_text(card.get("license_name")) if named[:1] == ["other"] else "") or (named[0] if named else "")
