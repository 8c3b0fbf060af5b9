"""Finds drafts for a target: on this machine, in the catalog, then by a search of the hub.

Every rejected candidate has a reason, and an empty result an explanation. Calls block (network, disk).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from app.core.domain.models import (
    DraftCandidate,
    Drafting,
    DraftOrigin,
    FileKind,
    Gated,
    RepoModel,
    RepoSummary,
    VocabularyMatch,
)
from app.core.hub.client import HubClient
from app.core.hub.errors import HubError, HubNotFoundError
from app.core.hub.pairs.assessment import check_draft, check_vocabularies
from app.core.hub.pairs.catalog import ALONE, HEADS, CatalogPair, pick
from app.core.hub.records import LibraryModel
from app.core.hub.remote_header import KnownModel, read_local_header, read_remote_header
from engine.drafters.translation.comparison import vocabulary_sentence
from engine.errors import EngineError
from engine.gguf.head_files import (
    HEAD_ARCHITECTURES,
    head_method,
    num_next_token_layers,
    own_heads_sentence,
)
from engine.gguf.token_weights import head_weights
from engine.sandbox.probe import PairVerdict
from engine.sentences import Sentence, joined, said

LARGEST_SHARE = 0.5  # maximum draft cost / target cost: more expensive drafts gain nothing
LARGEST_HUB_SHARE = 0.12  # the same limit for drafts of the hub; about a tenth is ideal
MAX_FOUND = 30  # maximum number of search results
MAX_ASKED = 5  # maximum number of repositories whose headers are read
_PREFERRED = ("Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "Q4_0", "Q4_K_S")
_SIZE_WORD = re.compile(r"[-_ .]?\d+(?:\.\d+)?[xe]?\d*[bm]\b.*", re.IGNORECASE)
_LETTERS = re.compile(r"[^a-z0-9]")
BELONGS = said("By its file header, this head matches the target.")
_NO_DRAFT_NEEDED = said("The n-gram mode needs no draft.")
_KINDS = {
    FileKind.MMPROJ: said("the image or sound part of another model"),
    FileKind.IMATRIX: said("a table for quantizing another model"),
    FileKind.VOCAB: said("a vocabulary without weights"),
    FileKind.ADAPTER: said("an adapter (LoRA) for another model"),
}


@dataclass(frozen=True, slots=True)
class DraftSearch:
    """The result so far: matching drafts (best first), unchecked and rejected ones; and a summary, never empty."""

    rows: tuple[DraftCandidate, ...]
    words: str

    @property
    def matching(self) -> tuple[DraftCandidate, ...]:
        return tuple(row for row in self.rows if row.matches)

    @property
    def rejected(self) -> tuple[DraftCandidate, ...]:
        return tuple(row for row in self.rows if row.match is VocabularyMatch.NO)

    @property
    def unchecked(self) -> tuple[DraftCandidate, ...]:
        return tuple(row for row in self.rows if row.match is VocabularyMatch.UNCHECKED)


@dataclass(frozen=True, slots=True)
class DraftSources:
    """Where to search. ``hub`` None (offline): only on this machine."""

    library: Sequence[LibraryModel]
    catalog: Sequence[CatalogPair] = ()
    hub: HubClient | None = None


@dataclass(slots=True)
class _Findings:
    judged: list[DraftCandidate] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def reject(self, candidate: DraftCandidate, reason: str) -> None:
        self.judged.append(replace(candidate, reason=reason))

    def mark_unchecked(self, candidate: DraftCandidate, reason: str) -> None:
        """Record a candidate that could not be checked; it may still be suitable."""
        self.judged.append(replace(candidate, reason=reason, match=VocabularyMatch.UNCHECKED))

    def record_error(self, candidate: DraftCandidate, error: HubError) -> None:
        """Record an error of the hub: a missing candidate is rejected, others are unchecked."""
        (self.reject if isinstance(error, HubNotFoundError) else self.mark_unchecked)(candidate, error.message)


Progress = Callable[[DraftSearch], None]


def find_drafts(
    target: KnownModel,
    sources: DraftSources,
    should_stop: Callable[[], bool] = lambda: False,
    on_progress: Progress = lambda _search: None,
) -> DraftSearch:
    """Search all sources, in order; ``on_progress`` gets the result after each.

    Raises:
        ModelFileError: the target's vocabulary cannot be used, or the search was cancelled.
    """
    found = _Findings()
    here = _local_models(target, sources.library, found)
    family = family_of(target)
    likely = [one for one in here if family_of(one[1]) == family]  # check these first: comparing vocabularies is slow
    if likely and len(likely) < len(here):
        _judge(target, likely, found, should_stop)
        on_progress(_result(target, found, said("Still looking.")))
        here = [one for one in here if one not in likely]
    _judge(target, here, found, should_stop)
    on_progress(_result(target, found, said("Still looking.")))
    if sources.hub is None:
        found.notes.append(said("The hub was not asked."))
    else:
        _search_catalog(target, sources, found, should_stop)
        on_progress(_result(target, found, said("Still looking.")))
        _search_hub(target, sources.hub, found, should_stop)
    return _result(target, found)


def family_of(target: KnownModel) -> str:
    """The common prefix of the names in the target's family, for a search: "Qwen2.5"."""
    for key in ("general.basename", "general.name"):
        value = target.header.metadata.get(key)
        if isinstance(value, str) and value.strip():
            short = _SIZE_WORD.sub("", value.strip()).strip(" -_")
            return (short or value.strip())[:60]
    return _SIZE_WORD.sub("", target.name).strip(" -_")[:60] or target.header.architecture


# ---- the three places --------------------------------------------------------------------------------------------


def _local_models(
    target: KnownModel, library: Iterable[LibraryModel], found: _Findings
) -> list[tuple[DraftCandidate, KnownModel]]:
    """The local models with readable headers; unreadable ones are recorded in ``found``."""
    known: list[tuple[DraftCandidate, KnownModel]] = []
    for model in library:
        if target.path is not None and model.path.resolve() == target.path.resolve():
            continue
        candidate = DraftCandidate(
            model.name,
            DraftOrigin.HERE,
            path=model.path,
            quantization=model.quantization,
            size_bytes=model.size_bytes,
        )
        if model.missing:
            found.mark_unchecked(candidate, said("Its file has been moved or deleted."))
        elif model.kind in _KINDS:
            found.reject(candidate, said("It is {kind}.", kind=_KINDS[model.kind]))
        else:
            try:
                known.append((candidate, read_local_header(model.path, may_be_head=True)))
            except EngineError as error:
                found.reject(candidate, error.message)
    return known


def _search_catalog(
    target: KnownModel, sources: DraftSources, found: _Findings, should_stop: Callable[[], bool]
) -> None:
    hub = sources.hub
    listed = {
        (pair.draft.repo, pair.draft.file): (pair.draft, pair.drafting)
        for pair in sources.catalog
        if pair.draft is not None and _is_family(target, pair)
    }
    known: list[tuple[DraftCandidate, KnownModel]] = []
    for draft, drafting in listed.values() if hub else ():
        candidate = DraftCandidate(
            draft.repo.partition("/")[2], DraftOrigin.RECOMMENDED, repo_id=draft.repo, file=draft.file,
            quantization=draft.quantization, size_bytes=draft.size_bytes,
        )  # fmt: skip
        try:
            kinds = HEADS if drafting is Drafting.SIDE_FILE else ALONE
            model = pick(hub.details(draft.repo), draft.file, kinds) if hub else None
        except HubError as error:
            found.record_error(candidate, error)
            continue
        if model is None:
            found.reject(candidate, said("The hub no longer has {file} in {repo}.", file=draft.file, repo=draft.repo))
        elif hub is not None:
            _read(hub, candidate, model, known, found, should_stop)
    _judge(target, known, found, should_stop)


def _search_hub(target: KnownModel, hub: HubClient, found: _Findings, should_stop: Callable[[], bool]) -> None:
    family = family_of(target)
    try:
        summaries = hub.search(family, limit=MAX_FOUND)
    except HubError as error:
        found.notes.append(said("The hub could not be searched: {reason}", reason=error.message))
        return
    seen = {candidate.repo_id for candidate in found.judged}
    known: list[tuple[DraftCandidate, KnownModel]] = []
    asked = 0
    for summary in summaries:
        if summary.repo_id in seen:
            continue
        candidate = DraftCandidate(summary.repo_id.partition("/")[2], DraftOrigin.HUB, repo_id=summary.repo_id)
        reason = _why_not(target, summary)
        if reason:
            found.reject(candidate, reason)
        elif summary.gated is not Gated.NO:
            found.mark_unchecked(candidate, said("It is gated: accept the terms on its hub page."))
        elif asked < MAX_ASKED:
            asked += 1
            _choose(target, hub, candidate, known, found, should_stop)
    found.notes.append(_search_words(family, len(summaries), asked))
    _judge(target, known, found, should_stop)


def _search_words(family: str, number: int, asked: int) -> str:
    if number == 1:
        return said(
            "The hub was searched for “{family}”: 1 repository, {asked} checked in detail.", family=family, asked=asked
        )
    return said(
        "The hub was searched for “{family}”: {number:,} repositories, {asked} checked in detail.",
        family=family,
        number=number,
        asked=asked,
    )


def _why_not(target: KnownModel, summary: RepoSummary) -> str:
    """Why a repository is unsuitable, by its search result; empty if it may be suitable."""
    if summary.architecture not in ("", *HEAD_ARCHITECTURES, target.header.architecture):
        return said(
            "Its architecture is {own}, the target's is {other}.",
            own=summary.architecture,
            other=target.header.architecture,
        )
    number, limit = summary.num_parameters, round(LARGEST_HUB_SHARE * _num_params(target))
    if number is not None and number > limit:
        return said(
            "It has {number:.1f} billion weights; a draft for this target should have {limit:.1f} at most.",
            number=number / 1e9,
            limit=limit / 1e9,
        )
    return ""


def _choose(
    target: KnownModel,
    hub: HubClient,
    candidate: DraftCandidate,
    known: list[tuple[DraftCandidate, KnownModel]],
    found: _Findings,
    should_stop: Callable[[], bool],
) -> None:
    """Choose the most suitable file of a repository and read its header."""
    try:
        details = hub.details(candidate.repo_id)
    except HubError as error:
        found.record_error(candidate, error)
        return
    models = [model for model in details.models if model.kind not in _KINDS and not model.missing_shards]
    small = [model for model in models if (model.size_bytes or 0) <= LARGEST_HUB_SHARE * 2 * target.size_bytes]
    if not small:
        found.reject(
            candidate, said("It contains no model that is small enough.") if models else said("It contains no model.")
        )
        return
    rank = {name: number for number, name in enumerate(_PREFERRED)}
    best = min(small, key=lambda model: (rank.get(model.quantization, len(rank)), model.size_bytes or 0))
    _read(hub, candidate, best, known, found, should_stop)


def _read(
    hub: HubClient,
    candidate: DraftCandidate,
    model: RepoModel,
    known: list[tuple[DraftCandidate, KnownModel]],
    found: _Findings,
    should_stop: Callable[[], bool],
) -> None:
    candidate = replace(
        candidate,
        name=model.name,
        file=model.files[0].path,
        quantization=model.quantization or candidate.quantization,
        size_bytes=model.size_bytes or candidate.size_bytes,
    )
    try:
        header = read_remote_header(hub, candidate.repo_id, model, should_stop=should_stop, may_be_head=True)
        known.append((candidate, header))
    except HubError as error:
        found.record_error(candidate, error)
    except EngineError as error:
        found.reject(candidate, error.message)


# ---- verdicts ----------------------------------------------------------------------------------------------------


def _judge(
    target: KnownModel,
    known: Sequence[tuple[DraftCandidate, KnownModel]],
    found: _Findings,
    should_stop: Callable[[], bool],
) -> None:
    heads = [one for one in known if head_method(one[1].header)]
    models = [one for one in known if not head_method(one[1].header)]
    verdicts = [check_draft(target, head, should_stop) for _, head in heads]
    if models:
        verdicts += check_vocabularies(target, [model for _, model in models], should_stop)
    for (candidate, model), verdict in zip((*heads, *models), verdicts, strict=True):
        judged = replace(candidate, cost_share=_cost_share(target, model), head=head_method(model.header))
        found.judged.append(_verdict(judged, verdict))


def _cost_share(target: KnownModel, draft: KnownModel) -> float | None:
    """The cost of a drafted token relative to a pass of the target; None if unknown."""
    read: int | None = draft.bytes_per_token
    if head_method(draft.header):
        weights = head_weights(target.header, draft.header)
        read = weights.num_bytes if weights is not None else None
    return read / target.bytes_per_token if read is not None and target.bytes_per_token else None


def _verdict(candidate: DraftCandidate, verdict: PairVerdict) -> DraftCandidate:
    share = candidate.cost_share
    if not verdict.matches:
        return replace(candidate, reason=verdict.reason)
    if share is not None and share > LARGEST_SHARE:
        reason = said("It matches, but it is too large for this target to make it faster.")
        return replace(candidate, reason=reason)
    if verdict.coverage is not None:
        words = vocabulary_sentence(verdict.coverage, is_listed=True)
        return replace(candidate, match=VocabularyMatch.TRANSLATED, reason=words, coverage=verdict.coverage)
    return replace(candidate, match=VocabularyMatch.YES, reason=BELONGS if candidate.head else "")


def _result(target: KnownModel, found: _Findings, more: str = "") -> DraftSearch:
    order, judged = list(DraftOrigin), _distinct(target, found.judged)
    matching = sorted(
        (one for one in judged if one.matches),
        key=lambda one: (one.coverage is not None, order.index(one.place), one.cost_share or 0.0),
    )
    others = sorted((one for one in judged if not one.matches), key=lambda one: order.index(one.place))
    rejected = [one for one in others if one.match is VocabularyMatch.NO]
    unchecked = [one for one in others if one.match is VocabularyMatch.UNCHECKED]
    if matching:
        head = [
            said(
                "{number} of {all} can draft for {target}.",
                number=len(matching),
                all=len(matching) + len(rejected),
                target=target.name,
            )
        ]
    elif rejected:
        none = _none_of(len(rejected), target.name)
        head = [none, _NO_DRAFT_NEEDED]
    elif unchecked:
        head = [said("No model that could be checked can draft for {target}.", target=target.name), _NO_DRAFT_NEEDED]
    else:
        none = said("There is no other model on this computer that could draft for {target}.", target=target.name)
        head = [none, _NO_DRAFT_NEEDED]
    own = [own_heads_sentence(target.header, target.name)] if num_next_token_layers(target.header) else []
    left = [_unchecked_words(len(unchecked))] if unchecked else []
    words = joined([*own, *head, *left, *found.notes, more])
    return DraftSearch((*matching, *unchecked, *rejected), words)


def _distinct(target: KnownModel, judged: Iterable[DraftCandidate]) -> list[DraftCandidate]:
    """Leave out copies of the target, and files that an earlier source had with the same name and size."""
    seen: set[tuple[str, int | None]] = set()
    if target.path is not None:
        seen.add((target.path.name.casefold(), target.size_bytes))
    kept = []
    for one in judged:
        name = one.path.name if one.path is not None else one.file.rpartition("/")[2]
        key = (name.casefold(), one.size_bytes)
        if not name or key not in seen:
            kept.append(one)
        seen.add(key)
    return kept


def _is_family(target: KnownModel, pair: CatalogPair) -> bool:
    """True if the target's name begins with the family's, or contains it: "Qwen2.5-7B-Instruct" for "Qwen2.5"."""
    names = [target.name, *(target.header.metadata.get(key) for key in ("general.basename", "general.name"))]
    wanted = _LETTERS.sub("", pair.family.lower())
    return any(wanted in _LETTERS.sub("", name.lower()) for name in names if isinstance(name, str))


def _num_params(target: KnownModel) -> float:
    """The number of the target's weights that a token uses."""
    if not target.header.weights_bytes:
        return float(target.size_bytes)
    per_byte = target.header.num_params / target.header.weights_bytes
    return per_byte * target.bytes_per_token


def _unchecked_words(number: int) -> Sentence:
    if number == 1:
        return said("1 could not be checked; see the reason.")
    return said("{number} could not be checked; see the reason for each.", number=number)


def _none_of(number: int, target: str) -> Sentence:
    if number == 1:
        return said("The only one found cannot draft for {target}; see the reason.", target=target)
    return said("None of {number} can draft for {target}; see the reason for each.", number=number, target=target)
