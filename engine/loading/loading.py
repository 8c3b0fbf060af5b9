"""Loads a model: converts a request to options, chooses a context that fits, and opens the GGUF.

A loaded model has weights, a context, a cached sequence, and a `ModelInfo` for window and command line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from engine.errors import (
    ContextError,
    DecodeError,
    EngineError,
    LoadCancelledError,
    ModelFileError,
    ModelLoadError,
)
from engine.fit.cache_size import CacheSetup, affordable_snapshots
from engine.fit.estimate import estimate_memory
from engine.fit.fit import ModelPlan, PairPlan, all_parts_bytes, choose_parallel, estimate
from engine.gguf.header import GgufHeader, read_header
from engine.gguf.model_kind import missing_abilities
from engine.gguf.model_parts import size_of_files
from engine.interfaces import ComputeContext
from engine.llama import library
from engine.llama.context import ContextParams, LlamaContext
from engine.llama.devices import find_devices
from engine.llama.model import LlamaModel
from engine.llama.top_k_sampler import NUM_CANDIDATES, candidates_pay
from engine.loading.devices import ALL_LAYERS, LoadAttempt, free_memory, load_attempts
from engine.loading.exactness import why_inexact
from engine.loading.memory_use import reported_memory
from engine.records import (
    DEFAULT_PLACEMENT,
    CacheType,
    FitLevel,
    FlashAttention,
    LoadRequest,
    ModelInfo,
    Placement,
    SamplingParams,
    SplitMode,
)
from engine.sentences import i18n
from engine.sequence import CachedSequence
from engine.storage.cost_store import file_facts, key_of

SMALLEST_AUTOMATIC_N_CTX = 2048
_STATE_BYTES = 4  # bytes of a number in a recurrent state
_MAX_DIGITS = 9  # a longer number in an untrusted file counts as 0
AUTOMATIC_N_CTX = 8192  # default context in tokens, limited by the model's trained context
# Settings of `SamplingParams` and their keys in ``general.sampling.*`` of the metadata.
_INTEGER_KEYS = {"top_k": "top_k"}
# SmolLM2 135M looped in 9 of 20 answers at its recommended temperature of 0.2, and in 5 at 0.8. With a penalty of 1.1
# it looped once at 0.2 and never at 0.8; with 1.2, three answers did not end. Smaller models are only for tests.
SMALL_PARAMS, PENALTY = (50_000_000, 400_000_000), 1.1
_FLOAT_KEYS = {"temperature": "temp", "top_p": "top_p", "min_p": "min_p", "repeat_penalty": "penalty_repeat"}


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How to load one model; ``None`` means an automatic value."""

    n_ctx: int | None = None
    threads: int | None = None
    gpu_layers: int | None = None
    cache_type: CacheType = CacheType.F16
    flash_attention: FlashAttention = FlashAttention.AUTO
    gives_candidates: bool = False  # on a GPU, passes may give the most likely tokens instead of whole rows
    heads: bool = False  # also load the file's next-token layers (MTP)
    placement: Placement = DEFAULT_PLACEMENT
    draft_bytes: int = 0  # device memory to leave free for a draft; to free it, experts may stay in main memory
    num_at_once: int = 0  # see `ContextParams`
    num_sequences: int = 1  # see `ContextParams`

    def with_default_attention_on_cpu(self) -> LoadOptions:
        """Turn flash attention on if the model is on the CPU: answers with drafting are identical only with it."""
        return self if self.may_leave_main_memory else replace(self, flash_attention=FlashAttention.AUTO)

    @property
    def may_leave_main_memory(self) -> bool:
        """Whether layers may be on a GPU."""
        return self.gpu_layers != 0 and not self.placement.is_processor and library.supports_gpu()


@dataclass(frozen=True, slots=True)
class Loaded:
    """A loaded model or head. If the test for ``can_rollback`` failed, the model is decoded plain.

    ``model`` may belong to another `Loaded`, which then frees the weights (``owns_weights`` False).
    """

    model: LlamaModel
    context: ComputeContext
    sequence: CachedSequence
    info: ModelInfo
    can_rollback: bool
    owns_weights: bool = True

    @property
    def block_size(self) -> int:
        """How many tokens one pass drafts."""
        return 1

    def close(self) -> None:
        self.context.close()
        if self.owns_weights:
            self.model.close()


@dataclass(frozen=True, slots=True)
class LoadedModel(Loaded):
    """A complete model."""

    context: LlamaContext


def target_options(request: LoadRequest) -> LoadOptions:
    kinds = (request.cache_type, request.flash_attention)
    options = LoadOptions(request.n_ctx, request.threads, request.gpu_layers, *kinds, placement=request.placement)
    return options.with_default_attention_on_cpu()


def with_parallel(request: LoadRequest, options: LoadOptions) -> LoadOptions:
    """Set the number of parallel answers: as many as requested, or fewer if fewer are possible.

    Raises:
        ModelFileError: its header cannot be read.
        DeviceError: a device does not exist.
    """
    if request.parallel == 1:
        return options
    header, kind = read_header(Path(request.target)), options.cache_type.value
    layers = options.gpu_layers if options.gpu_layers is not None else ALL_LAYERS
    layers = layers if options.may_leave_main_memory else 0
    setup = CacheSetup(_automatic_n_ctx(header, options), kind, kind)
    plan, draft = ModelPlan(header, setup, layers, all_parts_bytes(Path(request.target), header)), None
    if request.draft:
        with suppress(ModelFileError):  # opening the file reports it
            draft_header = read_header(Path(request.draft))
            draft = ModelPlan(draft_header, setup, layers, all_parts_bytes(Path(request.draft), draft_header))
    memory = free_memory(find_devices(options.placement.devices) if layers else (), psutil.virtual_memory().available)
    return replace(options, num_sequences=choose_parallel(PairPlan(plan, draft), memory, request.parallel))


def draft_options(request: LoadRequest, n_ctx: int) -> LoadOptions:
    """Convert a request to the draft's options: the target's context, and its devices unless the request differs."""
    gpu_layers, kind = request.draft_gpu_layers, request.draft_cache_type
    if request.draft_devices:
        placement = Placement(request.draft_devices)
    else:
        placement = replace(request.placement, cpu_moe_layers=None)
        gpu_layers = request.gpu_layers if gpu_layers is None else gpu_layers
    own = (kind, request.flash_attention)
    options = LoadOptions(n_ctx, request.draft_threads, gpu_layers, *own, gives_candidates=True, placement=placement)
    return options.with_default_attention_on_cpu()


def load_notices(request: LoadRequest, target: ModelInfo, num_layers: int) -> tuple[str, ...]:
    """Notices for the user on where and how a target was loaded, one sentence each."""
    found = list[str]()
    kinds = (request.cache_type, request.draft_cache_type if request.draft else CacheType.F16)
    quantized = [kind.value for kind in dict.fromkeys(kinds) if kind is not CacheType.F16]
    if request.flash_attention is FlashAttention.OFF and quantized:
        found.append(
            i18n("Flash attention is on, since a cache of type {kinds} needs it.", kinds=" / ".join(quantized))
        )
    on_devices, every = target.gpu_layers, num_layers + 1
    if request.gpu_layers is None and target_options(request).may_leave_main_memory and on_devices < every:
        found.append(
            i18n(
                "The GPU has no room for all of it: {on_devices} of {every} layers lie there.",
                on_devices=on_devices,
                every=every,
            )
            if on_devices
            else i18n("The GPU has no room for it, so it runs on the processor.")
        )
    number = target.placement.cpu_moe_layers
    if number and request.placement.cpu_moe_layers is None:
        words = i18n("The GPU has no room for all of it. Layers with experts in main memory: {number}.", number=number)
        found.append(words)
    return tuple(found)


def fit_context(paths: Sequence[str], options: LoadOptions) -> LoadOptions:
    """Choose the context before loading: the requested one, or the largest automatic one that fits main memory.

    For models on a GPU, llama.cpp reports a lack of memory.

    Raises:
        ModelFileError: a header cannot be read.
        NotEnoughMemoryError: the models do not fit the free main memory.
    """
    files = [Path(path) for path in paths]
    n_ctx = _automatic_n_ctx(read_header(files[0]), options)
    if options.may_leave_main_memory:
        return replace(options, n_ctx=n_ctx)
    while options.n_ctx is None and n_ctx > SMALLEST_AUTOMATIC_N_CTX:
        if estimate(files, _fit_setup(options, n_ctx), heads=options.heads).verdict is not FitLevel.TOO_LARGE:
            break
        n_ctx //= 2
    estimate(files, _fit_setup(options, n_ctx), heads=options.heads).check()
    return replace(options, n_ctx=n_ctx)


def _automatic_n_ctx(header: GgufHeader, options: LoadOptions) -> int:
    """The requested context, or the default one, limited to the model's trained context."""
    trained = header.arch_value("context_length")
    largest = trained if isinstance(trained, int) and trained > 0 else AUTOMATIC_N_CTX
    return min(options.n_ctx or AUTOMATIC_N_CTX, largest)


def with_draft_memory(draft: str | None, request: LoadRequest, options: LoadOptions) -> LoadOptions:
    """The target's options, with device memory reserved for the draft."""
    if draft is None or not options.may_leave_main_memory or request.draft_devices or request.draft_gpu_layers == 0:
        return options
    try:
        header = read_header(Path(draft))
    except ModelFileError:  # opening the file reports it
        return options
    kind = request.draft_cache_type.value
    needed = estimate_memory(header, CacheSetup(options.n_ctx or AUTOMATIC_N_CTX, kind, kind), ALL_LAYERS)
    return replace(options, draft_bytes=needed.total.gpu_bytes)


def _fit_setup(options: LoadOptions, n_ctx: int) -> CacheSetup:
    fused = options.flash_attention is not FlashAttention.OFF
    return CacheSetup(n_ctx, options.cache_type, options.cache_type, fused)


def open_model(path: str | Path, options: LoadOptions, progress: Callable[[float], bool] | None = None) -> LoadedModel:
    """Load ``path``; with automatic GPU layers, fewer layers are tried if memory is short.

    Raises:
        ModelFileError: the file is missing, broken, or no text model.
        DeviceError: a device does not exist.
        ContextError: no context of this size can be created.
        DecodeError: the test pass of a few tokens failed.
    """
    for gpu_layers, cpu_moe_layers in _attempts(Path(path), options):
        last_choice = gpu_layers == 0 or options.gpu_layers is not None
        placement = replace(options.placement, cpu_moe_layers=cpu_moe_layers)
        try:
            return _open_with(Path(path), replace(options, placement=placement), gpu_layers, progress)
        except LoadCancelledError:
            raise
        except (ModelLoadError, ContextError, DecodeError):  # DecodeError: no memory for a pass
            if last_choice:
                raise
    raise ModelLoadError(i18n("{path} fits neither GPU nor main memory.", path=Path(path).name))


def _attempts(path: Path, options: LoadOptions) -> Iterator[LoadAttempt]:
    asked = options.placement.cpu_moe_layers
    if not options.may_leave_main_memory:
        yield 0, asked
    elif options.gpu_layers is not None:
        yield options.gpu_layers, asked
    else:
        kind = options.cache_type.value
        setup = CacheSetup(options.n_ctx or AUTOMATIC_N_CTX, kind, kind)
        yield from load_attempts(path, options.placement, setup, options.draft_bytes)


def _open_with(
    path: Path, options: LoadOptions, gpu_layers: int, progress: Callable[[float], bool] | None
) -> LoadedModel:
    with library.placement_lines() as reported:
        model = LlamaModel(
            path,
            gpu_layers=gpu_layers,
            progress=progress,
            placement=options.placement,
            with_heads=options.heads,
        )
        try:
            model.check_writes_text()
            _check_cancelled(path, progress)
            context = _make_context(model, options)
        except Exception:
            model.close()
            raise
    try:
        _check_cancelled(path, progress)  # the test pass below reads all weights, perhaps from a disk
        info = _describe(model, context, options)
        # For tensors that all devices share, llama.cpp reports only the largest share.
        is_reported = options.placement.split_mode is not SplitMode.TENSOR or not gpu_layers
        memory = reported_memory(reported, model.size_bytes) if is_reported else None
        info = replace(info, memory=memory)
        sequence = CachedSequence(context)
        return LoadedModel(model, context, sequence, info, probe_rollback(sequence))
    except Exception:
        context.close()
        model.close()
        raise


def _check_cancelled(path: Path, progress: Callable[[float], bool] | None) -> None:
    if progress is not None and not progress(1.0):
        raise LoadCancelledError(i18n("Loading {path} was cancelled.", path=path.name))


def _make_context(model: LlamaModel, options: LoadOptions) -> LlamaContext:
    trained = model.n_ctx_train or AUTOMATIC_N_CTX
    n_ctx = min(options.n_ctx or AUTOMATIC_N_CTX, trained)
    threads = options.threads or library.default_threads(model.num_params)
    snapshots = num_snapshots(model)
    candidates = NUM_CANDIDATES if options.gives_candidates and candidates_pay(model) else 0
    kinds = (options.cache_type, options.flash_attention)
    several = 1 if model.is_recurrent else options.num_sequences
    params = ContextParams(
        n_ctx,
        threads,
        snapshots,
        *kinds,
        candidates if several == 1 else 0,
        picture_ubatch=options.num_at_once,
        num_sequences=several,
    )
    return LlamaContext(model, params)


def open_another(loaded: LoadedModel, n_ctx: int, *, gives_candidates: bool = False) -> LoadedModel:
    """Create another context of a loaded model, with the same weights, threads and cache types.

    Close it before ``loaded``. ``gives_candidates`` as in `LoadOptions`.

    Raises:
        ContextError: memory is short.
    """
    info = loaded.info
    kinds, at_once = (info.cache_type, info.flash_attention), loaded.context.params.picture_ubatch
    options = LoadOptions(n_ctx, loaded.context.threads, None, *kinds, gives_candidates, num_at_once=at_once)
    context = _make_context(loaded.model, options)
    try:
        sequence = CachedSequence(context)
        can_rollback = probe_rollback(sequence)
    except Exception:
        context.close()
        raise
    info = replace(info, n_ctx=context.n_ctx, memory=None)
    return LoadedModel(loaded.model, context, sequence, info, can_rollback, owns_weights=False)


def another_sequence(loaded: LoadedModel, number: int) -> LoadedModel:
    """Return another, empty sequence of the model's context, which need not be closed."""
    context = loaded.context.other_sequence(number)
    return replace(loaded, context=context, sequence=CachedSequence(context), owns_weights=False)


def cache_identity(loaded: Loaded) -> Callable[[], str]:
    """Return a function that hashes everything that a cache's bytes depend on."""
    info, context = loaded.info, loaded.context
    kinds = (info.cache_type, info.flash_attention, *([info.head_method] if info.head_method else []))
    facts = (*file_facts(info.path), *kinds, info.gpu_layers, info.n_ctx, context.n_ubatch, *info.placement.cache_key)
    key = key_of(*facts, *library.machine_facts())
    return lambda: key


def probe_rollback(sequence: CachedSequence) -> bool:
    """Test with three tokens whether the memory can drop a tail or be restored; this also warms up buffers."""
    sequence.forward((0,), 0)
    sequence.checkpoint()
    sequence.forward((0, 0), 1)
    possible = sequence.rollback(1)
    sequence.clear()
    return possible


def _describe(model: LlamaModel, context: LlamaContext, options: LoadOptions) -> ModelInfo:
    params = context.params
    kinds = (params.cache_type, params.flash_attention)
    return ModelInfo(
        path=str(model.path),
        name=model.name,
        architecture=model.architecture,
        num_params=model.num_params,
        size_bytes=size_of_files(model.path),
        n_vocab=model.vocab.n_vocab,
        n_ctx=context.n_ctx,
        n_ctx_train=model.n_ctx_train,
        threads=context.threads,
        gpu_layers=min(model.gpu_layers, model.n_layer + 1),
        template_name="from the model" if model.chat_template else "fallback",
        cache_type=params.cache_type,
        flash_attention=params.flash_attention,
        recommended=recommended_sampling(model.metadata, model.num_params),
        unused_abilities=missing_abilities(
            model.architecture, model.metadata, model.path.name, _other_models(model.path)
        ),
        placement=options.placement,
        parallel=params.num_sequences,
        inexact_reason=why_inexact(str(model.path), model.gpu_layers, *kinds),
    )


def _other_models(path: Path) -> list[str]:
    """File names of the other models in the folder; empty if the folder cannot be read."""
    try:
        return [other.name for other in path.parent.glob("*.gguf") if other.name != path.name]
    except OSError:
        return []


def recommended_sampling(
    metadata: Callable[[str], str | None], num_params: int = 0
) -> tuple[tuple[str, int | float], ...]:
    """The sampling settings that a file recommends, by names of `SamplingParams`. Small models get `PENALTY`.

    ``metadata`` returns an entry as text, or None. Invalid values are ignored.
    """
    kinds: tuple[tuple[type[int] | type[float], dict[str, str]], ...] = ((int, _INTEGER_KEYS), (float, _FLOAT_KEYS))
    given = ((name, kind, metadata(f"general.sampling.{key}")) for kind, keys in kinds for name, key in keys.items())
    read = ((name, None if text is None else _number(name, kind, text)) for name, kind, text in given)
    found: dict[str, int | float] = {name: value for name, value in read if value is not None}
    if SMALL_PARAMS[0] <= num_params < SMALL_PARAMS[1]:
        found.setdefault("repeat_penalty", PENALTY)
    return tuple(found.items())


def sampling_of_file(path: str) -> dict[str, int | float]:
    """Like `recommended_sampling` for a file that is not loaded; empty if its header cannot be read."""
    try:
        header = read_header(Path(path))
    except EngineError:
        return {}
    entries = header.metadata
    return dict(recommended_sampling(lambda key: str(entries[key]) if key in entries else None, header.num_params))


def _number(name: str, kind: type[int] | type[float], text: str) -> int | float | None:
    try:
        value = kind(text)
        SamplingParams(**{name: value})  # type: ignore[arg-type]
    except ValueError:
        return None
    return value


def num_snapshots(model: LlamaModel) -> int:
    """Number of snapshots of a recurrent memory, as in the memory estimate."""
    texts = (model.metadata(f"{model.architecture}.ssm.{key}") for key in ("inner_size", "state_size"))
    inner, state = (int(one) if one and one.isdecimal() and len(one) <= _MAX_DIGITS else 0 for one in texts)
    has_rows_only = model.metadata(f"{model.architecture}.shortconv.l_cache") is not None
    return affordable_snapshots(inner * state * _STATE_BYTES * model.n_layer, is_small=has_rows_only)
