"""Models as Ollama's API lists and shows them, as far as is known of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from app.core.hub.file_names import quantization_of
from app.core.server.library import ModelFile, file_of
from app.core.server.protocol import ServedModel
from engine.records import ModelInfo, ToolFormat

Json = dict[str, object]
API_VERSION = "0.13.0"  # of Ollama, whose API this is: programs refuse old ones
_NEVER_FREED = "2318-01-01T00:00:00Z"  # as Ollama says of a model that stays
_BILLION, _MILLION = 10**9, 10**6


def tags(model: ServedModel, paths: Mapping[str, str]) -> Json:
    """The model that is loaded, and others by their names and files."""
    entries = [_entry(name, path, None) for name, path in paths.items() if name != model.name]
    return {"models": [_entry(model.name, model.ready.target.path, model.ready.target), *entries]}


def running(model: ServedModel) -> Json:
    """What is in memory."""
    info = model.ready.target
    entry = _entry(model.name, info.path, info)
    return {"models": [{**entry, "expires_at": _NEVER_FREED, "size_vram": 0, "context_length": info.n_ctx}]}


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
    modified_at = _date(file_of(info.path))
    details = _details(info.path, info)
    return {**texts, "details": details, "model_info": facts, "capabilities": able, "modified_at": modified_at}


def _entry(name: str, path: str, info: ModelInfo | None) -> Json:
    file = file_of(path)
    size = 0 if file is None else file.size
    return {
        "name": name,
        "model": name,
        "modified_at": _date(file),
        "size": size if info is None else info.size_bytes,
        "digest": "" if file is None else file.digest,
        "details": _details(path, info),
    }


def _date(file: ModelFile | None) -> str:
    """When a file was written; the beginning of all dates where that is not known."""
    return datetime.fromtimestamp(0 if file is None else file.modified, UTC).isoformat()


def _details(path: str, info: ModelInfo | None) -> Json:
    family = "" if info is None else info.architecture
    return {
        "parent_model": "",
        "format": "gguf",
        "family": family,
        "families": [family] if family else [],
        "parameter_size": "" if info is None else _size(info.num_params),
        "quantization_level": quantization_of(path),
    }


def _size(number: int) -> str:
    return f"{number / _BILLION:.1f}B" if number >= _BILLION else f"{number / _MILLION:.0f}M"
