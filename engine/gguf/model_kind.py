"""Whether a GGUF file is a model that writes text, judged from its header; many GGUF files are something else."""

from __future__ import annotations

from engine.errors import ModelFileError
from engine.gguf.header import GgufHeader
from engine.sentences import said

# Architectures that turn a text into one vector. llama.cpp loads them, but their contexts have no logits.
_ENCODERS = (
    "bert",
    "eurobert",
    "gemma-embedding",
    "jina-bert-v2",
    "jina-bert-v3",
    "modern-bert",
    "neo-bert",
    "nomic-bert",
    "nomic-bert-moe",
    "t5encoder",
)
_OTHERS = {
    "clip": said("a projector, the image or sound part of another model"),
    "wavtokenizer-dec": said("a part of a speech model"),
    "dflash": said("a draft head that works only inside its own target"),
    "eagle3": said("a draft head that works only inside its own target"),
}
_TYPES = {
    "adapter": said("an adapter (LoRA) for another model"),
    "imatrix": said("a table for quantizing another model"),
    "mmproj": said("a projector, the image or sound part of another model"),
    "vocab": said("a vocabulary without weights"),
}
_ADVICE = said("Choose a GGUF file of a chat or text model.")


def check_writes_text(header: GgufHeader, name: str) -> None:
    """Return if the model can continue a text; ``name`` is how the sentence calls it.

    Raises:
        ModelFileError: it is something else; the sentence says what.
    """
    reason = _TYPES.get(str(header.metadata.get("general.type"))) or _OTHERS.get(header.architecture)
    if reason is None and _is_head_only(header):
        reason = said("the next-token heads (MTP) of another model, which work only inside it")
    if reason is None and _is_encoder(header):
        reason = said(
            "a text encoder ({architecture}): it turns texts into numbers, for searching",
            architecture=header.architecture,
        )
    if reason is not None:
        raise ModelFileError(said("{name} is {reason}, and does not write text.", name=name, reason=reason), _ADVICE)


def _is_head_only(header: GgufHeader) -> bool:
    """Heads that predict several tokens ahead, in a file without the layers that they belong to."""
    names = [tensor.name for tensor in header.tensors]
    has_heads = any("nextn" in name for name in names)
    is_part = header.metadata.get("split.count", 1) != 1
    return has_heads and not is_part and not any(name.startswith("blk.0.") for name in names)


def _is_encoder(header: GgufHeader) -> bool:
    # A model of a text-writing architecture that was trained for embeddings says how its vectors are pooled.
    pools = header.own("pooling_type") not in (None, 0)
    return header.architecture in _ENCODERS or pools or header.own("attention.causal") is False
