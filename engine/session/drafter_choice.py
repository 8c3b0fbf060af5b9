"""Opens drafts, and chooses the drafter of a mode; its text index is kept between answers."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from weakref import ref

from engine.drafters.base import Drafter, NoDrafter
from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.suffix.drafter import SuffixDrafter
from engine.drafters.suffix.index import BOUNDARY, SuffixIndex
from engine.drafters.translation.comparison import Translation, find_translation
from engine.drafters.translation.drafter import TranslatedDrafter
from engine.drafters.translation.sequence import TranslatedSequence
from engine.errors import DraftRefusedError
from engine.llama.vocab import Vocab
from engine.loading.loading import Loaded, LoadedModel, draft_options, fit_context, open_model
from engine.pacing.drafter import PacedDrafter, TextOrModelDrafter
from engine.pacing.pacer import Pacer
from engine.prompt.typed_text import tokens_within_text
from engine.records import ChatRequest, LoadRequest, Mode, Source, ToolFormat
from engine.sentences import i18n
from engine.tools.outlines import call_outlines

MIN_MATCH, PACED_MIN_MATCH = 2, 1  # tokens of a match, without and with a pacer
MIN_MATCH_WITH_MODEL = 8  # the same without a pacer, if a draft model can draft instead
NO_DRAFT = i18n("No draft model is chosen.")
_USE_DRAFT_ADVICE = i18n("The chosen draft model drafts instead of the head; choose none to use the head.")
_USE_HEAD_ADVICE = i18n("A head drafts for this model; choose a draft model to use this mode.")
_PAST_MODES = frozenset({Mode.SUFFIX, Mode.AUTO})  # modes that also search other texts than the conversation
_TEXT_MODES = _PAST_MODES | {Mode.NGRAM}
MODEL_MODES = frozenset({Mode.DRAFT, Mode.HEAD, Mode.AUTO})  # modes that use a draft model or a head


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
        model = model if mode in MODEL_MODES else None
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
