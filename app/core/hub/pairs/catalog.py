"""The app's list of recommended pairs, read from `assets/catalog.toml`; an opened pair is compared with the hub.

`app/core/hub/pairs/assessment.py` judges match and fit; `packaging/catalog.py` checks the headers of all pairs.
"""

from __future__ import annotations

import fnmatch
import tomllib
from collections.abc import Container
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from app.core.domain.models import Drafting, FileKind, Gated, RepoModel
from app.core.hub.client import HubClient
from app.core.hub.errors import HubAccessError, HubError, HubNotFoundError, UnsafeNameError
from app.core.hub.file_names import check_repo_id, safe_parts
from app.core.hub.records import RepoDetails
from engine.sentences import i18n, joined

FORMAT = 2
SIZE_TOLERANCE = 0.1  # the catalog's sizes are approximate
CATALOG_FILE = "catalog.toml"  # in the assets
ALONE = (FileKind.MODEL, FileKind.DRAFT)
HEADS = (FileKind.MTP, FileKind.EAGLE, FileKind.DFLASH)
_HAS_DRAFT = {True: "and has a second file all the same", False: "but has no second file"}
_BOTH = i18n("The hub has both models as listed here.")


class MachineClass(StrEnum):
    """The kind of machine that a pair is for."""

    LAPTOP = "laptop"
    DESKTOP = "desktop"
    WORKSTATION = "workstation"


@dataclass(frozen=True, slots=True)
class CatalogModel:
    """One model of a pair. ``file``: a pattern for `fnmatch`. ``size_bytes`` is approximate."""

    repo: str
    file: str
    quantization: str
    licence: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Speedup:
    """A speed-up that others measured on other machines."""

    low: float
    high: float
    source: str
    measured_on: str


@dataclass(frozen=True, slots=True)
class CatalogPair:
    """A recommended target with its drafter; ``draft`` is None without a second file.

    ``family``: the prefix of its targets' names. ``thinks``: the target reasons by default before it answers.
    """

    key: str
    name: str
    family: str
    machine: MachineClass
    good_for: str
    target: CatalogModel
    draft: CatalogModel | None = None
    drafting: Drafting = Drafting.DRAFT_MODEL
    speedup: Speedup | None = None
    verified: bool = False
    thinks: bool = False

    @property
    def models(self) -> tuple[CatalogModel, ...]:
        """The target, and the draft if it has a file."""
        return (self.target,) if self.draft is None else (self.target, self.draft)

    @property
    def size_bytes(self) -> int:
        return sum(model.size_bytes for model in self.models)


class EntryStatus(StrEnum):
    """The result of a check, in order of severity."""

    THERE = "there"
    CHANGED = "changed"
    GATED = "gated"
    UNKNOWN = "unknown"  # the hub did not answer
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class EntryCheck:
    """The result of a check: a sentence, and the models that were found."""

    status: EntryStatus
    sentence: str
    target: RepoModel | None = None
    draft: RepoModel | None = None


class CatalogError(ValueError):
    """The app's catalog is malformed."""


def read_catalog(path: Path) -> tuple[CatalogPair, ...]:
    """Read and check the catalog.

    Raises:
        CatalogError: the file is malformed.
    """
    try:
        table = tomllib.loads(path.read_text("utf-8"))
        if table["format"] != FORMAT:
            raise CatalogError(f"its format is {table['format']}")
        pairs = tuple(_pair(entry) for entry in table["pair"])
    except (OSError, LookupError, TypeError, ValueError, UnsafeNameError) as error:
        raise CatalogError(f"{path.name}: {error}") from error
    keys = [pair.key for pair in pairs]
    if len(set(keys)) != len(keys):
        raise CatalogError(f"{path.name}: two pairs have one key")
    return pairs


def check(pair: CatalogPair, client: HubClient) -> EntryCheck:
    """Compare an entry with the hub."""
    checks = [_check_model(pair.target, ALONE, client)]
    if pair.draft is not None:
        checks.append(_check_model(pair.draft, HEADS if pair.drafting is Drafting.SIDE_FILE else ALONE, client))
    models = [check.target for check in checks]
    bad = [check for check in checks if check.status is not EntryStatus.THERE]
    if not bad:
        words = i18n("The hub has the model as listed here.") if pair.draft is None else _BOTH
        return EntryCheck(EntryStatus.THERE, words, *models)
    worst = max((check.status for check in bad), key=list(EntryStatus).index)
    sentences = dict.fromkeys(check.sentence for check in bad)  # without repetition, if the hub does not answer
    return EntryCheck(worst, joined(sentences), *models)


def _check_model(model: CatalogModel, kinds: Container[FileKind], client: HubClient) -> EntryCheck:
    """Check one model; ``target`` of the result is the found model."""
    try:
        details = client.details(model.repo)
    except HubNotFoundError:
        return EntryCheck(EntryStatus.GONE, i18n("{repo} is no longer on the hub.", repo=model.repo))
    except HubAccessError:
        return EntryCheck(EntryStatus.GATED, _gated_words(model.repo))
    except HubError as error:
        return EntryCheck(EntryStatus.UNKNOWN, i18n("It could not be checked: {reason}", reason=error.message))
    return _compare(model, kinds, details)


def _compare(model: CatalogModel, kinds: Container[FileKind], details: RepoDetails) -> EntryCheck:
    remote = pick(details, model.file, kinds)
    if remote is None:
        return EntryCheck(EntryStatus.GONE, i18n("{repo} no longer holds {file}.", repo=model.repo, file=model.file))
    if notes := _differences(model, details, remote):
        return EntryCheck(EntryStatus.CHANGED, joined(notes), remote)
    if details.summary.gated is not Gated.NO:
        return EntryCheck(EntryStatus.GATED, _gated_words(model.repo), remote)
    return EntryCheck(EntryStatus.THERE, "", remote)


def pick(details: RepoDetails, pattern: str, kinds: Container[FileKind] = ALONE) -> RepoModel | None:
    """The model of these kinds whose first file matches the pattern, for shards also without the shard number."""
    for model in details.models:
        first = model.files[0].path
        names = (first, first.rsplit("/", 1)[-1], f"{model.name}.gguf")
        if model.kind in kinds and any(fnmatch.fnmatchcase(name.lower(), pattern.lower()) for name in names):
            return model
    return None


def _differences(listed: CatalogModel, details: RepoDetails, remote: RepoModel) -> list[str]:
    notes: list[str] = []
    size = remote.size_bytes
    if size is not None and abs(size - listed.size_bytes) > SIZE_TOLERANCE * listed.size_bytes:
        notes.append(
            i18n(
                "{name} is {size:.1f} GB, not {listed:.1f} GB as listed.",
                name=remote.name,
                size=size / 1e9,
                listed=listed.size_bytes / 1e9,
            )
        )
    licence = details.summary.licence
    if licence and licence.lower() != listed.licence:
        notes.append(
            i18n(
                "The licence of {repo} is now {licence}, not {listed} as listed.",
                repo=listed.repo,
                licence=licence,
                listed=listed.licence,
            )
        )
    if remote.missing_shards == 1:
        notes.append(i18n("1 part of {name} is missing on the hub.", name=remote.name))
    elif remote.missing_shards:
        notes.append(
            i18n("{number} parts of {name} are missing on the hub.", number=remote.missing_shards, name=remote.name)
        )
    return notes


def _gated_words(repo: str) -> str:
    return i18n(
        "{repo} is gated: accept its terms on its hub page, and give Paceline an access token.",
        repo=repo,
    )


def _pair(entry: dict[str, Any]) -> CatalogPair:
    speedup, draft = entry.get("speedup"), entry.get("draft")
    drafting = Drafting(entry["drafting"])
    if drafting.needs_file != (draft is not None):
        raise CatalogError(f"{_text(entry, 'key')} drafts by {drafting}, {_HAS_DRAFT[draft is not None]}")
    return CatalogPair(
        key=_text(entry, "key"),
        name=_text(entry, "name"),
        family=_text(entry, "family"),
        machine=MachineClass(entry["machine"]),
        good_for=_text(entry, "good_for"),
        target=_model(entry["target"]),
        draft=_model(draft) if draft is not None else None,
        drafting=drafting,
        speedup=_speedup(speedup) if speedup is not None else None,
        verified=_flag(entry, "verified"),
        thinks=_flag({"thinks": False, **entry}, "thinks"),
    )


def _model(entry: dict[str, Any]) -> CatalogModel:
    size = entry["size_bytes"]
    if not isinstance(size, int) or size <= 0:
        raise CatalogError(f"{size!r} is no size")
    file = _text(entry, "file")
    safe_parts(file.replace("*", "x"))
    repo = check_repo_id(_text(entry, "repo"))
    return CatalogModel(repo, file, _text(entry, "quantization"), _text(entry, "licence"), size)


def _speedup(entry: dict[str, Any]) -> Speedup:
    low, high = float(entry["low"]), float(entry["high"])
    if not 0 < low <= high:
        raise CatalogError(f"{low} to {high} is no range")
    source = _text(entry, "source")
    if not source.startswith("https://"):
        raise CatalogError(f"{source!r} is no source")
    return Speedup(low, high, source, _text(entry, "measured_on"))


def _text(entry: dict[str, Any], key: str) -> str:
    value = entry[key]
    if not isinstance(value, str) or not value.strip():
        raise CatalogError(f"{key} is no text")
    return value


def _flag(entry: dict[str, Any], key: str) -> bool:
    value = entry[key]
    if not isinstance(value, bool):
        raise CatalogError(f"{key} is neither true nor false")
    return value
