"""Finds the heads in a GGUF file by its header: next-token layers (MTP), EAGLE-3, DFlash, DSpark.

``nextn_predict_layers`` counts next-token layers, which are the last layers of the target's file, or alone in a
separate file. EAGLE-3, DFlash and assistant files have separate architectures. A DFlash file with a Markov head is a
DSpark file.
"""

from dataclasses import dataclass

from engine.gguf.header import BLOCK, GgufHeader, TensorInfo
from engine.sentences import i18n

MTP, EAGLE3, DFLASH, DSPARK, ASSISTANT = "MTP", "EAGLE-3", "DFlash", "DSpark", "Gemma 4 assistant"
BLOCKS = frozenset({DFLASH, DSPARK})  # methods that draft several tokens in one pass, from a block of masks
NUM_FEATURES = 3  # layers of the target that an EAGLE-3 head reads
DFLASH_ARCHITECTURE = "dflash"
_METHODS = {"eagle3": EAGLE3, DFLASH_ARCHITECTURE: DFLASH, "gemma4-assistant": ASSISTANT}
MARKOV_HEAD = "markov_w1.weight"
USUAL_BLOCK = 16  # tokens of a block if the file has no entry: llama.cpp's default


def num_next_token_layers(header: GgufHeader) -> int:
    """Number of next-token layers according to the header."""
    claimed = header.arch_value("nextn_predict_layers")
    return claimed if isinstance(claimed, int) and not isinstance(claimed, bool) else 0


def has_next_token_layers(header: GgufHeader) -> bool:
    """Whether the file contains its next-token layers; assumed for the first part of a split model."""
    if not num_next_token_layers(header):
        return False
    is_part = header.metadata.get("split.count", 1) not in (0, 1)
    return is_part or any(".nextn." in tensor.name for tensor in header.tensors)


def are_heads_stripped(header: GgufHeader) -> bool:
    """Whether the header has next-token layers that are missing in the file."""
    return num_next_token_layers(header) > 0 and not has_next_token_layers(header)


def head_method(header: GgufHeader) -> str:
    """The method of a file with heads for another model; otherwise empty."""
    if header.architecture in _METHODS:
        method = _METHODS[header.architecture]
        has_markov_head = method == DFLASH and any(tensor.name == MARKOV_HEAD for tensor in header.tensors)
        return DSPARK if has_markov_head else method
    names = [tensor.name for tensor in header.tensors]
    is_part = header.metadata.get("split.count", 1) not in (0, 1)
    has_trunk = any(name.startswith("blk.0.") for name in names)
    return MTP if any(".nextn." in name for name in names) and not has_trunk and not is_part else ""


@dataclass(frozen=True, slots=True)
class BlockShape:
    """The blocks of a DFlash or DSpark head.

    Attributes:
        size: tokens of a block: the last token of the text (the anchor), then masks.
        drafts_at_anchor: whether the anchor's row drafts as well (DSpark).
        is_causal: whether a mask attends only to earlier tokens of the block.
        num_candidates: candidates per position, from which a selector chooses (DFlash2); 0: the rows have all tokens.
        has_confidence: whether the head estimates the acceptance of each token (DSpark).
    """

    size: int = USUAL_BLOCK
    drafts_at_anchor: bool = False
    is_causal: bool = False
    num_candidates: int = 0
    has_confidence: bool = False

    @property
    def num_drafted(self) -> int:
        return self.size if self.drafts_at_anchor else self.size - 1


def block_shape(header: GgufHeader) -> BlockShape:
    """Read the shape of a DFlash or DSpark head; see llama.cpp's `common_speculative_impl_draft_dflash`."""
    size, candidates = header.arch_value("block_size"), header.arch_value("selector_top_k")
    is_dspark = head_method(header) == DSPARK
    names = {tensor.name for tensor in header.tensors}
    return BlockShape(
        size if isinstance(size, int) else USUAL_BLOCK,
        is_dspark and header.arch_value("sample_from_anchor") is not False,
        header.arch_value("attention.causal") is True,
        candidates if isinstance(candidates, int) and "selector_hidden.weight" in names else 0,
        is_dspark and "conf_proj.weight" in names,
    )


def next_token_tensors(header: GgufHeader) -> tuple[TensorInfo, ...]:
    """The weights of the next-token layers in this file."""
    blocks = header.arch_value("block_count")
    first = (blocks if isinstance(blocks, int) else 0) - num_next_token_layers(header)
    if not num_next_token_layers(header):
        return ()
    return tuple(one for one in header.tensors if (found := BLOCK.match(one.name)) and int(found[1]) >= first)


def next_token_weights(header: GgufHeader) -> tuple[int, int]:
    """Number and bytes of the weights of the next-token layers in this file."""
    own = next_token_tensors(header)
    return sum(one.num_values for one in own), sum(one.num_bytes for one in own)


def own_heads_sentence(header: GgufHeader, name: str) -> str:
    """A sentence for the user about the target's own heads."""
    count = num_next_token_layers(header)
    if are_heads_stripped(header):
        return i18n(
            "{name} says that it has next-token layers (MTP), but they are not in the file: they were left out when "
            "it was made. A file with them drafts for itself.",
            name=name,
        )
    if not count:
        return i18n("{name} has no next-token layers (MTP): it cannot draft for itself.", name=name)
    if count == 1:
        return i18n("{name} drafts for itself: it has a next-token layer (MTP).", name=name)
    return i18n("{name} drafts for itself: it has {count} next-token layers (MTP).", name=name, count=count)
