"""Checks whether a head file fits a target, by their headers and by the functions of this build of llama.cpp."""

from engine.errors import DraftRefusedError
from engine.gguf.head_files import (
    ASSISTANT,
    BLOCKS,
    EAGLE3,
    NUM_FEATURES,
    block_shape,
    head_method,
    num_next_token_layers,
)
from engine.gguf.header import GgufHeader, Value
from engine.llama.hidden_rows import missing_for
from engine.sentences import i18n

# Architectures whose graphs provide the inputs of their layers (`t_layer_inp` in llama.cpp's src/models). For others,
# requesting them aborts the process.
LAYER_INPUT_ARCHITECTURES = frozenset(
    {
        "bailingmoe3",
        "deepseek2",
        "deepseek32",
        "deepseek4",
        "dots3note",
        "exaone-moe",
        "exaone4",
        "gemma4",
        "gpt-oss",
        "hunyuan_vl",
        "lfm2",
        "lfm2moe",
        "llama",
        "mimo2",
        "minimax-01",
        "minimax-m2",
        "muse-glimmer",
        "nanbeige",
        "nemotron_h",
        "nemotron_h_moe",
        "qwen3",
        "qwen35",
        "qwen35moe",
        "qwen3moe",
        "qwen3next",
        "qwen4exp",
    }
)

MAX_BLOCK, MAX_CANDIDATES, MAX_LAYERS = 64, 64, 64  # tokens, tokens, layers; published heads have far fewer


def unsupported_reason(method: str) -> str:
    """Why this build of llama.cpp cannot run heads of this method; empty if it can."""
    missing = missing_for(method)
    if not missing:
        return ""
    return i18n(
        "This build of llama.cpp has no {functions}, which heads of the kind {method} need.",
        functions=", ".join(missing),
        method=method,
    )


def check_head_file(target: GgufHeader, head: GgufHeader) -> None:
    """Raise `DraftRefusedError` if the headers show that the head cannot belong to this target."""
    method = head_method(head)
    reasons = {EAGLE3: _eagle3_reason, ASSISTANT: _assistant_reason} | dict.fromkeys(BLOCKS, _block_reason)
    reason = unsupported_reason(method) or reasons.get(method, _mtp_reason)(target, head)
    if reason:
        raise DraftRefusedError(reason)


def _mtp_reason(target: GgufHeader, head: GgufHeader) -> str:
    if target.architecture != head.architecture:
        return i18n(
            "The head is made for models of the architecture {of_head}, and the target is {of_target}.",
            of_head=head.architecture,
            of_target=target.architecture or "?",
        )
    return _width_reason(target, head.arch_value("embedding_length"))


def _assistant_reason(target: GgufHeader, head: GgufHeader) -> str:
    """Why an assistant cannot read the target's keys and values, which llama.cpp does not check; empty if it can."""
    if target.architecture != "gemma4":
        return i18n(
            "The head is made for models of the architecture {of_head}, and the target is {of_target}.",
            of_head="gemma4",
            of_target=target.architecture or "?",
        )
    blocks, windows = target.arch_value("block_count"), target.arch_value("attention.sliding_window_pattern")
    of_target, of_head = target.arch_value("attention.head_count_kv"), head.arch_value("attention.head_count_kv")
    own_windows, number = head.arch_value("attention.sliding_window_pattern"), head.arch_value("block_count")
    if not isinstance(blocks, int) or not isinstance(windows, tuple) or windows[-2:] != (True, False):
        return i18n("The target's last two layers are not those that the head reads.")
    if not isinstance(own_windows, tuple) or not isinstance(number, int) or len(own_windows) < number:
        return i18n("The head's file does not give the attention windows of its layers.")
    for key in ("attention.key_length", "attention.key_length_swa", "attention.sliding_window"):
        if head.arch_value(key) != target.arch_value(key):
            return i18n("The head's {key} is not the target's: it belongs to another model.", key=key)
    for layer in range(number):
        source = blocks - 2 if own_windows[layer] else blocks - 1
        if _value_of_layer(of_head, layer) != _value_of_layer(of_target, source):
            return i18n(
                "The head's {key} is not the target's: it belongs to another model.", key="attention.head_count_kv"
            )
    return _width_reason(target, head.arch_value("embedding_length_out"))


def _value_of_layer(value: Value | None, layer: int) -> Value | None:
    return value[layer] if isinstance(value, tuple) and layer < len(value) else value


def _eagle3_reason(target: GgufHeader, head: GgufHeader) -> str:
    layers = head.arch_value("target_layers")
    if not isinstance(layers, tuple) or len([one for one in layers if isinstance(one, int)]) != NUM_FEATURES:
        return i18n("The head does not name the three layers of the target that it reads.")
    return (
        _layers_reason(target, layers, EAGLE3, 0)
        or _width_reason(target, head.arch_value("target_hidden_size"))
        or _shared_layers_reason(target, head)
    )


def _block_reason(target: GgufHeader, head: GgufHeader) -> str:
    """Why a DFlash or DSpark head cannot draft for the target (llama.cpp checks little of this); empty if it can."""
    shape = block_shape(head)
    if not 2 <= shape.size <= MAX_BLOCK or (shape.num_candidates and not 2 <= shape.num_candidates <= MAX_CANDIDATES):
        return i18n("The head drafts blocks of {size} tokens, which is not a valid size.", size=shape.size)
    if not isinstance(head.metadata.get("tokenizer.ggml.mask_token_id"), int):
        return i18n("The head does not name its mask token.")
    return (
        _layers_reason(target, head.arch_value("target_layers"), head_method(head), 1)
        or _width_reason(target, head.arch_value("embedding_length"))
        or _shared_layers_reason(target, head)
    )


def _layers_reason(target: GgufHeader, layers: Value | None, method: str, num_below: int) -> str:
    """Why a head cannot read these layers of a target; empty if it can. EAGLE-3 also reads the last layer's output."""
    if target.architecture not in LAYER_INPUT_ARCHITECTURES:
        return i18n(
            "{method} heads read the target's layers, and llama.cpp does not provide those of {architecture} models.",
            method=method,
            architecture=target.architecture or "?",
        )
    blocks = target.arch_value("block_count")
    most = (blocks if isinstance(blocks, int) else 0) - num_next_token_layers(target) - num_below
    numbers = [layer for layer in layers if isinstance(layer, int)] if isinstance(layers, tuple) else []
    if not isinstance(layers, tuple) or not 0 < len(numbers) == len(layers) <= MAX_LAYERS:
        return i18n("The head does not name the layers of the target that it reads.")
    if not all(0 <= layer <= most for layer in numbers):
        return i18n(
            "The head reads layer {layer} of its target, and this one has {most}.", layer=max(numbers), most=most
        )
    return ""


def _shared_layers_reason(target: GgufHeader, head: GgufHeader) -> str:
    """Why a head without embedding or output layer cannot use the target's; empty if it can."""
    tensors = {tensor.name for tensor in head.tensors}
    borrows = not {"token_embd.weight", "output.weight"} <= tensors
    if borrows and head.arch_value("embedding_length") != target.arch_value("embedding_length"):
        return i18n("The head uses the target's embedding or output layer, which has another width than its own.")
    if "d2t" in tensors and "output.weight" not in tensors:
        return i18n("The head has a vocabulary of its own, but no output layer for it.")
    return ""


def _width_reason(target: GgufHeader, wanted: object) -> str:
    width = target.arch_value("embedding_length")
    if wanted == width:
        return ""
    return i18n(
        "The head reads hidden states of {wanted} numbers, and the target's have {width}: it belongs to another model.",
        wanted=wanted if isinstance(wanted, int) else "?",
        width=width if isinstance(width, int) else "?",
    )
