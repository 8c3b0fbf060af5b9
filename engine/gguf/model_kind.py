"""Detects by its header whether a GGUF file is a text model, and what it is otherwise."""

import re
from collections.abc import Callable, Iterable

from engine.errors import ModelFileError
from engine.gguf.head_files import head_method
from engine.gguf.header import GgufHeader
from engine.sentences import Sentence, i18n

# Architectures of embedding models. llama.cpp loads them, but their contexts have no logits.
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
_OTHER_KINDS = {
    "clip": i18n("a projector, the image or sound part of another model"),
    "wavtokenizer-dec": i18n("a part of a speech model"),
    "dflash": i18n("a draft head (DFlash) of another model"),
    "eagle3": i18n("a draft head (EAGLE-3) of another model"),
    "gemma4-assistant": i18n("a draft head of a Gemma 4 model"),
}
_TYPES = {
    "adapter": i18n("an adapter (LoRA) for another model"),
    "imatrix": i18n("a table for quantizing another model"),
    "mmproj": i18n("a projector, the image or sound part of another model"),
    "vocab": i18n("a vocabulary without weights"),
}
_ADVICE = i18n("Choose a GGUF file of a chat or text model.")
_HEAD_ADVICE = i18n("Open that model, and choose this file as its draft.")
_PROJECTOR_ADVICE = i18n("Open the model that it belongs to, and keep this file in the same folder.")
PICTURES = "pictures"
# Architectures of vision and audio models, which need a projector in a separate file.
_MULTIMODAL = frozenset(
    {
        "qwen2vl",
        "qwen3vl",
        "qwen3vlmoe",
        "mllama",
        "llama4",
        "cogvlm",
        "glm4v",
        "glm4v_moe",
        "gemma3n",
        "gemma4",
    }
)
_VISION_KEYS = ("vision.block_count", "vision.embedding_length", "vision.image_size")
_WORD = re.compile(r"[a-z0-9.]+")
_GENERIC_NAME_WORDS = frozenset({"mmproj", "model", "gguf", "f16", "bf16", "f32", "fp16", "q8_0", "q8", "0", "vision"})


def check_writes_text(header: GgufHeader, name: str) -> None:
    """Check that the model can continue a text; the error's message contains ``name``.

    Raises:
        ModelFileError: not a text model; the message says what the file is.
    """
    kind, is_head = str(header.metadata.get("general.type")), bool(head_method(header))
    reason = _TYPES.get(kind) or _OTHER_KINDS.get(header.architecture)
    if reason is None and is_head:
        reason = i18n("the next-token heads (MTP) of another model")
    # A pooling type means that a model of a text architecture was trained for embeddings.
    pools = header.arch_value("pooling_type") not in (None, 0)
    is_encoder = header.architecture in _ENCODERS or pools or header.arch_value("attention.causal") is False
    if reason is None and is_encoder:
        reason = i18n(
            "a text encoder ({architecture}): it turns texts into numbers, for searching",
            architecture=header.architecture,
        )
    if reason is not None:
        advice = _HEAD_ADVICE if is_head else _PROJECTOR_ADVICE if kind == "mmproj" else _ADVICE
        raise ModelFileError(i18n("{name} is {reason}, and does not write text.", name=name, reason=reason), advice)


def missing_metadata_notices(header: GgufHeader, name: str) -> tuple[Sentence, ...]:
    """Sentences about facts that a model's file lacks, which makes the model's answers worse."""
    found, metadata = list[Sentence](), header.metadata
    if metadata.get("tokenizer.ggml.model") == "gpt2" and not metadata.get("tokenizer.ggml.pre"):
        found.append(
            i18n(
                "{name} does not say how its tokenizer splits text, as is usual in files from before May 2024. Its "
                "answers may be worse; a newer file of this model is better.",
                name=name,
            )
        )
    if "tokenizer.chat_template" not in metadata:
        found.append(
            i18n(
                "{name} has no chat template: it gets messages in a form that it may not have been trained for.",
                name=name,
            )
        )
    return tuple(found)


def missing_abilities(
    architecture: str, metadata: Callable[[str], str | None], name: str, siblings: Iterable[str]
) -> tuple[str, ...]:
    """Abilities that a model would have with a side file. ``siblings``: names of the GGUF files in its folder.

    Chat templates are no evidence, since those of text models often mention pictures.
    """
    has_vision = (
        architecture in _MULTIMODAL
        or any(metadata(f"{architecture}.{key}") for key in _VISION_KEYS)
        or any(is_own_projector(other, name, siblings) for other in siblings)
    )
    return (PICTURES,) if has_vision else ()


def is_own_projector(projector: str, name: str, siblings: Iterable[str]) -> bool:
    """Whether a projector belongs to the model ``name``: its name matches, or the folder has no other model.

    ``siblings``: names of the GGUF files in the model's folder.
    """
    if "mmproj" not in projector.lower():
        return False
    words = _words(projector.lower())
    return words <= _words(name.lower()) if words else all("mmproj" in other.lower() for other in siblings)


def _words(name: str) -> set[str]:
    return {word for word in _WORD.findall(name.removesuffix(".gguf")) if word not in _GENERIC_NAME_WORDS}
