"""Detects the program of a remote server, its models, and whether a model supports reasoning; runs no completion.

Each program has its own endpoints besides OpenAI's. Sources: vLLM's and SGLang's API servers (``/version``,
``/get_server_info``), llama-server's README (``/props``), LM Studio's REST API (``/api/v0/models``), Ollama's API
(``/api/version``, ``/api/ps``).

Reasoning: llama-server renders a short question at ``/apply-template`` and shows its template in ``/props``. vLLM and
SGLang return the ids of the rendered question at ``/tokenize``, and their text at ``/detokenize``: a variable that
changes the ids is known to the template. Ollama reports at ``/api/show`` that a model reasons; its OpenAI endpoint
takes ``reasoning_effort``, "none" for no reasoning, and levels for gpt-oss only. LM Studio and unknown servers report
nothing reliable, so their models have no reasoning modes here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.core.domain.engines import RemoteModel, ServerFacts, ServerKind
from app.core.remote.client import RemoteClient
from app.core.remote.errors import InvalidResponseError, RemoteError
from engine.prompt.thinking import ThinkingChoice, Variables, find_thinking
from engine.reasoning_tags import opens_reasoning
from engine.records import THINKING_OFF, THINKING_ON, TemplateValue, ThinkingOption
from engine.sentences import i18n

MAX_MODELS = 500
MAX_NAME_CHARS = 300
MAX_FACT_CHARS = 120
Models = tuple[RemoteModel, ...]


def detect(client: RemoteClient) -> ServerFacts:
    """Detect a server's program and list its models.

    Raises:
        RemoteError: the server is unreachable, rejects the key, or is not OpenAI-compatible.
    """
    entries = client.json("/v1/models").get("data")
    if not isinstance(entries, list):
        raise InvalidResponseError(i18n("{host} has no list of models.", host=client.host))
    models = tuple(model for model in map(_model, entries[:MAX_MODELS]) if model is not None)
    for question in (_llama_server, _sglang, _lm_studio, _ollama, _vllm):
        facts = question(client, models)
        if facts is not None:
            return facts
    return ServerFacts(ServerKind.OTHER, "", models)


def _model(entry: Any) -> RemoteModel | None:  # noqa: ANN401 (JSON)
    entry = _dict(entry)
    name = entry.get("id")
    if not isinstance(name, str) or not name or len(name) > MAX_NAME_CHARS or not name.isprintable():
        return None
    return RemoteModel(name, _count(entry.get("max_model_len")) or _count(_dict(entry.get("meta")).get("n_ctx_train")))


def _llama_server(client: RemoteClient, models: Models) -> ServerFacts | None:
    props = client.json("/props")
    settings = _dict(props.get("default_generation_settings"))
    if not settings:
        return None
    n_ctx, kinds = _count(settings.get("n_ctx")), _dict(settings.get("params")).get("speculative.types")
    has_vision = _dict(props.get("modalities")).get("vision") is not False
    sized = tuple(RemoteModel(model.name, n_ctx or model.n_ctx, has_vision) for model in models)
    drafting = _reported(kinds) if kinds != "none" else ""
    return ServerFacts(ServerKind.LLAMA_SERVER, _reported(props.get("build_info")), sized, drafting)


def _sglang(client: RemoteClient, models: Models) -> ServerFacts | None:
    for path in ("/get_server_info", "/server_info"):
        info = client.json(path)
        if "speculative_algorithm" in info or "tp_size" in info:
            drafting = _reported(info.get("speculative_algorithm"))
            return ServerFacts(ServerKind.SGLANG, _reported(info.get("version")), models, drafting)
    return None


def _lm_studio(client: RemoteClient, models: Models) -> ServerFacts | None:
    entries = client.json("/api/v0/models").get("data")
    if not isinstance(entries, list):
        return None
    own = {str(_dict(entry).get("id")): _dict(entry) for entry in entries}
    sized = list[RemoteModel]()
    for model in models:
        entry = own.get(model.name, {})
        n_ctx = _count(entry.get("loaded_context_length")) or _count(entry.get("max_context_length")) or model.n_ctx
        if entry.get("type") != "embeddings":  # the type of vision models is "vlm"
            sized.append(RemoteModel(model.name, n_ctx, entry.get("type") != "llm"))
    return ServerFacts(ServerKind.LM_STUDIO, "", tuple(sized))


def _ollama(client: RemoteClient, models: Models) -> ServerFacts | None:
    version = client.json("/api/version").get("version")
    if not isinstance(version, str):
        return None
    entries = client.json("/api/ps").get("models")  # Ollama reports the context size of loaded models only
    loaded = map(_dict, entries if isinstance(entries, list) else [])
    sizes = {str(entry.get("name")): _count(entry.get("context_length")) for entry in loaded}
    sized = tuple(replace(model, n_ctx=sizes.get(model.name, 0)) for model in models)
    return ServerFacts(ServerKind.OLLAMA, _reported(version), sized)


def _vllm(client: RemoteClient, models: Models) -> ServerFacts | None:
    version = client.json("/version").get("version")
    if not isinstance(version, str) or not any(model.n_ctx for model in models):
        return None
    return ServerFacts(ServerKind.VLLM, _reported(version), models)


def _dict(value: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    """The value if it is an object; else an empty one."""
    return value if isinstance(value, dict) else {}


def _reported(value: Any) -> str:  # noqa: ANN401 (JSON)
    text = value if isinstance(value, str) else ""
    return "".join(char for char in text if char.isprintable())[:MAX_FACT_CHARS]


def _count(value: Any) -> int:  # noqa: ANN401 (JSON)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9 else 0


# ---- reasoning -----------------------------------------------------------------------------------------------------

_QUESTION = [{"role": "user", "content": "Hello"}]
# Common template variables, each with two values that a template renders differently if it knows the variable.
_TRIED_VARIABLES: tuple[tuple[str, TemplateValue, TemplateValue], ...] = (
    ("enable_thinking", False, True),
    ("thinking", False, True),
    ("reasoning_effort", "low", "high"),
    ("thinking_budget", 0, 8192),
)
EFFORT_VARIABLE = "reasoning_effort"  # OpenAI's field, and the name in templates
_NUM_LAST_IDS = 16  # last ids of a prompt: enough for the reasoning tag at its end
_MAX_IDS = 10_000
_REASONING_TAG = opens_reasoning()


@dataclass(frozen=True, slots=True)
class ReasoningMode:
    """An option, and the request fields that select it."""

    option: ThinkingOption
    fields: Mapping[str, object]


def reasoning_modes(client: RemoteClient, kind: ServerKind, model: str) -> tuple[ReasoningMode, ...]:
    """The reasoning modes of a model, the default first; empty without a choice."""
    ask = {
        ServerKind.LLAMA_SERVER: _of_llama_server,
        ServerKind.VLLM: _of_ids,
        ServerKind.SGLANG: _of_ids,
        ServerKind.OLLAMA: _of_ollama,
    }.get(kind)
    try:
        return ask(client, model) if ask is not None else ()
    except RemoteError:
        return ()  # the model works without a choice


def _of_llama_server(client: RemoteClient, model: str) -> tuple[ReasoningMode, ...]:
    source = client.json("/props").get("chat_template")
    if not isinstance(source, str):
        return ()

    def render(variables: Variables) -> str | None:
        body = {"model": model, "messages": _QUESTION, "chat_template_kwargs": dict(variables)}
        prompt = client.json("/apply-template", body).get("prompt")
        return prompt if isinstance(prompt, str) else None

    return tuple(_reasoning_mode(choice, _tag_at_end(choice.prompt)) for choice in find_thinking(source, render))


def _of_ids(client: RemoteClient, model: str) -> tuple[ReasoningMode, ...]:
    """Try the variables one by one: these servers do not show their template, only the ids of a rendered question."""

    def render(variables: Variables) -> str | None:
        body = {"model": model, "messages": _QUESTION, "chat_template_kwargs": dict(variables)}
        ids = client.json("/tokenize", body).get("tokens")
        is_good = isinstance(ids, list) and 0 < len(ids) <= _MAX_IDS and all(type(each) is int for each in ids)
        return " ".join(map(str, ids)) if isinstance(ids, list) and is_good else None

    def tag_of(prompt: str) -> str:
        last = [int(each) for each in prompt.split()[-_NUM_LAST_IDS:]]
        answer = client.json("/detokenize", {"model": model, "tokens": last, "skip_special_tokens": False})
        return _tag_at_end(str(answer.get("prompt", answer.get("text"))))  # vLLM's field, and SGLang's

    if render({}) is None:
        return ()
    known = [name for name, one, other in _TRIED_VARIABLES if render({name: one}) != render({name: other})]
    source = " ".join("{{ " + name + " }}" for name in known)
    return tuple(_reasoning_mode(choice, tag_of(choice.prompt)) for choice in find_thinking(source, render))


def _of_ollama(client: RemoteClient, model: str) -> tuple[ReasoningMode, ...]:
    shown = client.json("/api/show", {"model": model})
    capabilities = shown.get("capabilities")
    if not isinstance(capabilities, list) or "thinking" not in capabilities:
        return ()
    if _dict(shown.get("details")).get("family") in ("gptoss", "gpt-oss"):
        return tuple(ReasoningMode(ThinkingOption(name), {EFFORT_VARIABLE: name}) for name in ("medium", "low", "high"))
    return (
        ReasoningMode(ThinkingOption(THINKING_ON), {}),
        ReasoningMode(ThinkingOption(THINKING_OFF), {EFFORT_VARIABLE: "none"}),
    )


def _reasoning_mode(choice: ThinkingChoice, reasoning_start_tag: str) -> ReasoningMode:
    return ReasoningMode(ThinkingOption(choice.name, reasoning_start_tag), request_fields(choice.variables))


def request_fields(variables: Mapping[str, TemplateValue]) -> dict[str, object]:
    """Template variables as request fields of a server that renders the template.

    An effort is also set in OpenAI's field, where vLLM and SGLang read it for gpt-oss.
    """
    fields: dict[str, object] = {"chat_template_kwargs": dict(variables)} if variables else {}
    if isinstance(variables.get(EFFORT_VARIABLE), str):
        fields[EFFORT_VARIABLE] = variables[EFFORT_VARIABLE]
    return fields


def _tag_at_end(prompt: str) -> str:
    """The reasoning tag at the end of a prompt, spaces included."""
    match = _REASONING_TAG.search(prompt)
    return match[0] if match else ""
