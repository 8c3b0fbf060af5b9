"""Plain data that passes between engine, app and window: requests to the engine, and its events.

Times are seconds unless a name says otherwise; counters are stored, rates are properties.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from engine.intervals import percentile_ms
from engine.picture import Picture as Picture
from engine.picture import PictureSize as PictureSize
from engine.reasoning_tags import ANSWER_FRAMES as ANSWER_FRAMES
from engine.reasoning_tags import BETWEEN_CHANNELS as BETWEEN_CHANNELS
from engine.reasoning_tags import REASONING_TAGS as REASONING_TAGS
from engine.tools.formats import ToolFormat as ToolFormat

# The target's probability p of a proposed token, and the draft's q; no q where the proposal was text seen before, which
# is proposed with certainty.
TokenProbs = tuple[float, float | None]
FROM_MODEL = "from the model"  # whose chat template is used
JOINT = "\n\n"  # between questions that are asked as one
LEAST_ROOM = 16  # tokens of the context that a prompt must leave for the answer
HYBRID = "hybrid"  # a mode of earlier versions, of text and the draft model in turn; `Mode.AUTO` is read in its place


class Source(StrEnum):
    """Provenance: where an emitted token came from."""

    TARGET = "target"
    NGRAM = "ngram"
    DRAFT = "draft"
    HEAD = "head"
    RECOVERED = "recovered"
    BONUS = "bonus"


# A pass gives its accepted tokens, and then exactly one of these.
LAST_SOURCES = frozenset({Source.RECOVERED, Source.BONUS, Source.TARGET})


class PassProbabilities(NamedTuple):
    """Probabilities of the tokens of a pass, each given those before it, as far as verification computed them.

    ``probs`` are of the proposed tokens in order, up to the last one that was looked at. ``last`` is the target's
    probability of the token that ended the pass. All are what the whole sampling chain gives. At temperature 0
    (``greedy``) there are none: what was kept was the most likely token, and what was refused first was not.
    ``rejected_chars`` are the characters of each refused token, where there were several. Made in every pass, hence a
    tuple: a frozen dataclass takes three times as long.
    """

    probs: tuple[TokenProbs, ...] = ()
    last: float | None = None
    greedy: bool = False
    rejected_chars: tuple[int, ...] = ()


GREEDY = PassProbabilities(greedy=True)


@dataclass(frozen=True, slots=True)
class TokenSpan:
    """``num_chars`` characters of a chunk that came from one token (0 where a character is still incomplete).

    A pass gives its accepted tokens and then one recovered, bonus or target token, so the sources alone tell the
    passes apart. ``rejected`` is on a recovered token: the text of the proposed tokens whose place it took.
    ``probabilities`` is on the last token that the answer took from a pass. ``is_forced``: it was proposed because a
    grammar left no choice.
    """

    num_chars: int
    source: Source
    rejected: str = ""
    probabilities: PassProbabilities | None = None
    is_forced: bool = False


class SplitMode(StrEnum):
    """How several devices share a model, as llama.cpp has it."""

    NONE = "none"  # all of it on the main one
    LAYER = "layer"  # whole layers with their cache, one device after the other
    ROW = "row"  # each matrix by rows, where the backend can
    TENSOR = "tensor"  # weights and cache, all devices at once; experimental in llama.cpp


NO_DEVICE = "none"  # in place of a device's name: the processor alone


@dataclass(frozen=True, slots=True)
class Placement:
    """On which devices a model lies; by default on all graphics processors of this machine.

    Args:
        devices: names as llama.cpp lists them ("CUDA0"), or "rpc:host:port"; or `NO_DEVICE` alone.
        split_mode: how several share it.
        main_device: which of them, counted from 0, takes all of it with `SplitMode.NONE`.
        tensor_split: proportions, in the order of the devices; without any, by their free memory.
        cpu_moe_layers: so many of the first layers keep their experts in main memory; None: no more than have to.
        overrides: a regular expression for names of tensors, and the buffer type or device that these go to; the
            first that matches counts.
    """

    devices: tuple[str, ...] = ()
    split_mode: SplitMode = SplitMode.LAYER
    main_device: int = 0
    tensor_split: tuple[float, ...] = ()
    cpu_moe_layers: int | None = None
    overrides: tuple[tuple[str, str], ...] = ()

    @property
    def is_processor(self) -> bool:
        """Whether no device is to be used."""
        return self.devices == (NO_DEVICE,)

    @property
    def facts(self) -> tuple[str, ...]:
        """What of it changes costs and numbers, for keys; nothing where all of it is as by default."""
        return () if self == Placement() else (repr(self),)


ANYWHERE = Placement()


class DeviceKind(StrEnum):
    """What a device is."""

    GPU = "gpu"
    INTEGRATED = "integrated gpu"  # shares the main memory
    REMOTE = "remote"  # of another machine, over llama.cpp's RPC


@dataclass(frozen=True, slots=True)
class Device:
    """A device beside the processor; ``name`` is llama.cpp's for it ("CUDA0"). Bytes are None where nobody tells."""

    name: str
    description: str
    total_bytes: int | None
    free_bytes: int | None
    kind: DeviceKind = DeviceKind.GPU


class Mode(StrEnum):
    """How tokens are proposed. ``OFF`` is plain decoding, the baseline of every comparison."""

    OFF = "off"
    NGRAM = "ngram"  # prompt lookup: what followed the same few tokens last
    SUFFIX = "suffix"  # suffix decoding: what most often followed the longest match
    DRAFT = "draft"
    HEAD = "head"  # what reads the target's hidden rows: its next-token layers (MTP), or heads in a file
    AUTO = "auto"  # whatever is expected to be fastest, pass by pass, plain decoding included

    @classmethod
    def _missing_(cls, value: object) -> Mode | None:
        return cls.AUTO if value == HYBRID else None

    @classmethod
    def known(cls, word: object) -> Mode | None:
        """The mode that ``word`` names, now or in an earlier version; None where it names none."""
        try:
            return cls(word) if isinstance(word, str) else None
        except ValueError:
            return None


class Overflow(StrEnum):
    """What is done where a conversation does not fit the context any more."""

    STOP = "stop"  # say so
    DROP = "drop"  # leave the oldest turns out, and say so
    SUMMARISE = "summarise"  # have the model summarise the oldest turns first


class FinishReason(StrEnum):
    """Why an answer ended."""

    END = "end"  # the model ended it
    STOP = "stop"  # a stop string appeared
    LENGTH = "length"  # as many tokens as were asked for
    CONTEXT = "context"  # the context is full
    LOOP = "loop"  # the model said the same again and again
    CANCELLED = "cancelled"  # the user stopped it


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the assistant called; ``arguments`` are JSON as the model wrote it."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation; ``role`` is ``system``, ``user``, ``assistant`` or ``tool``.

    ``questions`` are those that ``content`` joins, where several were asked and only the last is to be answered.
    ``tool_calls`` are the assistant's; a message of a tool answers the call of ``tool_call_id``, and ``name`` is its.
    ``pictures`` stand in ``content``, each before the character of its number, ascending.
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
    """The sampling chain, in its order: bias, penalties, temperature, top-k, top-p, min-p.

    Zero or one switches a link off. ``logit_bias`` are tokens, and what is added to the logit of each.

    Raises:
        ValueError: a value is outside its range; the sentence names the setting.
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
        """True where the token is the argmax after penalties (temperature 0)."""
        return self.temperature == 0.0


TemplateValue = str | int | float | bool
THINKING_OFF, THINKING_ON = "off", "on"


@dataclass(frozen=True, slots=True)
class ThinkingOption:
    """One way in which a model can be had think: ``off``, ``on``, an effort ("low"), or a budget in tokens ("512")."""

    name: str
    opened_tag: str = ""  # of reasoning, inside which an answer then begins; often empty


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One answer to make. ``raw_prompt`` replaces ``messages``: no chat template, control tokens parsed.

    With a ``suffix`` the answer is what stands between ``raw_prompt`` and it, which are text then. ``tools`` are told
    as OpenAI's API has them. ``predicted`` is what much of the answer may say.
    """

    messages: tuple[Message, ...] = ()
    mode: Mode = Mode.OFF
    depth: int | None = None  # proposed tokens per pass; None lets the engine choose
    sampling: SamplingParams = field(default_factory=SamplingParams)
    max_tokens: int | None = None  # None: until the model ends or the context is full
    stop: tuple[str, ...] = ()
    raw_prompt: str | None = None
    raw_ids: tuple[int, ...] = ()  # the tokens of ``raw_prompt`` themselves, in place of its text
    ignore_eos: bool = False
    min_tokens: int = 0  # of the answer, before which the model cannot end it; stop texts can
    overflow: Overflow = Overflow.STOP
    request_id: int = 0
    completes: bool = False  # the words of ``messages`` are one text that goes on: no chat template
    use_past: bool = False  # draft from past conversations, too, and keep this one for later ones
    conversation_id: int = 0  # whose caches may be kept for coming back to it; 0: nobody's; below: in memory only
    grammar: str = ""  # of `engine.grammar`, or in GBNF with a rule ``root``: what the answer must be; empty: anything
    suffix: str | None = None
    files: tuple[tuple[str, str], ...] = ()  # beside a ``suffix``: names and texts of other files of the project
    predicted: str = ""
    tools: tuple[Mapping[str, object], ...] = ()
    holds_calls: bool = False  # what begins as a call of the ``tools`` goes on in their form, by their schemas
    top_logprobs: int | None = None  # how many of the likeliest tokens to tell with each; None: no probabilities
    thinking: str = ""  # the name of a `ThinkingOption`; empty, or one that the model has not: as the template has it
    template_variables: tuple[tuple[str, TemplateValue], ...] = ()  # for the chat template, after those of `thinking`


@dataclass(frozen=True, slots=True)
class CountRequest:
    """What the loaded model is to count: tokens of texts, none of them control tokens, and places of sizes."""

    request_id: int
    texts: tuple[str | PictureSize, ...]


class CacheType(StrEnum):
    """How keys and values are kept in a model's cache; smaller types change its numbers a little."""

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
    """What to load and where. ``None`` means a sensible automatic value."""

    target: str
    draft: str | None = None
    n_ctx: int | None = None
    threads: int | None = None
    gpu_layers: int | None = None  # None: all that fit
    cache_type: CacheType = CacheType.F16
    flash_attention: FlashAttention = FlashAttention.AUTO
    draft_threads: int | None = None
    draft_gpu_layers: int | None = None  # None: as for the target, or none where that is measured to be faster
    draft_cache_type: CacheType = CacheType.F16
    placement: Placement = ANYWHERE  # of the target
    draft_devices: tuple[str, ...] = ()  # as in `Placement`; none named: where it is measured to be faster
    mmproj: str | None = None  # the side file that lets the target see pictures; "": one that lies beside it
    request_id: int = field(default=0, compare=False)  # says nothing of what is loaded
    parallel: int = 1  # most answers at once; 0: by memory, up to 4
    shared_context: bool = False  # they share the cells of one context; else each has a whole one


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that went wrong, for a person: what, why, and what to do. One short sentence each."""

    title: str
    message: str
    advice: str


@dataclass(frozen=True, slots=True)
class DeviceUse:
    """What of a loaded model llama.cpp reports for one device; the processor's is "CPU"."""

    name: str
    num_layers: int
    weights_bytes: int
    cache_bytes: int
    compute_bytes: int

    @property
    def all_bytes(self) -> int:
        """All of it."""
        return self.weights_bytes + self.cache_bytes + self.compute_bytes


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Bytes that one loaded model takes in main and GPU memory together; every weight counts once."""

    weights_bytes: int
    cache_bytes: int
    compute_bytes: int
    measured: bool  # llama.cpp's own report of its buffers; otherwise an estimate from the file's header
    devices: tuple[DeviceUse, ...] = ()  # the same by device, where it was reported

    @property
    def all_bytes(self) -> int:
        """All of it."""
        return self.weights_bytes + self.cache_bytes + self.compute_bytes


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A loaded model, as the window and the command line show it."""

    path: str
    name: str
    architecture: str
    num_params: int
    size_bytes: int  # of its files
    n_vocab: int
    n_ctx: int
    n_ctx_train: int
    threads: int
    gpu_layers: int
    template_name: str  # "from the model", or the name of the fallback
    cache_type: CacheType = CacheType.F16
    flash_attention: FlashAttention = FlashAttention.AUTO
    memory: MemoryUse | None = None
    recommended: tuple[tuple[str, int | float], ...] = ()  # sampling, as the file says, by the names of SamplingParams
    opened_tag: str = ""  # of reasoning, where the template begins an answer inside it
    thinking: tuple[ThinkingOption, ...] = ()  # the usual one first; none where the template leaves no choice
    unused: tuple[str, ...] = ()  # what the model has and cannot use without a file beside it: "pictures"

    @property
    def has_template(self) -> bool:
        """Whether the file has a chat template: without one it was most likely made to continue texts."""
        return self.template_name == FROM_MODEL

    placement: Placement = ANYWHERE  # as it was asked for, with the experts that were left in main memory
    tool_format: ToolFormat = ToolFormat.NONE
    tool_refusal: str = ""  # why not
    fills_gaps: bool = False  # whether the file names tokens for filling in the middle
    head: str = ""  # where it is no model but the target's: "MTP", "EAGLE-3", "Medusa" or "Hydra"
    speaks: float | None = None  # of a draft with another vocabulary: which share of the target's tokens it has
    sees: bool = False  # pictures, with the side file that was loaded
    engine_url: str = ""  # of the engine that has it, where another program computes; empty: this one does
    parallel: int = 1  # answers that it really makes at once
    parallel_reason: str = ""  # why only one, or fewer than were asked for: a sentence
    inexact: str = ""  # why the same question may get other words, as a sentence; empty: an answer is exact to the bit


@dataclass(frozen=True, slots=True)
class RunStats:
    """Counters of one answer, so far or final. Everything that is a rate is a property.

    ``proposed_by_depth[i]`` counts passes in which at least i + 1 tokens were proposed, ``accepted_by_depth[i]`` those
    in which the first i + 1 were all kept. Percentiles are of the time per token: a pass's time over its tokens;
    ``interval_counts`` are these times in the buckets of `engine.intervals`, which add up over answers.
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
    forced_proposed: int = 0  # of the proposed tokens, those that a grammar left no choice about
    forced_accepted: int = 0
    predicted_proposed: int = 0  # and those that came from the text that the request predicted
    predicted_accepted: int = 0
    replayed: int = 0  # tokens decoded again, because the memory had to be taken back to before them
    proposed_by_depth: tuple[int, ...] = ()
    accepted_by_depth: tuple[int, ...] = ()
    provenance: Mapping[Source, int] = field(default_factory=dict)
    decode_s: float = 0.0
    draft_s: float = 0.0
    draft_prompt_s: float = 0.0  # of these, and of ``decode_s``, the draft model's reading of the prompt
    verify_s: float = 0.0
    sample_s: float = 0.0
    rollback_s: float = 0.0
    pass_ms_p50: float | None = None
    inter_token_ms_p50: float | None = None
    inter_token_ms_p95: float | None = None
    inter_token_ms_p99: float | None = None
    interval_counts: Mapping[int, int] = field(default_factory=dict)
    plain_ms: float | None = None  # what a token of plain decoding would cost at the same time; None: not known
    plain_error: float = 0.05  # half of its 95% interval, relative
    looped: int = 0  # tokens at the end that said the same again and again, for which the answer was ended
    joined_passes: int = 0  # of the passes, those that were made for other answers as well
    left_out: int = 0  # messages of the conversation that the context had no room for
    unanswered: int = 0  # questions that had no answer, left out for the same reason
    restored_tokens: int = 0  # of the cached ones, those brought back from an earlier visit, and the seconds it took
    restore_s: float = 0.0
    context_used: int = 0
    context_size: int = 0
    decisions: tuple[str, ...] = ()

    @property
    def plain_s(self) -> float | None:
        """Seconds that plain decoding would have taken; None where that is not known."""
        return self.tokens * self.plain_ms / 1000.0 if self.plain_ms is not None else None

    @property
    def sources(self) -> frozenset[Source]:
        """Where its tokens came from."""
        return frozenset(source for source, tokens in self.provenance.items() if tokens)

    @property
    def tokens_per_second(self) -> float | None:
        """From the end of prefill, the draft model's as well, to the last token; None before it is known."""
        return self.tokens / self.generation_s if self.tokens and self.generation_s > 0 else None

    @property
    def generation_s(self) -> float:
        """Seconds of decoding without the draft model's reading of the prompt."""
        return max(self.decode_s - self.draft_prompt_s, 0.0)

    @property
    def accepted_lengths(self) -> tuple[int, ...]:
        """How many passes kept exactly 0, 1, 2 ... of their proposed tokens; passes without a proposal are left out."""
        if not self.proposed_by_depth:
            return ()
        reached = (self.proposed_by_depth[0], *self.accepted_by_depth, 0)
        return tuple(here - further for here, further in pairwise(reached))

    @property
    def tokens_per_pass(self) -> float | None:
        """Emitted tokens per forward call of the target, recovered and bonus included. Plain decoding is 1.0."""
        return self.tokens / self.passes if self.passes else None

    @property
    def acceptance_rate(self) -> float | None:
        """Accepted / proposed; None where nothing was proposed."""
        return self.accepted / self.proposed if self.proposed else None

    def acceptance_from(self, first: int, last: int) -> float | None:
        """Of the tokens proposed at depths ``first`` to ``last``, the share that was kept; None where there were none.

        Over all depths these are parts of the acceptance rate.
        """
        kept, tried = (sum(each[first - 1 : last]) for each in (self.accepted_by_depth, self.proposed_by_depth))
        return kept / tried if tried else None

    def interval_ms(self, percent: float) -> float | None:
        """A percentile of the time per token out of the counted ones, to within 2%."""
        return percentile_ms(self.interval_counts, percent)

    @property
    def prompt_tokens_per_second(self) -> float | None:
        """Tokens decoded in prefill per second; cached ones do not count."""
        decoded = self.prompt_tokens - self.prompt_cached_tokens
        return decoded / self.prompt_s if decoded > 0 and self.prompt_s > 0 else None


# ---- events: what the engine tells, in order ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """A model is loading; ``fraction`` runs from 0 to 1."""

    path: str
    fraction: float
    request_id: int = 0


@dataclass(frozen=True, slots=True)
class EngineReady:
    """A target is loaded. ``unavailable`` gives, for each mode that cannot run now, the reason in one sentence."""

    target: ModelInfo
    draft: ModelInfo | None = None  # a draft model, or a head of a file of its own
    unavailable: Mapping[Mode, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    devices: tuple[Device, ...] = ()  # of this machine, that llama.cpp found
    remote_devices: tuple[tuple[str, tuple[Device, ...]], ...] = ()  # in use, by the name of their server
    own_head: ModelInfo | None = None  # in the target's file, and in use
    has_heads: bool = False  # whether the target's file has heads of its own, or had them; they may not be usable
    library_notices: tuple[str, ...] = ()  # what a person should know of llama.cpp itself
    request_id: int = 0


@dataclass(frozen=True, slots=True)
class EngineFailed:
    """A request failed. Where it was to load models, the previous one stays usable.

    ``tokens_needed``: what the prompt would have taken, where the context was too small for it; else 0.
    ``was_cancelled``: a load ended because it was to end. ``engine_ended``: see `EngineEnded`.
    """

    problem: Problem
    request_id: int = 0
    tokens_needed: int = 0
    was_cancelled: bool = False
    engine_ended: bool = False


@dataclass(frozen=True, slots=True)
class EngineEnded:
    """The engine's process ended by itself, as ``reason`` says ("signal SIGABRT"): no model is loaded any more."""

    reason: str


@dataclass(frozen=True, slots=True)
class PrefillProgress:
    """The prompt is being read: ``done`` of ``total`` tokens."""

    request_id: int
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class SummaryUpdate:
    """The request's ``num_messages`` oldest messages are being summarised: ``text`` so far, ``done`` of ``total`` read.

    ``complete``: from now on the text stands for them. ``failure``: why it does not; the answer comes without them.
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
    """The logarithm of the target's probability of a token, before the sampling chain: softmax of its bare logits."""

    token_id: int
    piece: bytes  # that it stands for
    logprob: float
    top: tuple[tuple[bytes, float], ...] = ()  # the likeliest tokens there, the likeliest first
    top_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TextChunk:
    """Text that is safe to show, with the provenance of its tokens; the spans' characters add up to the text's.

    ``logprobs`` are of the tokens of the spans, one each, where the request wants them.
    """

    request_id: int
    text: str
    spans: tuple[TokenSpan, ...]
    logprobs: tuple[TokenLogprob, ...] = ()
    opened_tag: str = ""  # of an answer's first: the tag of reasoning that the prompt ended with, spaces included


@dataclass(frozen=True, slots=True)
class StatsUpdate:
    """The counters so far, a few times a second."""

    request_id: int
    stats: RunStats


@dataclass(frozen=True, slots=True)
class TokensCounted:
    """How many tokens each text of a `CountRequest` has; None where no model is loaded."""

    request_id: int
    counts: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Finished:
    """The answer ended. Exactly one for each request that did not fail; ``token_ids`` are for the command line.

    ``stop`` is the stop string that ended it.
    """

    request_id: int
    reason: FinishReason
    stats: RunStats
    token_ids: tuple[int, ...] = ()
    stop: str = ""


@dataclass(frozen=True, slots=True)
class JobEvent:
    """What a job on the engine's thread tells; each kind of job derives its own events, as plain as the others.

    The engine's thread numbers them.
    """

    request_id: int = field(default=0, kw_only=True, compare=False)


AnswerEvent = PrefillProgress | SummaryUpdate | TextChunk | StatsUpdate | Finished | EngineFailed
Event = LoadProgress | EngineReady | EngineEnded | TokensCounted | AnswerEvent | JobEvent
