"""Reads requests of llama.cpp's own API as text completions.

The API: https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from app.core.server.errors import ApiError
from app.core.server.fields import Fields, check_text, missing, unsupported, wrong_type
from app.core.server.protocol import CompletionRequest, ServedModel, parse_request

Json = dict[str, object]
# Fields about cache slots and progress, which do not affect an answer.
_WITHOUT_EFFECT = ("id_slot", "n_keep", "n_discard", "return_progress", "backend_sampling")
_UNLIMITED = (-1, -2)  # values of `n_predict`: unlimited, and until the context is full
MAX_FILES = 256  # maximum number of files in `input_extra`; the last files are used
_CHARS_PER_TOKEN = 8  # more than code has: longer text cannot fit the context


@dataclass(frozen=True, slots=True)
class NativeRequest:
    """A completion request, its ``prompts`` as they were given, and the requested fields of the answer.

    ``wants_tokens`` adds the token ids of the answer. ``response_fields`` are paths such as ``timings/prompt_n``; empty
    for all.
    """

    asked: CompletionRequest
    prompts: tuple[object, ...]
    wants_tokens: bool
    response_fields: tuple[str, ...]


def parse_native_request(body: Json, model: ServedModel) -> NativeRequest:
    """Read the body of a request to ``/completion``.

    Raises:
        ApiError: 400 with the field to blame.
    """
    fields = Fields(body)
    prompt = _without_objects(fields.take("prompt"))
    return _parsed(fields, {"prompt": prompt}, model)


def parse_infill_request(body: Json, model: ServedModel) -> NativeRequest:
    """Read the body of a request to ``/infill``: the text before and after a gap, and other files.

    Raises:
        ApiError: 400 with the field to blame.
    """
    fields = Fields(body)
    before, behind, begun = (fields.text(name) for name in ("input_prefix", "input_suffix", "prompt"))
    if before is None or behind is None:
        name = "input_prefix" if before is None else "input_suffix"
        raise missing(name)
    files = _files(fields.take("input_extra"), _CHARS_PER_TOKEN * model.ready.target.n_ctx)
    try:
        made = _parsed(fields, {"prompt": before + (begun or ""), "suffix": behind}, model, may_be_empty=True)
    except ApiError as error:
        raise error.renamed((("suffix", "input_suffix"), ("prompt", "input_prefix"))) from error
    asked = made.asked
    more = tuple(replace(one, files=files) for one in asked.more)
    return replace(made, asked=replace(asked, request=replace(asked.request, files=files), more=more))


def _parsed(fields: Fields, given: Json, model: ServedModel, *, may_be_empty: bool = False) -> NativeRequest:
    fields.ignore(_WITHOUT_EFFECT)
    if fields.take("image_data"):
        raise unsupported("image_data", "`image_data` is not read: send pictures as the messages of a chat.")
    number, likeliest, answers = fields.whole("n_predict"), fields.whole("n_probs"), fields.whole("n_cmpl")
    wants_tokens, shown = fields.flag("return_tokens"), _response_fields(fields.take("response_fields"))
    bias = _bias(fields.take("logit_bias"))
    rest = fields.rest()
    if number is not None:
        rest["max_tokens"] = -1 if number in _UNLIMITED else number
    if answers is not None:
        rest["n"] = answers
    has_ids = wants_tokens and rest.get("stream") is True  # a stream sends ids with the probabilities
    renamed = {"logprobs": likeliest or (0 if has_ids else None), "logit_bias": bias}
    try:
        asked = parse_request(
            {**rest, **given, **renamed}, model, chat=False, may_be_empty=may_be_empty, max_temperature=math.inf
        )
    except ApiError as error:
        raise error.renamed((("max_tokens", "n_predict"), ("logprobs", "n_probs"))) from error
    prompts = tuple(list(one.raw_ids) or one.raw_prompt for one in (asked.request, *asked.more))
    return NativeRequest(asked, prompts, wants_tokens, shown)


def _without_objects(value: object) -> object:
    """Prompt objects replaced by their texts; an object with pictures is refused."""
    if isinstance(value, list):
        return [_without_objects(one) for one in value]
    if not isinstance(value, dict):
        return value
    fields = Fields(value, "prompt.")
    text = fields.text("prompt_string")
    if fields.take("multimodal_data"):
        raise unsupported("prompt.multimodal_data", "No pictures are read here: send them as the messages of a chat.")
    fields.end()
    return text


def _files(value: object, max_chars: int) -> tuple[tuple[str, str], ...]:
    """Names and texts of the project's other files: the last ones, limited in characters."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise wrong_type("input_extra", "an array", value)
    files = list[tuple[str, str]]()
    for index, one in enumerate(value[-MAX_FILES:]):
        at = f"input_extra[{index}]"
        if not isinstance(one, dict):
            raise wrong_type(at, "an object", one)
        fields = Fields(one, f"{at}.")
        text, name = fields.text("text"), fields.text("filename")
        if text is None:
            raise missing(f"{at}.text")
        files.append((name or "tmp", text))
    num_chars, first = 0, len(files)
    while first and (num_chars := num_chars + len(files[first - 1][1])) <= max_chars:
        first -= 1
    return tuple(files[first:])


def _response_fields(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise wrong_type("response_fields", "an array", value)
    return tuple(check_text("response_fields", one) for one in value)


def _bias(value: object) -> object:
    """Convert pairs to OpenAI's object; False bans a token."""
    if not isinstance(value, list):
        return value
    found: Json = {}
    for pair in value:
        if not isinstance(pair, list) or len(pair) != 2:
            raise wrong_type("logit_bias", "an object, or an array of pairs", pair)
        token, bias = pair
        if isinstance(token, bool) or not isinstance(token, int):
            raise wrong_type("logit_bias", "pairs of a token id and a number", token)
        found[str(token)] = -100.0 if bias is False else bias
    return found
