"""Detects the program of a remote server: each program has its own endpoint besides OpenAI's.

Sources: vLLM's and SGLang's API servers (``/version``, ``/get_server_info``), llama-server's README (``/props``), LM
Studio's REST API (``/api/v0/models``), Ollama's API (``/api/version``, ``/api/ps``).
"""

from __future__ import annotations

from typing import Any

from app.core.domain.engines import UNNAMED_DRAFTING, RemoteModel, ServerFacts, ServerKind
from app.core.remote.client import RemoteClient
from app.core.remote.counters import has_counters
from app.core.remote.errors import EngineAnswerError
from engine.sentences import said

MAX_MODELS = 500
MAX_NAME_CHARS = 300
MAX_FACT_CHARS = 120


def detect(client: RemoteClient) -> ServerFacts:
    """Detect a server's program and list its models.

    Raises:
        RemoteError: the server is unreachable, rejects the key, or is not OpenAI-compatible.
    """
    listed = client.json("/v1/models")
    entries = listed.get("data") if isinstance(listed, dict) else None
    if not isinstance(entries, list):
        raise EngineAnswerError(said("{host} has no list of models.", host=client.host))
    models = tuple(model for model in map(_model, entries[:MAX_MODELS]) if model is not None)
    for question in (_llama_server, _sglang, _lm_studio, _ollama, _vllm):
        facts = question(client, models)
        if facts is not None:
            return facts
    return ServerFacts(ServerKind.OTHER, "", models)


def _model(entry: Any) -> RemoteModel | None:  # noqa: ANN401 (JSON)
    name = entry.get("id") if isinstance(entry, dict) else None
    if not isinstance(name, str) or not name or len(name) > MAX_NAME_CHARS or not name.isprintable():
        return None
    meta = entry.get("meta")
    trained = meta.get("n_ctx_train") if isinstance(meta, dict) else None
    return RemoteModel(name, _count(entry.get("max_model_len")) or _count(trained))


def _llama_server(client: RemoteClient, models: tuple[RemoteModel, ...]) -> ServerFacts | None:
    props = client.json("/props")
    if not isinstance(props, dict) or not isinstance(props.get("default_generation_settings"), dict):
        return None
    usual = props["default_generation_settings"]
    n_ctx = _count(usual.get("n_ctx"))
    params = usual.get("params")
    kinds = params.get("speculative.types") if isinstance(params, dict) else None
    reported = _reported(kinds) if kinds not in (None, "none", "") else ""
    has = props.get("modalities")
    has_vision = not isinstance(has, dict) or has.get("vision") is not False
    sized = tuple(RemoteModel(model.name, n_ctx or model.n_ctx, has_vision) for model in models)
    return ServerFacts(ServerKind.LLAMA_SERVER, _reported(props.get("build_info")), sized, reported)


def _sglang(client: RemoteClient, models: tuple[RemoteModel, ...]) -> ServerFacts | None:
    for path in ("/get_server_info", "/server_info"):
        info = client.json(path)
        if isinstance(info, dict) and ("speculative_algorithm" in info or "tp_size" in info):
            reported = _reported(info.get("speculative_algorithm") or "")
            return ServerFacts(ServerKind.SGLANG, _reported(info.get("version")), models, reported)
    return None


def _lm_studio(client: RemoteClient, models: tuple[RemoteModel, ...]) -> ServerFacts | None:
    listed = client.json("/api/v0/models")
    entries = listed.get("data") if isinstance(listed, dict) else None
    if not isinstance(entries, list):
        return None
    own = [entry for entry in entries if isinstance(entry, dict) and isinstance(entry.get("id"), str)]
    sizes = {
        entry["id"]: _count(entry.get("loaded_context_length")) or _count(entry.get("max_context_length"))
        for entry in own
    }
    kinds = {entry["id"]: entry.get("type") for entry in own}
    sized = tuple(
        RemoteModel(model.name, sizes.get(model.name, model.n_ctx), kinds.get(model.name) != "llm")
        for model in models
        if kinds.get(model.name) != "embeddings"  # the kind of vision models is "vlm"
    )
    return ServerFacts(ServerKind.LM_STUDIO, "", sized)


def _ollama(client: RemoteClient, models: tuple[RemoteModel, ...]) -> ServerFacts | None:
    version = client.json("/api/version")
    if not isinstance(version, dict) or not isinstance(version.get("version"), str):
        return None
    running = client.json("/api/ps")  # Ollama reports the context size of loaded models only
    entries = running.get("models") if isinstance(running, dict) else None
    sizes = {
        entry.get("name"): _count(entry.get("context_length"))
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict) and isinstance(entry.get("name"), str)
    }
    sized = tuple(RemoteModel(model.name, sizes.get(model.name, 0)) for model in models)
    return ServerFacts(ServerKind.OLLAMA, _reported(version["version"]), sized)


def _vllm(client: RemoteClient, models: tuple[RemoteModel, ...]) -> ServerFacts | None:
    version = client.json("/version")
    if not isinstance(version, dict) or not isinstance(version.get("version"), str):
        return None
    metrics = client.text("/metrics") or ""
    if "vllm:" not in metrics and not any(model.n_ctx for model in models):
        return None
    reported = UNNAMED_DRAFTING if has_counters(metrics) else ""
    return ServerFacts(ServerKind.VLLM, _reported(version["version"]), models, reported)


def _reported(value: Any) -> str:  # noqa: ANN401 (JSON)
    text = value if isinstance(value, str) else ""
    return "".join(char for char in text if char.isprintable())[:MAX_FACT_CHARS]


def _count(value: Any) -> int:  # noqa: ANN401 (JSON)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9 else 0
