"""Bytes of each layer's cache, computed from a header: keys and values, or a recurrent state.

The rules are those of llama.cpp (`llama_kv_cache`, `llama_hparams::n_embd_r` and `n_embd_s`): grouped heads, different
head sizes in sliding-window layers, one shared latent (MLA), layers that share another layer's cache, and states of
Mamba, RWKV, short convolutions and delta networks.
"""

from dataclasses import dataclass

from engine.gguf.header import GgufHeader, Value
from engine.gguf.value_types import BLOCK_SIZES, BlockSize

CACHE_TYPES = {block.name.lower(): block for block in BLOCK_SIZES.values() if block.name in ("F16", "Q8_0", "Q4_0")}
_STEP = 256  # llama.cpp rounds a context up to a multiple of this
_STATE_BYTES = 4  # recurrent states are F32
# A recurrent memory drops tokens by returning to a snapshot of its state, if llama.cpp supports this for the
# architecture.
MAX_SNAPSHOTS = 15  # larger passes than 16 tokens rarely pay off
UNKNOWN_SNAPSHOTS = 3  # for a header without the size of a state
SNAPSHOTS_BYTES = 256 * 2**20
_KEEPS_SNAPSHOTS = (
    "bailingmoe3",
    "lfm2",
    "lfm2moe",
    "nemotron_h",
    "nemotron_h_moe",
    "qwen35",
    "qwen35moe",
)
_ATTENTION_INTERVAL = 4  # every fourth layer of a hybrid has attention if the header does not say


@dataclass(frozen=True, slots=True)
class CacheSetup:
    """The size of a context in tokens, and the types of its keys and values, which are names in `CACHE_TYPES`.

    Without ``fused`` (flash) attention the scores of all heads are in memory at once. A quantized cache needs it.
    Each of ``num_answers`` parallel answers has ``n_ctx`` tokens.
    """

    n_ctx: int
    cache_type_k: str = "f16"
    cache_type_v: str = "f16"
    fused: bool = True
    num_answers: int = 1

    @property
    def num_cells(self) -> int:
        """Number of tokens that llama.cpp allocates, in one pool for all answers."""
        return -(-self.n_ctx // _STEP) * _STEP * self.num_answers


def layer_cache_bytes(header: GgufHeader, setup: CacheSetup) -> list[int]:
    """Bytes of each layer's cache; sliding-window layers keep the whole context, so that a rollback can return to it.

    Raises:
        KeyError: the cache type is not in `CACHE_TYPES`.
    """
    num_layers, (heads, usual, shorter) = num_cached_layers(header), _heads(header)
    key_type, value_type = CACHE_TYPES[setup.cache_type_k], CACHE_TYPES[setup.cache_type_v]
    latent = _is_latent(header)
    recurrent, pattern = _recurrent_layers(header, num_layers), header.arch_value("attention.sliding_window_pattern")
    sliding = per_layer(pattern if isinstance(pattern, tuple) else 0, num_layers)
    num_states = (1 + _num_snapshots(header)) * setup.num_answers
    borrowing = num_layers - first(header.arch_value("attention.shared_kv_layers"))
    sizes = []
    for i in range(num_layers):
        key_dim, value_dim = shorter if sliding[i] else usual
        size = num_states * _state_bytes(header) if recurrent[i] else 0
        if i < borrowing and (not recurrent[i] or header.architecture == "falcon-h1"):
            size += setup.num_cells * _row_bytes(key_type, heads[i] * key_dim)
            size += 0 if latent else setup.num_cells * _row_bytes(value_type, heads[i] * value_dim)
        sizes.append(size)
    return sizes


def head_layer_cache_bytes(header: GgufHeader, setup: CacheSetup) -> int:
    """Bytes of one next-token layer's cache, whose keys and values are those of the last layer with attention.

    Raises:
        KeyError: the cache type is not in `CACHE_TYPES`.
    """
    blocks, (heads, usual, _) = first(header.arch_value("block_count")), _heads(header)
    of_all = per_layer(header.arch_value("attention.head_count_kv"), blocks)
    num_heads = (of_all[-1] if of_all else 0) or max(heads, default=0)
    rows = _row_bytes(CACHE_TYPES[setup.cache_type_k], num_heads * usual[0])
    if not _is_latent(header):
        rows += _row_bytes(CACHE_TYPES[setup.cache_type_v], num_heads * usual[1])
    return setup.num_cells * rows


def affordable_snapshots(state_bytes: int, *, is_small: bool) -> int:
    """Number of snapshots to keep; the states of all layers take ``state_bytes`` (0: unknown).

    ``is_small``: a state has only a few rows, as in short convolutions.
    """
    if is_small:
        return MAX_SNAPSHOTS
    return min(MAX_SNAPSHOTS, SNAPSHOTS_BYTES // state_bytes) if state_bytes else UNKNOWN_SNAPSHOTS


def num_cached_layers(header: GgufHeader) -> int:
    """Number of layers without next-token layers."""
    return max(0, first(header.arch_value("block_count")) - first(header.arch_value("nextn_predict_layers")))


def is_recurrent(header: GgufHeader) -> bool:
    """Whether some layers have a recurrent state, with or without keys and values."""
    return any(_recurrent_layers(header, num_cached_layers(header)))


def per_layer(value: Value | None, num_layers: int) -> list[int]:
    """Expand one number for all layers, or a list, to one number per layer."""
    if isinstance(value, tuple):
        numbers = [int(number) for number in value[:num_layers]]
        return numbers + [0] * (num_layers - len(numbers))
    return [int(value)] * num_layers if isinstance(value, int) else []


def first(value: Value | None) -> int:
    """A number, or the first of a list; 0 for None."""
    if isinstance(value, tuple):
        return int(value[0]) if value else 0
    return int(value) if isinstance(value, int) else 0


def _heads(header: GgufHeader) -> tuple[list[int], tuple[int, ...], tuple[int, ...]]:
    """KV heads of each layer, and their sizes (key, value) in full and in sliding-window attention."""
    num_layers = num_cached_layers(header)
    heads = per_layer(header.arch_value("attention.head_count"), num_layers)
    kv_heads = per_layer(header.arch_value("attention.head_count_kv"), num_layers) or heads or [0] * num_layers
    most = max(heads, default=0)
    head_dim = first(header.arch_value("embedding_length")) // most if most else 0
    usual = tuple(first(header.arch_value(f"attention.{what}_length")) or head_dim for what in ("key", "value"))
    sliding = tuple(
        first(header.arch_value(f"attention.{what}_length_swa")) or usual[i] for i, what in enumerate(("key", "value"))
    )
    latent = first(header.arch_value("attention.kv_lora_rank"))
    if _is_latent(header) and first(header.arch_value("attention.key_length_mla")) == 0:  # as in the first MLA files
        usual = sliding = (latent + first(header.arch_value("rope.dimension_count")), 0)
        kv_heads = [1] * num_layers
    return kv_heads, usual, sliding


def _is_latent(header: GgufHeader) -> bool:
    """Whether layers store one shared latent and one rotated key (MLA, as in DeepSeek's models)."""
    one_head = first(header.arch_value("attention.head_count_kv")) <= 1
    reported = first(header.arch_value("attention.key_length_mla")) > 0
    return reported or (first(header.arch_value("attention.kv_lora_rank")) > 0 and one_head)


def _recurrent_layers(header: GgufHeader, num_layers: int) -> list[bool]:
    """Whether each layer has a recurrent state instead of keys and values (Falcon's hybrids have both)."""
    if not _state_bytes(header):
        return [False] * num_layers
    named = header.arch_value("attention.recurrent_layers")
    if isinstance(named, tuple):
        return [bool(flag) for flag in per_layer(named, num_layers)]
    if header.architecture == "falcon-h1":
        return [True] * num_layers
    kv_heads = header.arch_value("attention.head_count_kv")
    if isinstance(kv_heads, tuple):
        return [number == 0 for number in per_layer(kv_heads, num_layers)]
    if not first(header.arch_value("attention.head_count")) or header.arch_value("wkv.head_size") is not None:
        return [True] * num_layers
    interval = first(header.arch_value("full_attention_interval")) or _ATTENTION_INTERVAL
    return [(i + 1) % interval != 0 for i in range(num_layers)]


def _state_bytes(header: GgufHeader) -> int:
    def own(key: str) -> int:
        return first(header.arch_value(key))

    n_embd, heads = own("embedding_length"), max(per_layer(header.arch_value("attention.head_count"), 4096), default=0)
    kernel = own("ssm.conv_kernel")
    if own("wkv.head_size"):
        shifted, state = (own("token_shift_count") or 2) * n_embd, n_embd * own("wkv.head_size")
    elif own("shortconv.l_cache"):
        shifted, state = n_embd * (own("shortconv.l_cache") - 1), 0
    elif own("kda.head_dim"):
        width = heads * own("kda.head_dim")
        shifted, state = 3 * (kernel - 1 if kernel else 3) * width, own("kda.head_dim") * width
    else:
        channels = own("ssm.inner_size") + 2 * own("ssm.group_count") * own("ssm.state_size")
        shifted, state = max(0, kernel - 1) * channels, own("ssm.state_size") * own("ssm.inner_size")
    return (shifted + state) * _STATE_BYTES


def _num_snapshots(header: GgufHeader) -> int:
    if header.architecture not in _KEEPS_SNAPSHOTS:
        return 0
    inner, state, layers = (
        first(header.arch_value(key)) for key in ("ssm.inner_size", "ssm.state_size", "block_count")
    )
    has_rows_only = header.arch_value("shortconv.l_cache") is not None
    return affordable_snapshots(inner * state * _STATE_BYTES * layers, is_small=has_rows_only)


def _row_bytes(kind: BlockSize, num_values: int) -> int:
    return -(-num_values // kind.num_values) * kind.num_bytes
