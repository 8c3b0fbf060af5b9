"""The app's list of recommended pairs, read from `assets/catalog.toml`; an opened pair is compared with the hub.

`app/core/hub/pairs/assessment.py` judges match and fit; `packaging/catalog.py` checks the headers of all pairs.
"""

import fnmatch
import tomllib
from collections.abc import Container
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from app.core.domain.models import Drafting, FileKind, Gated, RepoModel
from app.core.hub.client import HubClient
from app.core.hub.errors import HubAccessError, HubError, HubNotFoundError
from app.core.hub.records import RepoDetails
from engine.sentences import i18n, joined

SIZE_TOLERANCE = 0.1  # the catalog's sizes are approximate
CATALOG_FILE = "catalog.toml"  # in the assets
ALONE = (FileKind.MODEL, FileKind.DRAFT)
HEADS = (FileKind.MTP, FileKind.EAGLE, FileKind.DFLASH)
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


@dataclass(frozen=True, slots=True)
class EntryCheck:
    """The comparison of an entry with the hub, and the models that were found.

    ``is_answered``: False if the hub could not be asked for all models.
    """

    sentence: str
    target: RepoModel | None
    draft: RepoModel | None
    is_as_listed: bool
    is_answered: bool


class CatalogError(ValueError):
    """The app's catalog is malformed."""


def read_catalog(path: Path) -> tuple[CatalogPair, ...]:
    """Read the catalog.

    Raises:
        CatalogError: the file is malformed.
    """
    try:
        return tuple(map(_pair, tomllib.loads(path.read_text("utf-8"))["pair"]))
    except (OSError, LookupError, TypeError, ValueError) as error:
        raise CatalogError(f"{path.name}: {error}") from error


def _pair(entry: dict[str, Any]) -> CatalogPair:
    draft, speedup = entry.get("draft"), entry.get("speedup")
    facts = {
        **entry,
        "machine": MachineClass(entry["machine"]),
        "drafting": Drafting(entry["drafting"]),
        "target": CatalogModel(**entry["target"]),
        "draft": CatalogModel(**draft) if draft else None,
        "speedup": Speedup(**speedup) if speedup else None,
    }
    return CatalogPair(**facts)


def check(pair: CatalogPair, client: HubClient) -> EntryCheck:
    """Compare an entry with the hub."""
    notes, found, is_answered = list[str](), list[RepoModel | None](), True
    for model in pair.models:
        kinds = HEADS if model is pair.draft and pair.drafting is Drafting.SIDE_FILE else ALONE
        remote = None
        try:
            details = client.details(model.repo)
        except HubNotFoundError:
            notes.append(i18n("{repo} is no longer on the hub.", repo=model.repo))
        except HubAccessError:
            notes.append(_gated_words(model.repo))
        except HubError as error:
            is_answered = False
            notes.append(i18n("It could not be checked: {reason}", reason=error.message))
        else:
            remote = pick(details, model.file, kinds)
            notes += _differences(model, details, remote)
        found.append(remote)
    words = i18n("The hub has the model as listed here.") if pair.draft is None else _BOTH
    sentence = joined(dict.fromkeys(notes)) if notes else words
    target, draft = (*found, None)[:2]
    return EntryCheck(sentence, target, draft, is_as_listed=not notes, is_answered=is_answered)


def pick(details: RepoDetails, pattern: str, kinds: Container[FileKind] = ALONE) -> RepoModel | None:
    """The model of these kinds whose first file matches the pattern, for shards also without the shard number."""
    for model in details.models:
        first = model.files[0].path
        names = (first, first.rsplit("/", 1)[-1], f"{model.name}.gguf")
        if model.kind in kinds and any(fnmatch.fnmatchcase(name.lower(), pattern.lower()) for name in names):
            return model
    return None


def _differences(listed: CatalogModel, details: RepoDetails, remote: RepoModel | None) -> list[str]:
    if remote is None:
        return [i18n("{repo} no longer holds {file}.", repo=listed.repo, file=listed.file)]
    notes: list[str] = []
    size, licence = remote.size_bytes, details.summary.licence
    if size is not None and abs(size - listed.size_bytes) > SIZE_TOLERANCE * listed.size_bytes:
        sizes = {"size": size / 1e9, "listed": listed.size_bytes / 1e9}
        notes.append(i18n("{name} is {size:.1f} GB, not {listed:.1f} GB as listed.", name=remote.name, **sizes))
    if licence and licence.lower() != listed.licence:
        words = {"repo": listed.repo, "licence": licence, "listed": listed.licence}
        notes.append(i18n("The licence of {repo} is now {licence}, not {listed} as listed.", **words))
    if remote.missing_shards == 1:
        notes.append(i18n("1 part of {name} is missing on the hub.", name=remote.name))
    elif remote.missing_shards:
        number = remote.missing_shards
        notes.append(i18n("{number} parts of {name} are missing on the hub.", number=number, name=remote.name))
    if details.summary.gated is not Gated.NO:
        notes.append(_gated_words(listed.repo))
    return notes


def _gated_words(repo: str) -> str:
    return i18n("{repo} is gated: accept its terms on its hub page, and give Paceline an access token.", repo=repo)
