"""Finds the title of a model: from its file's name, else from its header.

``general.name`` in a header is often that of another model, a folder or a commit, so the file's name comes first.
"""

import re
import unicodedata

MAX_CHARS = 60
# Words for file formats. The window shows the quantization separately.
_FORMATS = re.compile(
    r"(?:gguf|ggml|awq|gptq|exl[23]|hf|fp8|fp16|fp32|bf16|f16|f32|int[48]|[48]bit|bnb|imatrix|imat|ud|qat|mlx|unquantized"
    r"|i?q\d+|mxfp4|nvfp4)",
    re.IGNORECASE,
)
_QUANTIZATION = re.compile(
    r"(?<![a-z0-9])(?:i?q\d_[a-z0-9]+(?:_[a-z]+)?|tq\d_\d|[48]bit)(?![a-z0-9])|-\d{5}-of-\d{5}$", re.IGNORECASE
)
_NO_NAME = re.compile(
    r"models?|merged?|out(?:put)?|te?mp|workspace|snapshots?|checkpoint|weights|final|latest|test|unnamed|unknown|none"
    r"|null|data|cache|content|main|quantized|converted|transformer|adapter|big|small|sha256|[0-9a-f]{12,}"
    r"|[^a-z]*|[a-z]",
    re.IGNORECASE,
)
_SPELLINGS = {
    "smollm": "SmolLM", "smollm2": "SmolLM2", "smollm3": "SmolLM3", "tinyllama": "TinyLlama", "deepseek": "DeepSeek",
    "qwen": "Qwen", "qwq": "QwQ", "llama": "Llama", "codellama": "CodeLlama", "starcoder2": "StarCoder2", "gpt": "GPT",
    "oss": "OSS", "olmo": "OLMo", "glm": "GLM", "lfm2": "LFM2", "ernie": "ERNIE", "rwkv": "RWKV", "r1": "R1",
    "instruct": "Instruct", "it": "Instruct", "chat": "Chat", "base": "Base", "thinking": "Thinking",
    "reasoning": "Reasoning", "distill": "Distill", "coder": "Coder",
}  # fmt: skip
_SIZE = re.compile(r"a?(?:\d+x)?\d+(?:\.\d+)?[bm]", re.IGNORECASE)  # "8x7B", "A3B"
_SPLIT = re.compile(r"[\s_:]+|-+|(?<![0-9])\.|\.(?![0-9])")


def model_title(header_name: object, file_stem: str) -> str:
    """Return a title, never empty. ``header_name``: ``general.name``; ``file_stem``: the file's name, no extension."""
    in_header = header_name if isinstance(header_name, str) else ""
    for name in (file_stem, in_header):
        words = _words(name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1])
        if not all(_NO_NAME.fullmatch(word) or _FORMATS.fullmatch(word) or _SIZE.fullmatch(word) for word in words):
            return _finished(words)
    return _plain(file_stem)[:MAX_CHARS].strip() or "?"


def _words(text: str) -> list[str]:
    """Split a name into words, without those about formats."""
    words = [word for word in _SPLIT.split(_QUANTIZATION.sub(" ", _plain(text))) if word]
    return words[:1] + [word for word in words[1:] if not _FORMATS.fullmatch(word)]


def _plain(text: str) -> str:
    """Remove control characters from untrusted text."""
    return "".join(" " if unicodedata.category(char)[0] in "CZ" else char for char in text[:400]).strip()


def _finished(words: list[str]) -> str:
    """Write sizes in capitals and families as their makers spell them, and limit to one line."""
    text = " ".join(_spelt(word, is_first=place == 0) for place, word in enumerate(words))
    return text if len(text) <= MAX_CHARS else f"{text[: MAX_CHARS - 1].rstrip()}…"


def _spelt(word: str, *, is_first: bool) -> str:
    low = word.lower()
    if _SIZE.fullmatch(word):
        return word.upper().replace("X", "x")
    return _SPELLINGS.get(low) or (word[0].upper() + word[1:] if is_first and word == low else word)
