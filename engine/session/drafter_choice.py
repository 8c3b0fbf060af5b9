"""Opens drafts, and chooses the drafter of a mode; its text index is kept between answers."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from weakref import ref

from engine.drafters.base import Drafter, NoDrafter
from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.suffix.drafter import SuffixDrafter
from engine.drafters.suffix.index import BOUNDARY, SuffixIndex
from engine.drafters.translation.comparison import Translation, find_translation
from engine.drafters.translation.drafter import TranslatedDrafter
from engine.drafters.translation.sequence import TranslatedSequence
from engine.errors import DraftRefusedError, EngineError, LoadCancelledError, ModelLoadError, NotEnoughMemoryError
from engine.fit.cache_size import CacheSetup
from engine.fit.estimate import head_memory
from engine.fit.fit import report_of
from engine.gguf.head_files import MTP, are_heads_stripped, has_next_token_layers, head_method, own_heads_sentence
from engine.gguf.header import read_header
from engine.heads.compatibility import check_head_file, unsupported_reason
from engine.heads.loaded import LoadedHead
from engine.heads.loading import open_head_file, open_own_heads
from engine.llama.vocab import Vocab
from engine.loading.loading import Loaded, LoadedModel, LoadOptions, draft_options, fit_context, open_model
from engine.pacing.drafter import PacedDrafter, TextOrModelDrafter
from engine.pacing.pacer import Pacer
from engine.prompt.typed_text import tokens_within_text
from engine.records import MODES_WITH_DRAFT, ChatRequest, FlashAttention, LoadRequest, Mode, Source, ToolFormat
from engine.sandbox.probe import InspectHead
from engine.sentences import i18n
from engine.tools.outlines import call_outlines

MIN_MATCH, PACED_MIN_MATCH = 2, 1  # tokens of a match, without and with a pacer
MIN_MATCH_WITH_MODEL = 8  # the same without a pacer, if a draft model can draft instead
NO_DRAFT = i18n("No draft model is chosen.")
NO_HEAD = i18n("This model has no next-token layers (MTP), and no file with a head for it is chosen.")
_USE_DRAFT_ADVICE = i18n("The chosen draft model drafts instead of the head; choose none to use the head.")
_USE_HEAD_ADVICE = i18n("A head drafts for this model; choose a draft model to use this mode.")
_PAST_MODES = frozenset({Mode.SUFFIX, Mode.AUTO})  # modes that also search other texts than the conversation
_TEXT_MODES = _PAST_MODES | {Mode.NGRAM}


class DraftersByMode:
    """The drafters of a session, by mode."""

    def __init__(self) -> None:
        self._suffix = SuffixDrafter()
        self._indexed_tools: tuple[str, ref[Vocab]] | None = None  # tools and vocabulary of `_outline_index`
        self._outline_index: SuffixIndex | None = None

    def tool_call_index(self, request: ChatRequest, tool_format: ToolFormat, vocab: Vocab) -> SuffixIndex | None:
        """Index the text of possible tool calls for suffix matching; cached until the tools change."""
        if not request.tools or request.mode not in _PAST_MODES:
            return None
        tools = json.dumps([tool_format, request.tools])
        if self._indexed_tools is None or self._indexed_tools[0] != tools or self._indexed_tools[1]() is not vocab:
            ids = list[int]()
            for piece in call_outlines(tool_format, request.tools):
                ids += [*tokens_within_text(vocab, piece), BOUNDARY]
            self._indexed_tools, self._outline_index = (tools, ref(vocab)), SuffixIndex(ids) if ids else None
        return self._outline_index

    def drafter(
        self,
        mode: Mode,
        model: DraftModelDrafter | None,
        pacer: Pacer | None,
        past: SuffixIndex | None = None,
        ends: frozenset[int] = frozenset(),
        predicted: Sequence[int] = (),
    ) -> Drafter:
        """Make the drafter of an answer; without a ``pacer`` it always drafts up to the limit.

        Some modes search ``past`` if this conversation has no better match. With ``predicted``, the expected
        text of the answer, it searches that instead of ``past``. A token of ``ends`` ends an answer.
        """
        self._suffix.predicted = list(predicted)
        self._suffix.past, self._suffix.ends = past if mode in _PAST_MODES else None, ends
        # With a pacer, measured costs decide whether a match of one token pays off.
        self._suffix.min_match = PACED_MIN_MATCH if pacer is not None else MIN_MATCH
        if mode is Mode.OFF:
            return NoDrafter()
        model = model if mode in MODES_WITH_DRAFT else None
        text = self._suffix if mode in _TEXT_MODES else None
        if pacer is not None:
            return PacedDrafter(pacer, text, model, may_pause=mode is Mode.AUTO)
        if text is not None and model is not None:
            text.min_match = MIN_MATCH_WITH_MODEL
            return TextOrModelDrafter(text, model)
        return model or text or NoDrafter()


def model_drafter(
    draft: Loaded | None,
    translated: TranslatedSequence | None,
    vocab: Vocab,
    should_stop: Callable[[], bool],
) -> DraftModelDrafter | None:
    """Make the drafter of the loaded draft, which may be ``translated``, for one answer; None if there is no draft.

    ``vocab`` is the target's.
    """
    if draft is None:
        return None
    if translated is not None:
        return TranslatedDrafter(translated, vocab.eog_ids, should_stop)
    source = Source.HEAD if draft.info.head_method else Source.DRAFT
    return DraftModelDrafter(draft.sequence, vocab.n_vocab, vocab.eog_ids, should_stop, source)


def unavailable_modes(
    target: LoadedModel, draft: Loaded | None, draft_reason: str, head_reason: str
) -> dict[Mode, str]:
    """Unavailable modes with reasons; the arguments are the reasons for a missing draft and head."""
    if not target.can_rollback:
        reason = i18n(
            "The memory of this model ({architecture}) can neither drop rejected tokens nor return to an earlier "
            "state, so it runs without drafting.",
            architecture=target.info.architecture,
        )
        return {mode: reason for mode in Mode if mode is not Mode.OFF}
    if draft is None:
        return {Mode.DRAFT: draft_reason, Mode.HEAD: head_reason}
    if draft.info.head_method:
        return {Mode.DRAFT: _USE_HEAD_ADVICE if draft_reason in ("", NO_DRAFT) else draft_reason}
    return {Mode.HEAD: _USE_DRAFT_ADVICE if target.model.has_heads else head_reason}


def open_draft(
    path: str, target: LoadedModel, request: LoadRequest, progress: Callable[[float], bool]
) -> tuple[LoadedModel, Translation | None]:
    """Open a draft that fits the target, on the target's devices unless the user chose others; with its translation.

    Raises:
        DraftRefusedError: the draft does not fit.
        EngineError: the draft cannot be loaded.
    """
    options = draft_options(request, target.context.n_ctx)
    options = replace(options, num_sequences=target.context.params.num_sequences)
    draft = open_model(path, fit_context([path], options), progress)
    try:
        sides = ((one.model.vocab, one.model.chat_template) for one in (target, draft))
        translation = find_translation(*sides)
    except Exception:
        draft.close()
        raise
    if not draft.can_rollback:
        draft.close()
        raise DraftRefusedError(
            i18n(
                "The memory of {name} ({architecture}) can neither drop rejected tokens nor return to an earlier "
                "state.",
                name=draft.info.name,
                architecture=draft.info.architecture,
            )
        )
    return draft, translation


class HeadChoice:
    """Opens heads after ``inspect`` has checked them. ``reason`` says why the target's own heads are not used."""

    def __init__(self, inspect: InspectHead | None) -> None:
        self.inspect: InspectHead = inspect or (lambda *_: None)
        self.reason: str = NO_HEAD

    @property
    def mentions_heads(self) -> bool:
        """Whether the target's header mentions heads, even if they were removed."""
        return self.reason != NO_HEAD

    def prepare(self, path: str, options: LoadOptions, should_stop: Callable[[], bool]) -> LoadOptions:
        """Add to ``options`` a context that fits, and the target's own heads if usable.

        Raises:
            ModelFileError: a header cannot be read, or the load was cancelled.
            NotEnoughMemoryError: the model does not fit the free main memory.
        """
        self.reason = NO_HEAD
        header = read_header(Path(path))
        if are_heads_stripped(header):
            self.reason = own_heads_sentence(header, Path(path).name)
        if not has_next_token_layers(header):
            return fit_context([path], options)
        self.reason = unsupported_reason(MTP)
        if self.reason:
            return fit_context([path], options)
        try:
            self.inspect(Path(path), None, should_stop)
            return fit_context([path], replace(options, heads=True))
        except EngineError as error:
            if should_stop():
                raise
            self.reason = error.message
            if not isinstance(error, NotEnoughMemoryError):
                self.reason = i18n("The model's own heads cannot be used: {reason}", reason=error.message)
        return fit_context([path], options)

    def open_own(self, target: LoadedModel, request: LoadRequest) -> LoadedHead | None:
        """Open the target's own heads; None if none are loaded, or if opening fails (see ``reason``)."""
        if not target.model.has_heads:
            return None
        try:
            return open_own_heads(target, draft_options(request, target.context.n_ctx))
        except EngineError as error:
            self.reason = error.message
            return None

    def open_file(
        self,
        path: str,
        target: LoadedModel,
        request: LoadRequest,
        progress: Callable[[float], bool],
        should_stop: Callable[[], bool],
    ) -> LoadedHead | None:
        """Open the head in a file; None if the file is a complete model.

        Raises:
            DraftRefusedError: the head does not belong to this target.
            EngineError: it cannot be opened.
        """
        if not is_head_file(path):
            return None
        options = draft_options(request, target.context.n_ctx)
        headers = read_header(target.model.path), read_header(Path(path))
        check_head_file(*headers)
        if not target.model.gpu_layers:
            fused = options.flash_attention is not FlashAttention.OFF
            setup = CacheSetup(target.context.n_ctx, options.cache_type, options.cache_type, fused)
            report_of([head_memory(headers[0], setup, headers[1])]).check()
        self.inspect(target.model.path, Path(path), should_stop)
        return open_head_file(path, target, options, progress)


@contextmanager
def explain_stripped_heads(path: str) -> Iterator[None]:
    """Add to an error of the block that the file's heads were removed, if they were.

    Raises:
        ModelLoadError: llama.cpp's error with that sentence appended.
    """
    try:
        yield
    except ModelLoadError as error:
        header = read_header(Path(path))
        if isinstance(error, LoadCancelledError) or not are_heads_stripped(header):
            raise
        reason = own_heads_sentence(header, Path(path).name)
        raise ModelLoadError(i18n("{error} {reason}", error=error.message, reason=reason), error.advice) from error


def is_head_file(path: str) -> bool:
    """Whether a file contains a head for another model; False for an unreadable file, which fails when it is opened."""
    try:
        return bool(head_method(read_header(Path(path))))
    except EngineError:
        return False
