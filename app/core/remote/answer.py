"""Runs one answer of a remote server and yields the same events as the local engine: text, counters, end.

Only llama-server reports proposed and accepted tokens here, in ``timings``.
"""

import base64
import io
import time
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from app.core.domain.engines import ServerKind
from app.core.remote.client import RemoteClient
from app.core.remote.detection import EFFORT_VARIABLE, ReasoningMode, request_fields
from app.core.remote.errors import RemoteError, RequestRejectedError
from engine.grammar.lark import schema_of
from engine.intervals import bucket_of, percentile_ms
from engine.prompt.pictures import after_results
from engine.records import (
    AnswerEvent,
    ChatRequest,
    Finished,
    FinishReason,
    Message,
    Mode,
    Picture,
    PrefillProgress,
    RunStats,
    SamplingParams,
    Source,
    StatsUpdate,
    TextChunk,
    TokenSpan,
)

CHAT, COMPLETION = "/v1/chat/completions", "/v1/completions"
# These servers render the model's own chat template with variables, and can continue an assistant message.
_OWN_TEMPLATE = (ServerKind.VLLM, ServerKind.SGLANG, ServerKind.LLAMA_SERVER)
# Request fields that make the server report its counters.
_CONTINUOUS_USAGE = {"stream_options": {"include_usage": True, "continuous_usage_stats": True}}
_REPORTED_FIELDS: dict[ServerKind, dict[str, object]] = {
    ServerKind.LLAMA_SERVER: {"timings_per_token": True},
    ServerKind.VLLM: {**_CONTINUOUS_USAGE},
    ServerKind.SGLANG: {**_CONTINUOUS_USAGE},
}
_MAX_TEMPERATURE = 2.0  # the limit of OpenAI's API, which unknown servers may enforce
STATS_INTERVAL_S = 0.5
MAX_COUNT = 10**9
THINK_TAG, END_THINK_TAG = "<think>\n", "\n</think>\n\n"


def build_request(
    request: ChatRequest, model: str, kind: ServerKind, reasoning: Mapping[str, object] = MappingProxyType({})
) -> tuple[str, dict[str, object]]:
    """The path and the body of a request. ``reasoning``: the request fields of its `ReasoningMode`.

    Raises:
        RequestRejectedError: this kind of server does not support the request.
    """
    body: dict[str, object] = {"model": model, "stream": True, "stream_options": {"include_usage": True}}
    body |= _REPORTED_FIELDS.get(kind, {}) | _sampling(request.sampling, kind)
    ending = {"max_tokens": request.max_tokens, "stop": list(request.stop), "ignore_eos": request.ignore_eos}
    body |= {name: value for name, value in ending.items() if value is not None and value not in ([], False)}
    if request.grammar:
        if kind is not ServerKind.LLAMA_SERVER:
            raise RequestRejectedError("Of all remote servers, only llama-server supports grammars.", "Leave it out.")
        schema = schema_of(request.grammar)  # llama-server converts schemas differently
        body |= {"grammar": request.grammar} if schema is None else {"json_schema": schema}
    if request.continues_text and any(message.pictures for message in request.messages):
        raise RequestRejectedError("A remote server cannot continue a text with pictures.", "Leave the pictures out.")
    if request.raw_prompt is not None or request.continues_text:
        text = request.raw_prompt
        if text is None:
            text = "\n\n".join(message.content for message in request.messages)
        return COMPLETION, {**body, "prompt": text}
    # The API does not allow pictures in tool results.
    body["messages"] = [_message(message) for message in after_results(request.messages)]
    body |= _template(request, kind, reasoning)
    if request.messages and request.messages[-1].role == "assistant":
        if kind not in _OWN_TEMPLATE:
            message = "This remote server cannot continue an answer."
            raise RequestRejectedError(message, "Ask for the answer again instead.")
        if kind is not ServerKind.LLAMA_SERVER:  # which continues by default
            body |= {"continue_final_message": True, "add_generation_prompt": False}
    return CHAT, body


def _template(request: ChatRequest, kind: ServerKind, reasoning: Mapping[str, object]) -> Mapping[str, object]:
    """Variables of the chat template; servers that do not accept them get only a reasoning effort."""
    given = dict(request.template_variables)
    if kind not in _OWN_TEMPLATE:
        return {**reasoning, **({EFFORT_VARIABLE: given[EFFORT_VARIABLE]} if EFFORT_VARIABLE in given else {})}
    kept = reasoning.get("chat_template_kwargs")
    return {**reasoning, **request_fields({**(kept if isinstance(kept, dict) else {}), **given})}


def _sampling(sampling: SamplingParams, kind: ServerKind) -> dict[str, object]:
    found: dict[str, object] = {"temperature": sampling.temperature, "top_p": sampling.top_p}
    for name in ("frequency_penalty", "presence_penalty"):
        if value := getattr(sampling, name):
            found[name] = value
    if sampling.seed is not None:
        found["seed"] = sampling.seed
    if kind in (ServerKind.VLLM, ServerKind.SGLANG):
        found |= {"top_k": sampling.top_k or -1, "min_p": sampling.min_p}
        if sampling.repeat_penalty != 1.0:
            found["repetition_penalty"] = sampling.repeat_penalty
    elif kind in (ServerKind.LLAMA_SERVER, ServerKind.LM_STUDIO):
        found |= {"top_k": sampling.top_k, "min_p": sampling.min_p, "repeat_penalty": sampling.repeat_penalty}
    else:
        found["temperature"] = min(sampling.temperature, _MAX_TEMPERATURE)
    return found


def _message(message: Message) -> dict[str, object]:
    """A message; with pictures, its text and pictures are parts, in order."""
    if not message.pictures:
        return {"role": message.role, "content": message.content}
    parts, end = list[dict[str, object]](), 0
    for position, picture in message.pictures:
        if position > end:
            parts.append({"type": "text", "text": message.content[end:position]})
        parts.append({"type": "image_url", "image_url": {"url": _data_url(picture)}})
        end = position
    if message.content[end:]:
        parts.append({"type": "text", "text": message.content[end:]})
    return {"role": message.role, "content": parts}


@lru_cache(maxsize=8)  # a conversation's pictures are sent again with every question
def _data_url(picture: Picture) -> str:
    from PIL import Image  # noqa: PLC0415  (most conversations have no pictures)

    written = io.BytesIO()
    image = Image.frombytes("RGB", (picture.width, picture.height), picture.rgb)
    image.save(written, "PNG", compress_level=3)
    return f"data:image/png;base64,{base64.b64encode(written.getvalue()).decode('ascii')}"


class RemoteAnswer:
    """One running answer.

    ``n_ctx``: 0 if the server does not report its context size. ``reasoning``: see `build_request`.
    """

    def __init__(
        self,
        client: RemoteClient,
        request: ChatRequest,
        model: str,
        kind: ServerKind,
        n_ctx: int = 0,
        mode: ReasoningMode | None = None,
    ) -> None:
        """``mode``: the reasoning mode, if the model has several."""
        self._client, self._request = client, request
        self._path, self._body = build_request(request, model, kind, mode.fields if mode is not None else {})
        self._n_ctx, self._start_tag = n_ctx, mode.option.reasoning_start_tag if mode is not None else ""
        self._begun_at = self._first_at = self._last_at = 0.0
        self._num_pieces = 0
        self._reported = 0  # tokens that the server has reported
        self._num_counted = 0  # reported tokens whose time was counted
        self._intervals: dict[int, int] = {}
        self._usage: Mapping[str, Any] = {}
        self._timings: Mapping[str, Any] = {}
        self._is_reasoning = False
        self._reason = FinishReason.END

    def events(self, should_stop: Callable[[], bool]) -> Iterator[AnswerEvent]:
        """Run the answer; yields events also before a failure.

        Raises:
            RemoteError: the answer failed or broke off.
        """
        request_id = self._request.request_id
        self._begun_at = time.monotonic()
        reported_at = self._begun_at
        try:
            with self._client.answer(self._path, self._body) as objects:
                yield PrefillProgress(request_id, 0, 0)
                for event in objects:
                    text = self._count_event(event)
                    if text:
                        yield TextChunk(request_id, text, (TokenSpan(len(text), Source.TARGET),), (), self._start_tag)
                        self._start_tag = ""
                    if should_stop():
                        break
                    if time.monotonic() - reported_at >= STATS_INTERVAL_S:
                        reported_at = time.monotonic()
                        yield StatsUpdate(request_id, self.stats())
        except RemoteError:
            if not should_stop():
                raise
        if self._is_reasoning and not should_stop():
            yield TextChunk(request_id, END_THINK_TAG, (TokenSpan(len(END_THINK_TAG), Source.TARGET),))
        if should_stop():
            self._reason = FinishReason.CANCELLED
        yield Finished(request_id, self._reason, self.stats())

    # ---- what came -------------------------------------------------------------------------------------------------

    def _count_event(self, event: Mapping[str, Any]) -> str:
        """Count the tokens of a stream's object; returns its text."""
        usage, timings = event.get("usage"), event.get("timings")
        self._usage = usage if isinstance(usage, dict) else self._usage
        self._timings = timings if isinstance(timings, dict) else self._timings
        self._reported = (
            count(self._usage.get("completion_tokens")) or count(self._timings.get("predicted_n")) or self._reported
        )
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return ""
        reason = choice.get("finish_reason")
        if isinstance(reason, str):
            self._reason = self._cut() if reason == "length" else FinishReason.END
        text = self._text_of(choice)
        if text:
            # Record the time since the last chunk, divided by the number of its tokens if the server reports it.
            now = time.monotonic()
            self._num_pieces += 1
            if self._num_pieces == 1:
                self._first_at = now
            else:
                tokens = max(self._reported - self._num_counted, 1)
                bucket = bucket_of((now - self._last_at) * 1e6 / tokens)
                self._intervals[bucket] = self._intervals.get(bucket, 0) + tokens
            self._last_at, self._num_counted = now, self._reported
        return text

    def _cut(self) -> FinishReason:
        """The reason for "length", which servers use for the token limit of the request and for a full context."""
        most = self._request.max_tokens
        made = self._reported or self._num_pieces
        return FinishReason.LENGTH if most is not None and made >= most else FinishReason.CONTEXT

    def _text_of(self, choice: Mapping[str, Any]) -> str:
        """Text and reasoning of a choice in one text, with reasoning tags, as the app stores it."""
        part = choice.get("delta") or choice.get("message")
        part = part if isinstance(part, dict) else {"content": choice.get("text")}
        thought = _text(part.get("reasoning_content")) or _text(part.get("reasoning"))
        words = _text(part.get("content"))
        text = ""
        if thought:
            text = thought if self._is_reasoning else THINK_TAG + thought
            self._is_reasoning = True
        if words and self._is_reasoning:
            self._is_reasoning = False
            text += END_THINK_TAG
        return text + words

    # ---- figures ---------------------------------------------------------------------------------------------------

    def stats(self) -> RunStats:
        tokens = self._reported or self._num_pieces
        prompt = count(self._usage.get("prompt_tokens"))
        details = self._usage.get("prompt_tokens_details")
        cached = count(details.get("cached_tokens")) if isinstance(details, dict) else 0
        if self._timings:
            cached = count(self._timings.get("cache_n")) or cached
            prompt = prompt or cached + count(self._timings.get("prompt_n"))
        proposed, accepted = count(self._timings.get("draft_n")), count(self._timings.get("draft_n_accepted"))
        return RunStats(
            mode=Mode.AUTO if proposed else Mode.OFF,
            prompt_tokens=prompt,
            prompt_cached_tokens=min(cached, prompt),
            prompt_s=count(self._timings.get("prompt_ms")) / 1000.0,
            time_to_first_token_s=self._first_at - self._begun_at if self._num_pieces else None,
            tokens=tokens,
            passes=max(count(self._timings.get("predicted_n")) - accepted, 0) if proposed else 0,
            proposed=proposed,
            accepted=accepted,
            decode_s=self._decode_s(tokens),
            inter_token_ms_p50=percentile_ms(self._intervals, 50),
            inter_token_ms_p95=percentile_ms(self._intervals, 95),
            inter_token_ms_p99=percentile_ms(self._intervals, 99),
            interval_counts=dict(self._intervals),
            context_used=prompt + tokens if prompt and self._n_ctx else 0,
            context_size=self._n_ctx,
        )

    def _decode_s(self, tokens: int) -> float:
        """Decoding time in seconds: reported by the server, else from the first chunk to the last plus one mean gap."""
        reported = self._timings.get("predicted_ms")
        if isinstance(reported, int | float) and reported > 0:
            return float(reported) / 1000.0
        seen = self._last_at - self._first_at
        return seen * tokens / (tokens - 1) if tokens > 1 and self._num_pieces > 1 else 0.0


def count(value: Any) -> int:  # noqa: ANN401 (JSON)
    """A reported counter; 0 if the value is no valid number."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and 0 <= value < MAX_COUNT else 0


def _text(value: Any) -> str:  # noqa: ANN401 (JSON)
    """Replace lone surrogates, which JSON can contain."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""
