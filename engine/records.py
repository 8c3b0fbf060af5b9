"""Plain data that passes between engine, app and window: requests to the engine, and its events.

Times are in seconds unless the name has another unit; counters are stored, rates are properties.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from engine.intervals import percentile_ms
from engine.picture import Picture as Picture
from engine.reasoning_tags import ANSWER_FRAMES as ANSWER_FRAMES
from engine.reasoning_tags import CHANNEL_SEPARATOR as CHANNEL_SEPARATOR
from engine.reasoning_tags import REASONING_TAGS as REASONING_TAGS
from engine.tools.formats import ToolFormat as ToolFormat

# The target's probability p of a proposed token, and the draft's q; q is None for n-gram drafts, which are
# deterministic.
TokenProbs = tuple[float, float | None]
FROM_MODEL = "from the model"  # name of the model's own chat template
QUESTION_DIVIDER = "\n\n"  # separator of several questions that are asked together
MIN_ANSWER_TOKENS = 16  # tokens of the context that a prompt must leave for the answer


class Source(StrEnum):
    """Provenance of an emitted token."""

    TARGET = "target"
    NGRAM = "ngram"
    DRAFT = "draft"
    HEAD = "head"
    RECOVERED = "recovered"
    BONUS = "bonus"


# A pass emits its accepted tokens, and then exactly one token from one of these sources.
LAST_SOURCES = frozenset({Source.RECOVERED, Source.BONUS, Source.TARGET})


class PassProbabilities(NamedTuple):
    """Probabilities of the tokens of a pass, as far as verification computed them.

    ``probs`` are of the proposed tokens in order, up to the last verified one. ``last`` is the target's probability of
    the token that ended the pass. All are computed after the sampling chain. At temperature 0 (``greedy``) there are
    none: accepted tokens were the most likely ones. ``rejected_chars``: number of characters of each rejected token, if
    there were several. Every pass creates such a tuple: a frozen dataclass takes three times as long.
    """

    probs: tuple[TokenProbs, ...] = ()
    last: float | None = None
    greedy: bool = False
    rejected_chars: tuple[int, ...] = ()


GREEDY = PassProbabilities(greedy=True)


@dataclass(frozen=True, slots=True)
class TokenSpan:
    """``num_chars`` characters of a chunk that came from one token (0 while a character is incomplete).

    A pass emits its accepted tokens and then one recovered, bonus or target token, so the sources delimit the passes.
    ``rejected`` (recovered tokens only): the text of the proposed tokens that the token replaced. ``probabilities``
    are those of the pass (last token of a pass only).
    """

    num_chars: int
    source: Source
    rejected: str = ""
    probabilities: PassProbabilities | None = None


class SplitMode(StrEnum):
    """How several devices share a model, as in llama.cpp."""

    LAYER = "layer"  # each device has whole layers with their cache
    ROW = "row"  # the rows of each matrix are split, if the backend supports it
    TENSOR = "tensor"  # weights and cache are split, and all devices compute at once; experimental in llama.cpp


NO_DEVICE = "none"  # device name that selects the CPU alone


@dataclass(frozen=True, slots=True)
class Placement:
    """The devices of a model; by default all graphics processors of this machine.

    Args:
        devices: names as llama.cpp lists them ("CUDA0"), or `NO_DEVICE` alone.
        split_mode: how several devices share the model.
        tensor_split: proportions, in the order of the devices; empty: by free memory.
        cpu_moe_layers: the experts of this number of first layers stay in main memory; None: as few as necessary.
    """

    devices: tuple[str, ...] = ()
    split_mode: SplitMode = SplitMode.LAYER
    tensor_split: tuple[float, ...] = ()
    cpu_moe_layers: int | None = None

    @property
    def is_processor(self) -> bool:
        return self.devices == (NO_DEVICE,)

    @property
    def cache_key(self) -> tuple[str, ...]:
        """The part of cache keys that depends on the placement; empty for the default."""
        return () if self == Placement() else (repr(self),)


DEFAULT_PLACEMENT = Placement()


class DeviceKind(StrEnum):
    """The kind of a device that is not the CPU."""

    GPU = "gpu"
    INTEGRATED = "integrated gpu"  # shares the main memory


@dataclass(frozen=True, slots=True)
class Device:
    """A device other than the CPU; ``name`` is llama.cpp's ("CUDA0"). Bytes are None if unknown."""

    name: str
    description: str
    total_bytes: int | None
    free_bytes: int | None
    kind: DeviceKind = DeviceKind.GPU


class FitLevel(StrEnum):
    """Whether a model fits the free memory, from good to bad."""

    FITS = "fits"
    TIGHT = "tight"
    TOO_LARGE = "too large"
    UNKNOWN = "unknown"


class Mode(StrEnum):
    """How tokens are proposed. ``OFF`` is plain decoding, the baseline of every comparison."""

    OFF = "off"
    NGRAM = "ngram"  # prompt lookup: suffix decoding of this conversation alone
    SUFFIX = "suffix"  # suffix decoding: the most frequent continuation of the longest match
    DRAFT = "draft"
    HEAD = "head"  # heads that read the target's hidden rows: its next-token layers (MTP), or a head file
    AUTO = "auto"  # chooses the fastest of these, or plain decoding, before each pass


MODES_WITH_DRAFT = frozenset({Mode.DRAFT, Mode.HEAD, Mode.AUTO})  # modes that may use a draft model or a head


class Overflow(StrEnum):
    """What happens if a conversation does not fit the context."""

    STOP = "stop"  # report it
    DROP = "drop"  # leave out the oldest turns, and report it
    SUMMARISE = "summarise"  # let the model summarise the oldest turns first


class FinishReason(StrEnum):
    """Why an answer ended."""

    END = "end"  # the model ended it
    STOP = "stop"  # a stop string appeared
    LENGTH = "length"  # the requested number of tokens
    CONTEXT = "context"  # the context is full
    LOOP = "loop"  # the model repeated itself
    CANCELLED = "cancelled"  # the user stopped it


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool by the assistant; ``arguments``: JSON as the model wrote it."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a conversation; ``role`` is ``system``, ``user``, ``assistant`` or ``tool``.

    ``questions``: the parts of ``content`` if it joins several questions; all but the last stayed unanswered.
    ``tool_calls`` are the assistant's; a tool's message answers the call ``tool_call_id`` of the tool ``name``.
    ``pictures`` are pairs of a character offset in ``content`` and the picture inserted there, ascending.
    """

    role: str
    content: str
    questions: tuple[str, ...] = field(default=(), compare=False)
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    name: str = ""
    pictures: tuple[tuple[int, Picture], ...] = ()


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """The sampling chain, applied in this order: bias, penalties, temperature, top-k, top-p, min-p.

    The neutral value, 0 or 1, switches a step off. ``logit_bias``: pairs of a token and the number added to its logit.

    Raises:
        ValueError: a value is outside its range; the message names the setting.
    """

    temperature: float = 0.8
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    repeat_penalty: float = 1.0
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    penalty_last_n: int = 64
    seed: int | None = None
    logit_bias: tuple[tuple[int, float], ...] = ()

    def __post_init__(self) -> None:
        checks = (
            ("temperature", 0.0 <= self.temperature <= 100.0, "between 0 and 100"),
            ("top-k", self.top_k >= 0, "0 (off) or more"),
            ("top-p", 0.0 < self.top_p <= 1.0, "above 0 and at most 1"),
            ("min-p", 0.0 <= self.min_p <= 1.0, "between 0 and 1"),
            ("repeat penalty", 0.1 <= self.repeat_penalty <= 10.0, "between 0.1 and 10"),  # less makes infinite logits
            ("frequency penalty", -10.0 <= self.frequency_penalty <= 10.0, "between -10 and 10"),
            ("presence penalty", -10.0 <= self.presence_penalty <= 10.0, "between -10 and 10"),
            ("penalty window", self.penalty_last_n >= 0, "0 (off) or more tokens"),
            ("seed", self.seed is None or 0 <= self.seed < 2**63, "a number from 0 to 2^63 - 1"),
            ("logit bias", all(-100.0 <= bias <= 100.0 for _, bias in self.logit_bias), "between -100 and 100"),
        )
        for name, good, rule in checks:
            if not good:
                raise ValueError(f"The {name} must be {rule}.")

    @property
    def greedy(self) -> bool:
        """Whether the token is the argmax after penalties (temperature 0)."""
        return self.temperature == 0.0


TemplateValue = str | int | float | bool
THINKING_OFF, THINKING_ON = "off", "on"


@dataclass(frozen=True, slots=True)
class ThinkingOption:
    """A reasoning mode of a model: ``off``, ``on``, an effort ("low"), or a budget in tokens ("512")."""

    name: str
    reasoning_start_tag: str = ""  # reasoning tag with which the prompt ends; often empty


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request for an answer. ``raw_prompt`` replaces ``messages``: no chat template, control tokens parsed.

    With a ``suffix`` the answer is the text between ``raw_prompt`` and ``suffix``, both without control tokens
    (infill). ``tools`` have the form of OpenAI's API. ``predicted``: text that the answer may largely repeat.
    """

    messages: tuple[Message, ...] = ()
    mode: Mode = Mode.OFF
    depth: int | None = None  # proposed tokens per pass; None: chosen by the engine
    sampling: SamplingParams = field(default_factory=SamplingParams)
    max_tokens: int | None = None  # None: until the model ends or the context is full
    stop: tuple[str, ...] = ()
    raw_prompt: str | None = None
    raw_ids: tuple[int, ...] = ()  # the tokens of ``raw_prompt``, instead of its text
    ignore_eos: bool = False
    min_tokens: int = 0  # the model cannot end the answer earlier; stop strings can
    overflow: Overflow = Overflow.STOP
    request_id: int = 0
    continues_text: bool = False  # the contents of ``messages`` are one text to continue: no chat template
    use_past: bool = False  # draft from past conversations, and store this one for later drafts
    conversation_id: int = 0  # key of saved caches; 0: no saving, negative: in memory only
    grammar: str = ""  # in a form of `engine.grammar`, or GBNF with a rule ``root``; empty: any text
    suffix: str | None = None
    files: tuple[tuple[str, str], ...] = ()  # for infill: names and texts of other files of the project
    predicted: str = ""
    tools: tuple[Mapping[str, object], ...] = ()
    constrains_calls: bool = False  # once a tool call has begun, sampling is constrained to a call that fits the schema
    top_logprobs: int | None = None  # number of most likely tokens to report for each token; None: none
    thinking: str = ""  # name of a `ThinkingOption`; empty, or unknown to the model: the template's default
    template_variables: tuple[tuple[str, TemplateValue], ...] = ()  # for the chat template, after those of `thinking`


class CacheType(StrEnum):
    """Types of keys and values in a model's cache; smaller types change results slightly."""

    F16 = "f16"
    Q8_0 = "q8_0"
    Q4_0 = "q4_0"


class FlashAttention(StrEnum):
    """Whether attention runs in one fused kernel. A quantized cache needs it."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """Models to load, and their options. None: an automatic value."""

    target: str
    draft: str | None = None
    n_ctx: int | None = None
    threads: int | None = None
    gpu_layers: int | None = None  # None: as many as fit
    cache_type: CacheType = CacheType.F16
    flash_attention: FlashAttention = FlashAttention.AUTO
    draft_threads: int | None = None
    draft_gpu_layers: int | None = None  # None: as for the target
    draft_cache_type: CacheType = CacheType.F16
    placement: Placement = DEFAULT_PLACEMENT  # the target's placement
    draft_devices: tuple[str, ...] = ()  # as in `Placement`; empty: the target's
    mmproj: str | None = None  # the side file of a vision model; "": search the model's folder
    request_id: int = field(default=0, compare=False)
    parallel: int = 1  # maximum of parallel answers; 0: by memory, up to 4


@dataclass(frozen=True, slots=True)
class Problem:
    """An error for the user, in one short sentence each: what happened, why, and what to do."""

    title: str
    message: str
    advice: str


@dataclass(frozen=True, slots=True)
class DeviceUse:
    """Memory that a loaded model uses on one device, as llama.cpp reports it. The CPU's name is "CPU"."""

    name: str
    num_layers: int
    weights_bytes: int
    cache_bytes: int
    compute_bytes: int

    @property
    def all_bytes(self) -> int:
        return self.weights_bytes + self.cache_bytes + self.compute_bytes


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Bytes of a loaded model in main and GPU memory together, as llama.cpp reports its buffers.

    Every weight counts once.
    """

    weights_bytes: int
    cache_bytes: int
    compute_bytes: int
    devices: tuple[DeviceUse, ...] = ()

    @property
    def all_bytes(self) -> int:
        return self.weights_bytes + self.cache_bytes + self.compute_bytes


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A loaded model, as the window and the command line show it."""

    path: str
    name: str
    architecture: str
    num_params: int
    size_bytes: int  # all files of the model
    n_vocab: int
    n_ctx: int
    n_ctx_train: int
    threads: int
    gpu_layers: int
    template_name: str  # "from the model", or the name of the fallback
    cache_type: CacheType = CacheType.F16
    flash_attention: FlashAttention = FlashAttention.AUTO
    memory: MemoryUse | None = None
    recommended: tuple[tuple[str, int | float], ...] = ()  # sampling settings in the file; names as in SamplingParams
    reasoning_start_tag: str = ""  # reasoning tag that the template appends to a prompt
    thinking: tuple[ThinkingOption, ...] = ()  # the default first; empty if the template offers no choice
    unused_abilities: tuple[str, ...] = ()  # abilities that need a side file: "pictures"

    @property
    def has_template(self) -> bool:
        """Whether the file has a chat template. A model without a template most likely continues texts."""
        return self.template_name == FROM_MODEL

    placement: Placement = DEFAULT_PLACEMENT  # as requested, with the actual ``cpu_moe_layers``
    tool_format: ToolFormat = ToolFormat.NONE
    tool_refusal: str = ""  # why tools are not supported
    supports_infill: bool = False  # whether the file has tokens for infill
    head_method: str = ""  # method of a head: such as "MTP" or "EAGLE-3"; empty for a model
    coverage: float | None = None  # share of the target's tokens in the draft's vocabulary; None: the same vocabulary
    has_vision: bool = False  # whether the model accepts pictures; needs a loaded side file
    engine_url: str = ""  # address of the remote server that runs the model; empty: this program
    parallel: int = 1  # parallel answers
    inexact_reason: str = ""  # sentence: why a repeated request may give another answer; empty: answers are bit-exact


@dataclass(slots=True)
class RunStats:
    """Counters of one answer, so far or final. All rates are properties.

    ``proposed_by_depth[i]`` counts passes in which at least i + 1 tokens were proposed, ``accepted_by_depth[i]`` counts
    those in which the first i + 1 were all accepted. Percentiles are of the time per token, which is a pass's time
    divided by its tokens; ``interval_counts`` counts these times in the buckets of `engine.intervals`, which add up
    over answers.
    """

    mode: Mode = Mode.OFF
    depth: int = 0
    prompt_tokens: int = 0
    prompt_cached_tokens: int = 0
    prompt_s: float = 0.0
    time_to_first_token_s: float | None = None
    tokens: int = 0
    passes: int = 0
    proposed: int = 0
    accepted: int = 0
    rolled_back: int = 0
    forced_proposed: int = 0  # proposed tokens for which a grammar left no choice
    forced_accepted: int = 0
    predicted_proposed: int = 0  # proposed tokens from the text that the request predicted
    predicted_accepted: int = 0
    replayed: int = 0  # tokens decoded again after a rollback to a checkpoint
    proposed_by_depth: tuple[int, ...] = ()
    accepted_by_depth: tuple[int, ...] = ()
    provenance: Mapping[Source, int] = field(default_factory=dict)
    decode_s: float = 0.0
    draft_s: float = 0.0
    draft_prompt_s: float = 0.0  # the draft model's prefill; part of ``draft_s`` and ``decode_s``
    verify_s: float = 0.0
    sample_s: float = 0.0
    rollback_s: float = 0.0
    pass_ms_p50: float | None = None
    inter_token_ms_p50: float | None = None
    inter_token_ms_p95: float | None = None
    inter_token_ms_p99: float | None = None
    interval_counts: Mapping[int, int] = field(default_factory=dict)
    plain_ms: float | None = None  # milliseconds per token of plain decoding in the same conditions; None: unknown
    plain_error: float = 0.05  # half of its 95% interval, relative
    looped: int = 0  # repeated tokens at the end of an answer that was stopped as a loop
    joined_passes: int = 0  # passes together with other answers
    left_out: int = 0  # messages of the conversation that did not fit the context
    unanswered: int = 0  # left-out questions without an answer
    restored_tokens: int = 0  # cached tokens that a saved state provided
    restore_s: float = 0.0
    context_used: int = 0
    context_size: int = 0
    decisions: tuple[str, ...] = ()

    @property
    def plain_s(self) -> float | None:
        """Seconds that plain decoding would have taken; None if unknown."""
        return self.tokens * self.plain_ms / 1000.0 if self.plain_ms is not None else None

    @property
    def sources(self) -> frozenset[Source]:
        return frozenset(source for source, tokens in self.provenance.items() if tokens)

    @property
    def tokens_per_second(self) -> float | None:
        """Speed from the end of prefill, including the draft model's, to the last token; None if unknown."""
        return self.tokens / self.generation_s if self.tokens and self.generation_s > 0 else None

    @property
    def generation_s(self) -> float:
        """Seconds of decoding without the draft model's prefill."""
        return max(self.decode_s - self.draft_prompt_s, 0.0)

    @property
    def tokens_per_pass(self) -> float | None:
        """Emitted tokens per pass of the target, recovered and bonus tokens included. Plain decoding is 1.0."""
        return self.tokens / self.passes if self.passes else None

    @property
    def acceptance_rate(self) -> float | None:
        return self.accepted / self.proposed if self.proposed else None

    def acceptance_from(self, first: int, last: int) -> float | None:
        """The accepted share of the tokens proposed at depths ``first`` to ``last``; None if there were none."""
        kept, tried = (sum(each[first - 1 : last]) for each in (self.accepted_by_depth, self.proposed_by_depth))
        return kept / tried if tried else None

    def interval_ms(self, percent: float) -> float | None:
        """A percentile of the time per token from ``interval_counts``, to within 2%."""
        return percentile_ms(self.interval_counts, percent)

    @property
    def prompt_tokens_per_second(self) -> float | None:
        """Tokens decoded in prefill per second, without cached ones."""
        decoded = self.prompt_tokens - self.prompt_cached_tokens
        return decoded / self.prompt_s if decoded > 0 and self.prompt_s > 0 else None


# ---- events, in order -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """A model is loading; ``fraction`` runs from 0 to 1."""

    path: str
    fraction: float
    request_id: int = 0


@dataclass(frozen=True, slots=True)
class EngineReady:
    """A target is loaded. ``unavailable``: the reason for each mode that cannot run now, a sentence."""

    target: ModelInfo
    draft: ModelInfo | None = None  # a draft model, or a head file
    unavailable: Mapping[Mode, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    devices: tuple[Device, ...] = ()  # this machine's devices, as llama.cpp lists them
    own_head: ModelInfo | None = None  # the heads in the target's file, if used
    has_heads: bool = False  # whether the target's header mentions heads; they may be unusable
    library_notices: tuple[str, ...] = ()  # about llama.cpp itself, for the user
    request_id: int = 0


@dataclass(frozen=True, slots=True)
class EngineFailed:
    """A request failed. If it was a load, the previous models stay loaded.

    ``tokens_needed``: tokens of a prompt that did not fit the context; otherwise 0. ``was_cancelled``: a load was
    cancelled. ``engine_ended``: see `EngineEnded`.
    """

    problem: Problem
    request_id: int = 0
    tokens_needed: int = 0
    was_cancelled: bool = False
    engine_ended: bool = False


@dataclass(frozen=True, slots=True)
class EngineEnded:
    """The engine's process ended unexpectedly, for ``reason`` ("signal SIGABRT"): no model is loaded any more."""

    reason: str


@dataclass(frozen=True, slots=True)
class PrefillProgress:
    """The prompt is being read: ``done`` of ``total`` tokens."""

    request_id: int
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class SummaryUpdate:
    """The ``num_messages`` oldest messages are being summarised: ``text`` so far, ``done`` of ``total`` tokens read.

    ``complete``: the text now replaces the messages. ``failure``: why it failed; the prompt leaves the messages out.
    """

    request_id: int
    num_messages: int
    text: str = ""
    done: int = 0
    total: int = 0
    complete: bool = False
    failure: str = ""


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """The target's log probability of a token before the sampling chain: log-softmax of the raw logits."""

    token_id: int
    piece: bytes
    logprob: float
    top: tuple[tuple[bytes, float], ...] = ()  # the most likely tokens, in order
    top_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TextChunk:
    """Text that is final, with the provenance of its tokens; the spans' characters add up to the text's.

    ``logprobs``: one for each token of the spans, if requested.
    """

    request_id: int
    text: str
    spans: tuple[TokenSpan, ...]
    logprobs: tuple[TokenLogprob, ...] = ()
    reasoning_start_tag: str = ""  # first chunk only: reasoning tag at the end of the prompt, with its spaces


@dataclass(frozen=True, slots=True)
class StatsUpdate:
    """The counters so far, sent several times a second."""

    request_id: int
    stats: RunStats


@dataclass(frozen=True, slots=True)
class Finished:
    """An answer ended; sent once for each request that did not fail. The command line uses ``token_ids``.

    ``stop``: the stop string that ended it.
    """

    request_id: int
    reason: FinishReason
    stats: RunStats
    token_ids: tuple[int, ...] = ()
    stop: str = ""


@dataclass(frozen=True, slots=True)
class JobEvent:
    """An event of a job on the engine's thread. Each kind of job defines subclasses, which are plain data.

    The engine's thread sets the id.
    """

    request_id: int = field(default=0, kw_only=True, compare=False)


AnswerEvent = PrefillProgress | SummaryUpdate | TextChunk | StatsUpdate | Finished | EngineFailed
Event = LoadProgress | EngineReady | EngineEnded | AnswerEvent | JobEvent
