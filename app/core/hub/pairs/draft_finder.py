"""Finds models on this computer that can draft for a target, by their headers. Blocks."""

from collections.abc import Callable, Iterable, Iterator

from app.core.domain.models import FileKind
from app.core.hub.pairs.assessment import check_draft, check_vocabularies
from app.core.hub.records import LibraryModel
from app.core.hub.remote_header import KnownModel, read_local_header
from engine.errors import EngineError
from engine.gguf.head_files import head_method
from engine.gguf.token_weights import head_bytes_per_token

LARGEST_SHARE = 0.5  # maximum draft cost / target cost: more expensive drafts gain nothing
_NO_DRAFTS = (FileKind.MMPROJ, FileKind.IMATRIX, FileKind.VOCAB, FileKind.ADAPTER)


def find_drafts(
    target: KnownModel, library: Iterable[LibraryModel], should_stop: Callable[[], bool] = lambda: False
) -> tuple[LibraryModel, ...]:
    """The models that match and are cheap enough: first those with the target's vocabulary, then the cheapest.

    Raises:
        ModelFileError: the target's vocabulary cannot be used, or the search was cancelled.
    """
    known = list(_candidates(target, library))
    heads = [one for one in known if head_method(one[1].header)]
    models = [one for one in known if not head_method(one[1].header)]
    verdicts = [check_draft(target, head, should_stop) for _, head in heads]
    if models:
        verdicts += check_vocabularies(target, [header for _, header in models], should_stop)
    found = []
    for (model, header), verdict in zip((*heads, *models), verdicts, strict=True):
        share = _cost_share(target, header)
        if verdict.matches and (share is None or share <= LARGEST_SHARE):
            found.append(((verdict.coverage is not None, share or 0.0), model))
    found.sort(key=lambda one: one[0])
    return tuple(model for _, model in found)


def _candidates(target: KnownModel, library: Iterable[LibraryModel]) -> Iterator[tuple[LibraryModel, KnownModel]]:
    """The models with readable headers, without the target and copies of it and of each other."""
    seen = {(target.path.name.casefold(), target.size_bytes)} if target.path is not None else set()
    for model in library:
        is_target = target.path is not None and model.path.resolve() == target.path.resolve()
        key = (model.path.name.casefold(), model.size_bytes)
        if is_target or key in seen or model.missing or model.kind in _NO_DRAFTS:
            continue
        seen.add(key)
        try:
            yield model, read_local_header(model.path, may_be_head=True)
        except EngineError:  # it cannot be loaded
            continue


def _cost_share(target: KnownModel, draft: KnownModel) -> float | None:
    """The cost of a drafted token relative to a pass of the target; None if unknown."""
    is_head = bool(head_method(draft.header))
    read = head_bytes_per_token(target.header, draft.header) if is_head else draft.bytes_per_token
    return read / target.bytes_per_token if read is not None and target.bytes_per_token else None
