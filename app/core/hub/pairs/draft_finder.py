"""Finds drafts for a target: on this machine, then among the drafts of recommended pairs.

Every rejected candidate has a reason, and an empty result an explanation. Calls block (network, disk).
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from app.core.domain.models import (
    DraftCandidate,
    Drafting,
    DraftList,
    DraftOrigin,
    FileKind,
    RepoModel,
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
    head_method,
    num_next_token_layers,
    own_heads_sentence,
)
from engine.gguf.token_weights import head_bytes_per_token
from engine.sandbox.probe import PairVerdict
from engine.sentences import i18n, joined

LARGEST_SHARE = 0.5  # maximum draft cost / target cost: more expensive drafts gain nothing
_LETTERS = re.compile(r"[^a-z0-9]")
BELONGS = i18n("By its file header, this head matches the target.")
_KINDS = {
    FileKind.MMPROJ: i18n("the image or sound part of another model"),
    FileKind.IMATRIX: i18n("a table for quantizing another model"),
    FileKind.VOCAB: i18n("a vocabulary without weights"),
    FileKind.ADAPTER: i18n("an adapter (LoRA) for another model"),
}


Known = Sequence[tuple[DraftCandidate, KnownModel]]


def find_drafts(
    target: KnownModel,
    library: Iterable[LibraryModel],
    catalog: Iterable[CatalogPair] = (),
    hub: HubClient | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    on_progress: Callable[[DraftList], None] = lambda _found: None,
) -> DraftList:
    """Search both sources; ``on_progress`` gets the result of the first. Without ``hub`` only this machine.

    Raises:
        ModelFileError: the target's vocabulary cannot be used, or the search was cancelled.
    """
    search = _Search(target, should_stop)
    search.judge(search.local_models(library))
    if hub is not None:
        on_progress(search.result())
        search.judge(search.listed_models(catalog, hub))
    return search.result()


class _Search:
    """A search for one target, with the judged candidates."""

    def __init__(self, target: KnownModel, should_stop: Callable[[], bool]) -> None:
        self._target, self._should_stop = target, should_stop
        self._judged: list[DraftCandidate] = []

    def _reject(self, candidate: DraftCandidate, reason: str, match: VocabularyMatch = VocabularyMatch.NO) -> None:
        self._judged.append(replace(candidate, reason=reason, match=match))

    def _record_error(self, candidate: DraftCandidate, error: HubError) -> None:
        """Record an error of the hub: a missing candidate is rejected, others are unchecked."""
        is_missing = isinstance(error, HubNotFoundError)
        self._reject(candidate, error.message, VocabularyMatch.NO if is_missing else VocabularyMatch.UNCHECKED)

    # ---- the two sources -----------------------------------------------------------------------------------------

    def local_models(self, library: Iterable[LibraryModel]) -> Known:
        """The local models with readable headers."""
        known: list[tuple[DraftCandidate, KnownModel]] = []
        for model in library:
            if self._target.path is not None and model.path.resolve() == self._target.path.resolve():
                continue
            candidate = DraftCandidate(
                model.name, DraftOrigin.HERE, path=model.path, quantization=model.quantization,
                size_bytes=model.size_bytes,
            )  # fmt: skip
            if model.missing:
                self._reject(candidate, i18n("Its file has been moved or deleted."), VocabularyMatch.UNCHECKED)
            elif model.kind in _KINDS:
                self._reject(candidate, i18n("It is {kind}.", kind=_KINDS[model.kind]))
            else:
                try:
                    known.append((candidate, read_local_header(model.path, may_be_head=True)))
                except EngineError as error:
                    self._reject(candidate, error.message)
        return known

    def listed_models(self, catalog: Iterable[CatalogPair], hub: HubClient) -> Known:
        """The drafts of recommended pairs of the target's family."""
        listed = {
            (pair.draft.repo, pair.draft.file): (pair.draft, pair.drafting)
            for pair in catalog
            if pair.draft is not None and _is_family(self._target, pair)
        }
        known: list[tuple[DraftCandidate, KnownModel]] = []
        for draft, drafting in listed.values():
            candidate = DraftCandidate(
                draft.repo.partition("/")[2], DraftOrigin.RECOMMENDED, repo_id=draft.repo, file=draft.file,
                quantization=draft.quantization, size_bytes=draft.size_bytes,
            )  # fmt: skip
            try:
                model = pick(hub.details(draft.repo), draft.file, HEADS if drafting is Drafting.SIDE_FILE else ALONE)
            except HubError as error:
                self._record_error(candidate, error)
                continue
            if model is None:
                words = i18n("The hub no longer has {file} in {repo}.", file=draft.file, repo=draft.repo)
                self._reject(candidate, words)
            else:
                known += self._read(hub, candidate, model)
        return known

    def _read(self, hub: HubClient, candidate: DraftCandidate, model: RepoModel) -> Known:
        candidate = replace(
            candidate,
            name=model.name,
            file=model.files[0].path,
            quantization=model.quantization or candidate.quantization,
            size_bytes=model.size_bytes or candidate.size_bytes,
        )
        try:
            stop = self._should_stop
            header = read_remote_header(hub, candidate.repo_id, model, should_stop=stop, may_be_head=True)
        except HubError as error:
            self._record_error(candidate, error)
        except EngineError as error:
            self._reject(candidate, error.message)
        else:
            return ((candidate, header),)
        return ()

    # ---- verdicts ------------------------------------------------------------------------------------------------

    def judge(self, known: Known) -> None:
        """Compare headers and vocabularies.

        Raises:
            ModelFileError: the target's vocabulary cannot be used, or the search was cancelled.
        """
        heads = [one for one in known if head_method(one[1].header)]
        models = [one for one in known if not head_method(one[1].header)]
        verdicts = [check_draft(self._target, head, self._should_stop) for _, head in heads]
        if models:
            verdicts += check_vocabularies(self._target, [model for _, model in models], self._should_stop)
        for (candidate, model), verdict in zip((*heads, *models), verdicts, strict=True):
            share, head = _cost_share(self._target, model), head_method(model.header)
            self._judged.append(_verdict(replace(candidate, cost_share=share, head=head), verdict))

    def result(self) -> DraftList:
        target, order = self._target, list(DraftOrigin)
        judged = _distinct(target, self._judged)
        judged.sort(key=lambda one: (one.coverage is not None, order.index(one.place), one.cost_share or 0.0))
        matching = [one for one in judged if one.matches]
        rejected, unchecked = (
            sorted((one for one in judged if one.match is match), key=lambda one: order.index(one.place))
            for match in (VocabularyMatch.NO, VocabularyMatch.UNCHECKED)
        )
        words = [own_heads_sentence(target.header, target.name)] if num_next_token_layers(target.header) else []
        if everything := len(matching) + len(rejected):
            number = len(matching)
            words.append(
                i18n("{number} of {all} can draft for {target}.", number=number, all=everything, target=target.name)
            )
        elif not unchecked:
            none = i18n("There is no other model on this computer that could draft for {target}.", target=target.name)
            words.append(none)
        if not matching:
            words.append(i18n("The n-gram mode needs no draft."))
        if unchecked:
            words.append(i18n("Could not be checked: {number}; see the reasons.", number=len(unchecked)))
        return DraftList(rows=(*matching, *unchecked, *rejected), words=joined(words))


def _cost_share(target: KnownModel, draft: KnownModel) -> float | None:
    """The cost of a drafted token relative to a pass of the target; None if unknown."""
    is_head = bool(head_method(draft.header))
    read = head_bytes_per_token(target.header, draft.header) if is_head else draft.bytes_per_token
    return read / target.bytes_per_token if read is not None and target.bytes_per_token else None


def _verdict(candidate: DraftCandidate, verdict: PairVerdict) -> DraftCandidate:
    share = candidate.cost_share
    if not verdict.matches:
        return replace(candidate, reason=verdict.reason)
    if share is not None and share > LARGEST_SHARE:
        reason = i18n("It matches, but it is too large for this target to make it faster.")
        return replace(candidate, reason=reason)
    if verdict.coverage is not None:
        words = vocabulary_sentence(verdict.coverage, is_listed=True)
        return replace(candidate, match=VocabularyMatch.TRANSLATED, reason=words, coverage=verdict.coverage)
    return replace(candidate, match=VocabularyMatch.YES, reason=BELONGS if candidate.head else "")


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
