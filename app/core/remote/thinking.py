"""Detects whether a remote model supports reasoning, without running a completion.

llama-server renders a short question at ``/apply-template`` and shows its template in ``/props``. vLLM and SGLang
return the ids of the rendered question at ``/tokenize``, and their text at ``/detokenize``: a variable that changes the
ids is known to the template. Ollama reports at ``/api/show`` that a model reasons; its OpenAI endpoint takes
``reasoning_effort``, "none" for no reasoning, and levels for gpt-oss only. LM Studio and unknown servers report nothing
reliable, so their models have no reasoning modes here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.core.domain.engines import ServerKind
from app.core.remote.client import RemoteClient
from app.core.remote.errors import RemoteError
from engine.prompt.thinking import ThinkingChoice, Variables, find_thinking
from engine.reasoning_tags import opens_reasoning
from engine.records import THINKING_OFF, THINKING_ON, TemplateValue, ThinkingOption

_QUESTION = [{"role": "user", "content": "Hello"}]
# Common template variables, each with two values that a template renders differently if it knows the variable.
_TRIED: tuple[tuple[str, TemplateValue, TemplateValue], ...] = (
    ("enable_thinking", False, True),
    ("thinking", False, True),
    ("reasoning_effort", "low", "high"),
    ("thinking_budget", 0, 8192),
)
EFFORT = "reasoning_effort"  # OpenAI's field, and the name in templates
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
    props = client.json("/props")
    source = props.get("chat_template") if isinstance(props, dict) else None
    if not isinstance(source, str):
        return ()

    def render(variables: Variables) -> str | None:
        body = {"model": model, "messages": _QUESTION, "chat_template_kwargs": dict(variables)}
        answer = client.post("/apply-template", body)
        prompt = answer.get("prompt") if isinstance(answer, dict) else None
        return prompt if isinstance(prompt, str) else None

    return tuple(_reasoning_mode(choice, _tag_at_end(choice.prompt)) for choice in find_thinking(source, render))


def _of_ids(client: RemoteClient, model: str) -> tuple[ReasoningMode, ...]:
    """Try the variables one by one: these servers do not show their template, only a rendered question."""
    rendered: dict[str, tuple[int, ...]] = {}

    def render(variables: Variables) -> str | None:
        key = repr(sorted(variables.items()))
        if key not in rendered:
            body = {"model": model, "messages": _QUESTION, "chat_template_kwargs": dict(variables)}
            rendered[key] = _ids(client.post("/tokenize", body))
        return repr(rendered[key]) if rendered[key] else None

    if render({}) is None:
        return ()
    known = [name for name, one, other in _TRIED if render({name: one}) != render({name: other})]
    source = " ".join("{{ " + name + " }}" for name in known)
    by_prompt = {repr(ids): ids for ids in rendered.values()}
    choices = find_thinking(source, render)
    by_prompt |= {repr(ids): ids for ids in rendered.values()}
    return tuple(_reasoning_mode(one, _tag_at_end(_text(client, model, by_prompt[one.prompt]))) for one in choices)


def _of_ollama(client: RemoteClient, model: str) -> tuple[ReasoningMode, ...]:
    shown = client.post("/api/show", {"model": model})
    capabilities = shown.get("capabilities") if isinstance(shown, dict) else None
    if not isinstance(capabilities, list) or "thinking" not in capabilities:
        return ()
    details = shown.get("details")
    family = details.get("family") if isinstance(details, dict) else ""
    if family in ("gptoss", "gpt-oss"):
        return tuple(ReasoningMode(ThinkingOption(name), {EFFORT: name}) for name in ("medium", "low", "high"))
    return (
        ReasoningMode(ThinkingOption(THINKING_ON), {}),
        ReasoningMode(ThinkingOption(THINKING_OFF), {EFFORT: "none"}),
    )


def _reasoning_mode(choice: ThinkingChoice, reasoning_start_tag: str) -> ReasoningMode:
    return ReasoningMode(ThinkingOption(choice.name, reasoning_start_tag), fields_of(choice.variables))


def fields_of(variables: Mapping[str, TemplateValue]) -> dict[str, object]:
    """Template variables as request fields of a server that renders the template.

    An effort is also set in OpenAI's field, where vLLM and SGLang read it for gpt-oss.
    """
    fields: dict[str, object] = {"chat_template_kwargs": dict(variables)} if variables else {}
    if isinstance(variables.get(EFFORT), str):
        fields[EFFORT] = variables[EFFORT]
    return fields


def _ids(answer: Any) -> tuple[int, ...]:  # noqa: ANN401 (JSON)
    ids = answer.get("tokens") if isinstance(answer, dict) else None
    good = isinstance(ids, list) and len(ids) <= _MAX_IDS and all(type(each) is int for each in ids)
    return tuple(ids) if isinstance(ids, list) and good else ()


def _text(client: RemoteClient, model: str, ids: tuple[int, ...]) -> str:
    """The end of a prompt as text; the field's name differs between SGLang and vLLM."""
    body = {"model": model, "tokens": list(ids[-_NUM_LAST_IDS:]), "skip_special_tokens": False}
    answer = client.post("/detokenize", body)
    found = answer.get("prompt", answer.get("text")) if isinstance(answer, dict) else None
    return found if isinstance(found, str) else ""


def _tag_at_end(prompt: str) -> str:
    """The reasoning tag at the end of a prompt, spaces included."""
    match = _REASONING_TAG.search(prompt)
    return match[0] if match else ""
