"""Holds the catalog against a live hub: what is there, in which bytes, and whether headers say what an entry says.

No weights are fetched: headers come by ranges, and the vocabularies of a pair are compared on stubs of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.core.domain.models import Drafting, RepoModel
from app.core.hub.errors import HubError
from app.core.hub.pairs.assessment import check_draft
from app.core.hub.pairs.catalog import CatalogModel, CatalogPair, EntryStatus, check
from app.core.hub.remote_header import KnownModel, read_remote_header
from app.core.hub.sources import Hub
from engine.errors import EngineError
from engine.gguf.head_files import has_next_token_layers, head_method, num_next_token_layers
from engine.sentences import joined, said

ShouldStop = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class FoundModel:
    """One file as the hub has it. ``sha256`` is empty where the hub gives none, for shards that of the first.

    ``architecture`` to ``num_next_token_layers`` are the header's, empty and 0 where it could not be read;
    ``num_fetched`` is how many bytes that took.
    """

    repo: str
    file: str
    size_bytes: int | None
    sha256: str = ""
    architecture: str = ""
    head: str = ""  # "MTP" or "EAGLE-3", of a head in a file of its own
    num_params: int = 0
    num_next_token_layers: int = 0
    num_fetched: int = 0


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found of one entry. ``drafts_as_listed`` is None where that could not be looked at."""

    key: str
    status: EntryStatus
    sentence: str
    target: FoundModel | None = None
    draft: FoundModel | None = None
    drafts_as_listed: bool | None = None

    @property
    def is_confirmed(self) -> bool:
        """Whether the hub has all of it as listed, and it drafts as listed."""
        return self.status is EntryStatus.THERE and self.drafts_as_listed is True


def verify(pair: CatalogPair, client: Hub, should_stop: ShouldStop = lambda: False) -> Verification:
    """Ask the hub for an entry's files, sizes and licences, then read the headers of those that are there.

    Raises:
        ModelFileError: it was asked to stop.
    """
    entry = check(pair, client)
    sentences = [entry.sentence]
    found: list[FoundModel | None] = [_listed(pair.target, entry.target)]
    found.append(_listed(pair.draft, entry.draft) if pair.draft is not None else None)
    known: list[KnownModel] = []
    as_listed: bool | None = None
    try:
        for number, (listed, remote) in enumerate(((pair.target, entry.target), (pair.draft, entry.draft))):
            if listed is not None and remote is not None:
                header = read_remote_header(
                    client, listed.repo, remote, should_stop=should_stop, may_be_head=number > 0
                )
                known.append(header)
                found[number] = _found(listed, remote, header)
        if len(known) == len(pair.models):
            reason = _why_not(pair, known, should_stop)
            as_listed = not reason
            sentences += [reason] if reason else []
    except (HubError, EngineError) as error:
        if should_stop():
            raise
        sentences.append(error.message)
    return Verification(pair.key, entry.status, joined(sentences), found[0], found[1], as_listed)


def _why_not(pair: CatalogPair, known: list[KnownModel], should_stop: ShouldStop) -> str:
    """What keeps the entry from drafting as it says; empty where nothing does."""
    target = known[0]
    if len(known) > 1:
        return _why_draft_not(pair.drafting, target, known[1], should_stop)
    if pair.drafting is Drafting.HEADS_INSIDE and not has_next_token_layers(target.header):
        return said("{name} has no next-token layers (MTP), though the list says so.", name=target.name)
    return ""


def _why_draft_not(drafting: Drafting, target: KnownModel, draft: KnownModel, should_stop: ShouldStop) -> str:
    is_head = bool(head_method(draft.header))
    if is_head and drafting is not Drafting.SIDE_FILE:
        return said("{name} is a head, not a draft model as listed.", name=draft.name)
    if not is_head and drafting is Drafting.SIDE_FILE:
        return said("{name} is not a head, though the list says so.", name=draft.name)
    verdict = check_draft(target, draft, should_stop)
    if verdict.matches and verdict.speaks is not None:
        return said("{name} has another vocabulary than its target.", name=draft.name)
    return verdict.reason


def _listed(listed: CatalogModel, remote: RepoModel | None) -> FoundModel | None:
    if remote is None:
        return None
    return FoundModel(listed.repo, remote.files[0].path, remote.size_bytes, remote.files[0].sha256)


def _found(listed: CatalogModel, remote: RepoModel, known: KnownModel) -> FoundModel:
    header = known.header
    return FoundModel(
        listed.repo,
        remote.files[0].path,
        remote.size_bytes,
        remote.files[0].sha256,
        header.architecture,
        head_method(header),
        header.num_params,
        num_next_token_layers(header) if has_next_token_layers(header) else 0,
        known.num_fetched,
    )
