"""How a model of an engine of others can be had think, found out without having it compute an answer.

llama-server renders a short question at ``/apply-template`` and shows its template in ``/props``. vLLM and SGLang give
the ids of the rendered question at ``/tokenize``, and their text at ``/detokenize``: a variable that changes the ids is
one that the template knows. Ollama tells at ``/api/show`` that a model thinks; its OpenAI page takes
``reasoning_effort``, "none" for no thinking, and levels for gpt-oss alone. LM Studio and servers that are none of these
tell nothing that can be relied on, so no choice is offered for their models.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.core.domain.engines import EngineKind
from app.core.remote.client import RemoteClient
from app.core.remote.errors import RemoteError
from engine.prompt.thinking import ThinkingChoice, Variables, find_thinking
from engine.reasoning_tags import opens_reasoning
from engine.records import THINKING_OFF, THINKING_ON, TemplateValue, ThinkingOption

_QUESTION = [{"role": "user", "content": "Hello"}]
# Variables of the field's templates, each with two values that a template which knows it renders differently.
_TRIED: tuple[tuple[str, TemplateValue, TemplateValue], ...] = (
    ("enable_thinking", False, True),
    ("thinking", False, True),
    ("reasoning_effort", "low", "high"),
    ("thinking_budget", 0, 8192),
)
EFFORT = "reasoning_effort"  # OpenAI's own field, and the name that templates have for it
_NUM_LAST_IDS = 16  # of a prompt: enough for the tag that it may end with
_MAX_IDS = 10_000
_OPENED = opens_reasoning()


@dataclass(frozen=True, slots=True)
class WayToThink:
    """An option, and what a request has in it so that the model thinks in this way."""

    option: ThinkingOption
    fields: Mapping[str, object]


def ways_to_think(client: RemoteClient, kind: EngineKind, model: str) -> tuple[WayToThink, ...]:
    """Return the thinking options of a model, the default first; empty without a choice."""
    ask = {
        EngineKind.LLAMA_SERVER: _of_llama_server,
        EngineKind.VLLM: _of_ids,
        EngineKind.SGLANG: _of_ids,
        EngineKind.OLLAMA: _of_ollama,
    }.get(kind)
    try:
        return ask(client, model) if ask is not None else ()
    except RemoteError:
        return ()  # the model can be used without a choice


def _of_llama_server(client: RemoteClient, model: str) -> tuple[WayToThink, ...]:
    props = client.json("/props")
    source = props.get("chat_template") if isinstance(props, dict) else None
    if not isinstance(source, str):
        return ()

    def render(variables: Variables) -> str | None:
        body = {"model": model, "messages": _QUESTION, "chat_template_kwargs": dict(variables)}
        answer = client.post("/apply-template", body)
        prompt = answer.get("prompt") if isinstance(answer, dict) else None
        return prompt if isinstance(prompt, str) else None

    return tuple(_way(choice, _opened(choice.prompt)) for choice in find_thinking(source, render))


def _of_ids(client: RemoteClient, model: str) -> tuple[WayToThink, ...]:
    """Try the variables one by one: these engines do not show their template, but what it makes of a question."""
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
    return tuple(_way(choice, _opened(_text(client, model, by_prompt[choice.prompt]))) for choice in choices)


def _of_ollama(client: RemoteClient, model: str) -> tuple[WayToThink, ...]:
    shown = client.post("/api/show", {"model": model})
    capabilities = shown.get("capabilities") if isinstance(shown, dict) else None
    if not isinstance(capabilities, list) or "thinking" not in capabilities:
        return ()
    details = shown.get("details")
    family = details.get("family") if isinstance(details, dict) else ""
    if family in ("gptoss", "gpt-oss"):
        return tuple(WayToThink(ThinkingOption(name), {EFFORT: name}) for name in ("medium", "low", "high"))
    return (
        WayToThink(ThinkingOption(THINKING_ON), {}),
        WayToThink(ThinkingOption(THINKING_OFF), {EFFORT: "none"}),
    )


def _way(choice: ThinkingChoice, opened_tag: str) -> WayToThink:
    return WayToThink(ThinkingOption(choice.name, opened_tag), fields_of(choice.variables))


def fields_of(variables: Mapping[str, TemplateValue]) -> dict[str, object]:
    """Variables of a template as fields of a request to an engine that renders it.

    An effort stands beside them, too, as OpenAI has it: for gpt-oss, vLLM and SGLang read it there.
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
    """The end of a prompt as text; SGLang calls it so, vLLM calls it a prompt."""
    body = {"model": model, "tokens": list(ids[-_NUM_LAST_IDS:]), "skip_special_tokens": False}
    answer = client.post("/detokenize", body)
    found = answer.get("prompt", answer.get("text")) if isinstance(answer, dict) else None
    return found if isinstance(found, str) else ""


def _opened(prompt: str) -> str:
    """The tag of reasoning that a prompt ends with, spaces included."""
    match = _OPENED.search(prompt)
    return match[0] if match else ""
