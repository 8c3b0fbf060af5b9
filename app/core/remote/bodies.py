"""From a `ChatRequest` to the JSON that an engine is sent: OpenAI's fields, and what its program has beside them."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from app.core.domain.engines import EngineKind
from app.core.remote.errors import EngineRefusedError
from app.core.remote.thinking import EFFORT, fields_of
from engine.grammar.lark import schema_of
from engine.prompt.pictures import beside_results
from engine.records import ChatRequest, Message, Picture, SamplingParams

CHAT, COMPLETION = "/v1/chat/completions", "/v1/completions"
# These render the model's own chat template, take variables for it, and go on with a last message of the assistant's.
_OWN_TEMPLATE = (EngineKind.VLLM, EngineKind.SGLANG, EngineKind.LLAMA_SERVER)
_MOST_TEMPERATURE = 2.0  # of OpenAI's API, which those that are none of the known programs may hold to


def path_and_body(
    request: ChatRequest, model: str, kind: EngineKind, thinks: Mapping[str, object] = MappingProxyType({})
) -> tuple[str, dict[str, object]]:
    """Where to send a request, and what; ``thinks`` are the fields of the `WayToThink` that it asks for.

    Raises:
        EngineRefusedError: this kind of engine cannot do what is asked.
    """
    body = {"model": model, "stream": True, **_reported(kind), **_sampling(request.sampling, kind), **_ending(request)}
    if request.grammar:
        if kind is not EngineKind.LLAMA_SERVER:
            raise EngineRefusedError("Of the engines of others, only llama-server follows a grammar.", "Leave it out.")
        body |= _form(request.grammar)
    has_pictures = any(message.pictures for message in request.messages)
    if has_pictures and request.completes:
        raise EngineRefusedError(
            "A text that an engine of others is to continue can have no pictures.", "Leave the pictures out."
        )
    if request.raw_prompt is not None or request.completes:
        text = request.raw_prompt if request.raw_prompt is not None else _as_text(request.messages)
        return COMPLETION, {**body, "prompt": text}
    # In results the API has no pictures.
    body["messages"] = [_message(message) for message in beside_results(request.messages)]
    body |= _template(request, kind, thinks)
    if request.messages and request.messages[-1].role == "assistant":
        body |= _continuing(kind)
    return CHAT, body


def _form(grammar: str) -> dict[str, object]:
    """What has llama-server follow a grammar, which it reads in GBNF only; it has its own way with schemas."""
    schema = schema_of(grammar)
    return {"grammar": grammar} if schema is None else {"json_schema": schema}


def _template(request: ChatRequest, kind: EngineKind, thinks: Mapping[str, object]) -> Mapping[str, object]:
    """Variables of the chat template; engines that do not accept them get a reasoning effort only."""
    given = dict(request.template_variables)
    if kind not in _OWN_TEMPLATE:
        return {**thinks, **({EFFORT: given[EFFORT]} if EFFORT in given else {})}
    kept = thinks.get("chat_template_kwargs")
    return {**thinks, **fields_of({**(kept if isinstance(kept, dict) else {}), **given})}


def _reported(kind: EngineKind) -> dict[str, object]:
    """Request fields that make the engine report its counters."""
    if kind is EngineKind.LLAMA_SERVER:
        return {"stream_options": {"include_usage": True}, "timings_per_token": True}
    if kind not in (EngineKind.VLLM, EngineKind.SGLANG):
        return {"stream_options": {"include_usage": True}}
    reported: dict[str, object] = {"stream_options": {"include_usage": True, "continuous_usage_stats": True}}
    return {**reported, "return_spec_tokens_details": True} if kind is EngineKind.SGLANG else reported


def _ending(request: ChatRequest) -> dict[str, object]:
    found: dict[str, object] = {}
    if request.max_tokens is not None:
        found["max_tokens"] = request.max_tokens
    if request.stop:
        found["stop"] = list(request.stop)
    if request.ignore_eos:
        found["ignore_eos"] = True
    return found


def _continuing(kind: EngineKind) -> Mapping[str, object]:
    """What has an engine go on with the last message; llama-server does without being told."""
    if kind not in _OWN_TEMPLATE:
        message = "This engine cannot continue an answer that was begun."
        raise EngineRefusedError(message, "Have the answer written again instead.")
    if kind is EngineKind.LLAMA_SERVER:
        return {}
    return {"continue_final_message": True, "add_generation_prompt": False}


def _sampling(sampling: SamplingParams, kind: EngineKind) -> dict[str, object]:
    found: dict[str, object] = {"temperature": sampling.temperature, "top_p": sampling.top_p}
    if sampling.frequency_penalty:
        found["frequency_penalty"] = sampling.frequency_penalty
    if sampling.presence_penalty:
        found["presence_penalty"] = sampling.presence_penalty
    if sampling.seed is not None:
        found["seed"] = sampling.seed
    if kind in (EngineKind.VLLM, EngineKind.SGLANG):
        found["top_k"] = sampling.top_k or -1
        found["min_p"] = sampling.min_p
        if sampling.repeat_penalty != 1.0:
            found["repetition_penalty"] = sampling.repeat_penalty
    elif kind in (EngineKind.LLAMA_SERVER, EngineKind.LM_STUDIO):
        found |= {"top_k": sampling.top_k, "min_p": sampling.min_p, "repeat_penalty": sampling.repeat_penalty}
    else:
        found["temperature"] = min(sampling.temperature, _MOST_TEMPERATURE)
    return found


def _message(message: Message) -> dict[str, object]:
    """A message; with pictures its words and they are parts, in their order."""
    if not message.pictures:
        return {"role": message.role, "content": message.content}
    parts, end = list[dict[str, object]](), 0
    for place, picture in message.pictures:
        if place > end:
            parts.append({"type": "text", "text": message.content[end:place]})
        parts.append({"type": "image_url", "image_url": {"url": _data_url(picture)}})
        end = place
    if message.content[end:]:
        parts.append({"type": "text", "text": message.content[end:]})
    return {"role": message.role, "content": parts}


@lru_cache(maxsize=8)  # a conversation sends its pictures with every question
def _data_url(picture: Picture) -> str:
    from PIL import Image  # noqa: PLC0415  (most conversations have no pictures)

    written = io.BytesIO()
    image = Image.frombytes("RGB", (picture.width, picture.height), picture.rgb)
    image.save(written, "PNG", compress_level=3)
    return f"data:image/png;base64,{base64.b64encode(written.getvalue()).decode('ascii')}"


def _as_text(messages: tuple[Message, ...]) -> str:
    return "\n\n".join(message.content for message in messages)
