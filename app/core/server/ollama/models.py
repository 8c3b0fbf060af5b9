"""Models as Ollama's API lists and shows them, as far as is known of them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from app.core.server.protocol import ServedModel
from engine.records import ModelInfo, ToolFormat

Json = dict[str, object]
API_VERSION = "0.13.0"  # of Ollama, whose API this is: programs refuse old ones
_BILLION, _MILLION = 10**9, 10**6


def tags(model: ServedModel, names: Iterable[str]) -> Json:
    """The model that is loaded, and the ``names`` of others."""
    info = model.ready.target
    first = _entry(model.name, info.size_bytes, _details(info))
    return {"models": [first, *(_entry(name, 0, _details(None)) for name in names if name != model.name)]}


def running(model: ServedModel) -> Json:
    """What is in memory."""
    info = model.ready.target
    kept = datetime.now(UTC) + timedelta(days=1)
    entry = _entry(model.name, info.size_bytes, _details(info))
    return {"models": [{**entry, "expires_at": kept.isoformat(), "size_vram": 0, "context_length": info.n_ctx}]}


def shown(model: ServedModel) -> Json:
    """What is known of a model."""
    info = model.ready.target
    able = ["completion"]
    able += ["tools"] if info.tool_format is not ToolFormat.NONE else []
    able += ["vision"] if info.sees else []
    able += ["insert"] if info.fills_gaps else []
    able += ["thinking"] if info.thinking or info.opened_tag else []
    facts = {
        "general.architecture": info.architecture,
        "general.parameter_count": info.num_params,
        f"{info.architecture}.context_length": info.n_ctx_train,
    }
    texts = dict.fromkeys(("modelfile", "parameters", "template"), "")
    return {**texts, "details": _details(info), "model_info": facts, "capabilities": able, "modified_at": _NEVER}


_NEVER = "1970-01-01T00:00:00Z"  # as it is not known


def _entry(name: str, size: int, details: Json) -> Json:
    return {"name": name, "model": name, "modified_at": _NEVER, "size": size, "digest": "", "details": details}


def _details(info: ModelInfo | None) -> Json:
    family = "" if info is None else info.architecture
    return {
        "parent_model": "",
        "format": "gguf",
        "family": family,
        "families": [family] if family else [],
        "parameter_size": "" if info is None else _size(info.num_params),
        "quantization_level": "",
    }


def _size(number: int) -> str:
    return f"{number / _BILLION:.1f}B" if number >= _BILLION else f"{number / _MILLION:.0f}M"
