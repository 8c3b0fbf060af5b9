"""Finds the title of a model from its header and its file's name, either of which may be wrong.

``general.name`` is often wrong: "Qwen2.5 Coder 0.5B Instruct AWQ" for a file that is not AWQ, "Smollm2 135M 8k Lc100K
Mix1 Ep2", "hf", a folder, a commit, or the name of another model. So words about formats and training runs are dropped,
a name whose size differs from the weights' is ignored, and "Instruct" may come from the file's name.
"""

import re
import unicodedata
from collections.abc import Mapping
from math import prod

MAX_CHARS = 60
TITLE_KEYS = ("name", "basename", "size_label", "finetune")  # keys without the prefix ``general.``
# Words for file formats. The window shows the quantization separately.
_FORMATS = re.compile(
    r"(?:gguf|ggml|awq|gptq|exl[23]|hf|fp8|fp16|fp32|bf16|f16|f32|int[48]|[48]bit|bnb|imatrix|imat|ud|qat|mlx|unquantized"
    r"|i?q\d+|mxfp4|nvfp4)",
    re.IGNORECASE,
)
# Words for training runs: stages, steps, mixtures and context lengths.
_TRAINING = re.compile(
    r"(?:ckpt|checkpoint|step|steps|epoch|ep|mix|iter|run|lc|seq|lr|bs)\d+[km]?|lc\d+k|\d+k|v?\d{8,}|[0-9a-f]{12,}",
    re.IGNORECASE,
)
_QUANTIZATION = re.compile(r"(?<![a-z0-9])(?:i?q\d_[a-z0-9]+(?:_[a-z]+)?|tq\d_\d|[48]bit)(?![a-z0-9])", re.IGNORECASE)
_VARIANTS = {
    "instruct": "Instruct", "it": "Instruct", "chat": "Chat", "base": "Base", "thinking": "Thinking",
    "reasoning": "Reasoning", "distill": "Distill",
}  # fmt: skip
_NO_NAME = frozenset({
    "model", "models", "merged", "merge", "output", "out", "hf", "tmp", "temp", "workspace", "snapshot",
    "snapshots",
    "checkpoint", "weights", "final", "latest", "test", "unnamed", "unknown", "none", "null", "data", "cache",
    "content", "main", "ggml", "gguf", "quantized", "converted", "transformer", "adapter", "big", "small",
})  # fmt: skip
_SPELLINGS = {
    "smollm": "SmolLM", "smollm2": "SmolLM2", "smollm3": "SmolLM3", "tinyllama": "TinyLlama", "deepseek": "DeepSeek",
    "qwen": "Qwen", "qwq": "QwQ", "codellama": "CodeLlama", "starcoder2": "StarCoder2", "gpt": "GPT", "oss": "OSS",
    "olmo": "OLMo", "glm": "GLM", "lfm2": "LFM2", "ernie": "ERNIE", "rwkv": "RWKV", "r1": "R1",
}  # fmt: skip
_SIZE = re.compile(r"(?:(\d+)x)?(\d+(?:\.\d+)?)([bm])", re.IGNORECASE)
_ACTIVE = re.compile(r"a\d+(?:\.\d+)?[bm]", re.IGNORECASE)
_SPLIT = re.compile(r"[\s_]+|-+|(?<![0-9])\.|\.(?![0-9])")
_SIZE_TOLERANCE = 2.1  # tolerated factor between a size in a name and the weights' size, since embeddings may not count


def model_title(metadata: Mapping[str, object], file_stem: str, num_params: int = 0) -> str:
    """Return a title, never empty. ``file_stem``: the file's name without extension; ``num_params``: 0 if unknown."""
    named = _words(_text(metadata.get("general.name")).replace("\\", "/").rstrip("/").rsplit("/", 1)[-1])
    of_file = _words(file_stem)
    if _is_name(named) and _fits(named, num_params):
        return _finished(_with_variant(_clean(named), of_file))
    base, size, tuned = (_text(metadata.get(f"general.{key}")) for key in ("basename", "size_label", "finetune"))
    built = _clean([*_words(base), *_words(size), *_words(tuned)])
    if _is_name(built) and _fits(built, num_params):
        return _finished(_with_variant(built, of_file))
    cleaned = _clean(of_file)
    return _finished(cleaned) if _is_name(cleaned) else (_plain(file_stem)[:MAX_CHARS].strip() or "?")


def _words(text: str) -> list[str]:
    return [word for word in _SPLIT.split(_QUANTIZATION.sub(" ", _plain(text))) if word]


def _plain(text: str) -> str:
    """Remove control characters from untrusted text."""
    return "".join(" " if unicodedata.category(char)[0] in "CZ" else char for char in text[:400]).strip()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _clean(words: list[str]) -> list[str]:
    """Remove words about formats and, after a size, about the training run."""
    kept: list[str] = []
    for word in words:
        is_size = _SIZE.fullmatch(word) or _ACTIVE.fullmatch(word)
        is_after_size = any(_SIZE.fullmatch(before) for before in kept)
        if kept and _FORMATS.fullmatch(word) and not is_size:
            continue
        if is_after_size and _TRAINING.fullmatch(word):
            continue
        kept.append(word)
    return kept


def _with_variant(words: list[str], of_file: list[str]) -> list[str]:
    """Add a variant such as "Instruct" from the file's name, if the file has the same name."""
    low = {word.lower() for word in words}
    theirs = {word.lower() for word in of_file}
    if any(word in _VARIANTS for word in low) or not words or words[0].lower() not in theirs:
        return words
    found = next((_VARIANTS[word] for word in (each.lower() for each in of_file) if word in _VARIANTS), None)
    return [*words, found] if found else words


def _is_name(words: list[str]) -> bool:
    """Whether the words name a model, instead of a tool's folder, a number or a hash."""
    telling = [
        word
        for word in words
        if word.lower() not in _NO_NAME
        and not _FORMATS.fullmatch(word)
        and not _SIZE.fullmatch(word)
        and not _TRAINING.fullmatch(word)
        and any(char.isalpha() for char in word)
        and len(word) > 1
    ]
    return bool(telling)


def _fits(words: list[str], num_params: int) -> bool:
    """Whether a size in the name roughly equals the weights'."""
    reported = [match for word in words if (match := _SIZE.fullmatch(word))]
    if not reported or num_params <= 0:
        return True
    most = max(
        prod((int(match[1] or 1), float(match[2]))) * (1e9 if match[3].lower() == "b" else 1e6) for match in reported
    )
    return most > 0 and 1.0 / _SIZE_TOLERANCE <= num_params / most <= _SIZE_TOLERANCE


def _finished(words: list[str]) -> str:
    """Write sizes in capitals and families as their makers spell them, drop repeated words, and limit to one line."""
    shown: list[str] = []
    for word in words:
        spelt = _spelt(word, is_first=not shown)
        if not shown or shown[-1].lower() != spelt.lower():
            shown.append(spelt)
    text = " ".join(shown)
    return text if len(text) <= MAX_CHARS else f"{text[: MAX_CHARS - 1].rstrip()}…"


def _spelt(word: str, *, is_first: bool) -> str:
    low = word.lower()
    if low in _SPELLINGS:
        return _SPELLINGS[low]
    if _SIZE.fullmatch(word) or _ACTIVE.fullmatch(word):
        return word.upper().replace("X", "x")
    if low in _VARIANTS:
        return _VARIANTS[low]
    return word[0].upper() + word[1:] if is_first and word == low else word
