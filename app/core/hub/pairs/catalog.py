"""The app's list of recommended pairs, read from `assets/catalog.toml`; an opened pair is compared with the hub.

`app/core/hub/pairs/assessment.py` judges match and fit; `packaging/catalog.py` checks the headers of all pairs.
"""

import fnmatch
import tomllib
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.core.domain.models import Drafting, FileKind, RepoModel
from app.core.hub.client import HubClient
from app.core.hub.errors import HubError, HubNotFoundError
from app.core.hub.records import RepoDetails
from engine.sentences import i18n, joined

CATALOG_FILE = "catalog.toml"  # in the assets
ALONE = (FileKind.MODEL, FileKind.DRAFT)
HEADS = (FileKind.MTP, FileKind.EAGLE, FileKind.DFLASH)


@dataclass(frozen=True, slots=True)
class CatalogModel:
    """One model of a pair. ``file``: a pattern for `fnmatch`. ``size_bytes`` is approximate."""

    repo: str
    file: str
    quantization: str
    licence: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class CatalogPair:
    """A recommended target with its drafter; ``draft`` is None without a second file.

    ``family``: the prefix of its targets' names. ``thinks``: the target reasons by default before it answers.
    """

    key: str
    name: str
    family: str
    good_for: str
    target: CatalogModel
    draft: CatalogModel | None = None
    drafting: Drafting = Drafting.DRAFT_MODEL
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
    """The models of an entry that the hub has. ``sentence``: what is missing or unknown, else empty.

    ``is_answered``: False if the hub could not be asked for all models.
    """

    sentence: str
    target: RepoModel | None
    draft: RepoModel | None
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
    draft = entry.get("draft")
    facts = {
        **entry,
        "drafting": Drafting(entry["drafting"]),
        "target": CatalogModel(**entry["target"]),
        "draft": CatalogModel(**draft) if draft else None,
    }
    return CatalogPair(**facts)


def check(pair: CatalogPair, client: HubClient) -> EntryCheck:
    """Look for the files of an entry on the hub."""
    notes, found, is_answered = list[str](), list[RepoModel | None](), True
    for model in pair.models:
        kinds = HEADS if model is pair.draft and pair.drafting is Drafting.SIDE_FILE else ALONE
        remote = None
        try:
            remote = pick(client.details(model.repo), model.file, kinds)
            if remote is None:
                notes.append(i18n("{repo} no longer holds {file}.", repo=model.repo, file=model.file))
        except HubNotFoundError:
            notes.append(i18n("{repo} is no longer on the hub.", repo=model.repo))
        except HubError as error:
            is_answered = False
            notes.append(i18n("It could not be checked: {reason}", reason=error.message))
        found.append(remote)
    target, draft = (*found, None)[:2]
    return EntryCheck(joined(dict.fromkeys(notes)), target, draft, is_answered)


def pick(details: RepoDetails, pattern: str, kinds: Container[FileKind] = ALONE) -> RepoModel | None:
    """The model of these kinds whose first file matches the pattern, for shards also without the shard number."""
    for model in details.models:
        first = model.files[0].path
        names = (first, first.rsplit("/", 1)[-1], f"{model.name}.gguf")
        if model.kind in kinds and any(fnmatch.fnmatchcase(name.lower(), pattern.lower()) for name in names):
            return model
    return None
