"""Tests answers of remote servers as events: text, counters, ends, and all kinds of broken answers."""

import base64
import io
import threading
import time
from dataclasses import replace
from typing import Any

import pytest
from PIL import Image

from app.core.domain.engines import ServerKind
from app.core.remote.answer import RemoteAnswer
from app.core.remote.client import RemoteClient
from app.core.remote.errors import (
    ConnectionLostError,
    ContextExceededError,
    ModelNotOfferedError,
    RemoteError,
    RequestRejectedError,
    ServerBusyError,
    ServerTimeoutError,
)
from engine.grammar.json_schema import schema_grammar
from engine.records import ChatRequest, Finished, FinishReason, Message, SamplingParams, TextChunk
from tests.app.core.remote.scripted_server import ScriptedServer, serving
from tests.engine.vision_factory import picture

ASKED = ChatRequest((Message("user", "Hi"),), request_id=7, sampling=SamplingParams(seed=3, top_k=0))


def answer_of(server: ScriptedServer, request: ChatRequest = ASKED, **more: Any) -> RemoteAnswer:  # noqa: ANN401
    client = RemoteClient(server.url, **more)
    return RemoteAnswer(client, request, "org/model", ServerKind(server.script.kind), 4096)


def text_and_end(server: ScriptedServer, request: ChatRequest = ASKED) -> tuple[str, Finished]:
    events = list(answer_of(server, request).events(lambda: False))
    chunks = [event for event in events if isinstance(event, TextChunk)]
    assert all(sum(span.num_chars for span in chunk.spans) == len(chunk.text) for chunk in chunks)
    finished = events[-1]
    assert isinstance(finished, Finished)
    assert {event.request_id for event in events} == {7}
    return "".join(chunk.text for chunk in chunks), finished


@pytest.mark.parametrize("kind", [kind.value for kind in ServerKind])
def test_every_kind_streams(kind: str) -> None:
    with serving(kind=kind) as server:
        text, finished = text_and_end(server)
        sent = server.bodies[-1]
    assert text == "Hello, world!"
    assert finished.reason is FinishReason.END
    assert finished.stats.tokens == (8 if kind in ("vllm", "sglang") else 4)
    assert finished.stats.time_to_first_token_s is not None
    assert finished.stats.inter_token_ms_p95 is not None
    assert sent["messages"] == [{"role": "user", "content": "Hi"}]
    assert (sent["model"], sent["stream"], sent["seed"]) == ("org/model", True, 3)
    assert sent.get("top_k") == {"vllm": -1, "sglang": -1, "llama-server": 0, "lm-studio": 0}.get(kind)


@pytest.mark.parametrize("kind", [kind.value for kind in ServerKind])
def test_pictures_are_passed_on_in_their_places(kind: str) -> None:
    shown = picture(0, 6, 4)
    message = Message("user", "a b", pictures=((0, shown), (2, shown)))
    asked = replace(ASKED, messages=(message, Message("assistant", "c"), Message("user", "d")))
    with serving(kind=kind) as server:
        text_and_end(server, asked)
        sent = server.bodies[-1]["messages"]
    first, then, behind, last = sent[0]["content"]
    assert (then, last) == ({"type": "text", "text": "a "}, {"type": "text", "text": "b"})
    assert first == behind
    head, _, data = first["image_url"]["url"].partition(",")
    assert (first["type"], head) == ("image_url", "data:image/png;base64")
    image = Image.open(io.BytesIO(base64.b64decode(data)))
    assert (image.size, image.tobytes()) == ((6, 4), shown.rgb)
    assert sent[1:] == [{"role": "assistant", "content": "c"}, {"role": "user", "content": "d"}]


def test_an_engine_that_takes_no_pictures_is_told_in_one_sentence() -> None:
    shown = replace(ASKED, messages=(Message("user", "a", pictures=((0, picture(0, 6, 4)),)),))
    error = {"message": "At most 0 image(s) may be provided in one prompt."}
    with serving(kind="vllm", status=400, error=error) as server:
        with pytest.raises(RequestRejectedError, match=r"At most 0 image"):
            text_and_end(server, shown)
        with pytest.raises(RequestRejectedError, match="cannot continue a text with pictures"):
            text_and_end(server, replace(shown, continues_text=True))


def test_acceptance_is_of_this_answer() -> None:
    with serving(kind="llama-server") as server:
        stats = text_and_end(server)[1].stats
    assert (stats.proposed, stats.accepted, stats.passes) == (4, 2, 2)
    assert (stats.prompt_tokens, stats.prompt_cached_tokens, stats.prompt_s) == (7, 2, 0.05)
    assert stats.tokens_per_second == pytest.approx(100.0)


def test_an_answer_without_a_stream_and_one_that_was_cut_at_its_length() -> None:
    with serving(kind="other", unstreamed=True) as server:
        text, finished = text_and_end(server)
    assert (text, finished.stats.tokens, finished.stats.prompt_tokens) == ("Hello, world!", 4, 7)
    with serving(kind="other", finish_reason="length") as server:
        assert text_and_end(server, replace(ASKED, max_tokens=4))[1].reason is FinishReason.LENGTH
        assert text_and_end(server, replace(ASKED, max_tokens=5))[1].reason is FinishReason.CONTEXT
        assert text_and_end(server)[1].reason is FinishReason.CONTEXT  # the request did not limit the length


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_gets_its_tags_back(name: str) -> None:
    with serving(kind="sglang", reasoning=("I ", "think."), names_reasoning=name) as server:
        assert text_and_end(server)[0] == "<think>\nI think.\n</think>\n\nHello, world!"
    with serving(kind="sglang", reasoning=("I ", "think."), pieces=()) as server:
        assert text_and_end(server)[0] == "<think>\nI think.\n</think>\n\n"


def test_going_on_with_an_answer_where_the_engine_can() -> None:
    begun = ChatRequest((Message("user", "Hi"), Message("assistant", "Hel")), request_id=7)
    with serving(kind="vllm") as server:
        text_and_end(server, begun)
        assert server.bodies[-1]["continue_final_message"] is True
        assert server.bodies[-1]["add_generation_prompt"] is False
    with serving(kind="other") as server, pytest.raises(RequestRejectedError, match="cannot continue"):
        text_and_end(server, begun)


@pytest.mark.parametrize(
    ("status", "error", "expected"),
    [
        (404, {"message": "The model `org/model` does not exist.", "type": "NotFoundError"}, ModelNotOfferedError),
        (400, {"message": "the request is too long", "type": "exceed_context_size_error"}, ContextExceededError),
        (400, {"message": "This model's maximum context length is 9 tokens."}, ContextExceededError),
        (400, {"message": "The input (9 tokens) is longer than the model's context length"}, ContextExceededError),
        (500, {"message": "Trying to keep the first 225 tokens when context the overflows."}, ContextExceededError),
        (500, {"message": "Context size has been exceeded."}, ContextExceededError),
        (503, {"message": "Loading model"}, ServerBusyError),
        (429, {}, ServerBusyError),
        (400, {"message": "top_p must be\nin (0, 1]"}, RequestRejectedError),
        (500, {}, RequestRejectedError),
    ],
)
def test_refusals_are_one_sentence(status: int, error: dict[str, Any], expected: type[RemoteError]) -> None:
    with serving(status=status, error=error) as server, pytest.raises(expected) as raised:
        text_and_end(server)
    assert "\n" not in raised.value.message


@pytest.mark.parametrize("fault", [{"cut_after": 2}, {"error_after": 2, "error": {"message": "out of memory"}}])
def test_what_came_before_a_break_was_reported(fault: dict[str, Any]) -> None:
    seen: list[str] = []

    def watch(server: ScriptedServer) -> None:
        for event in answer_of(server).events(lambda: False):
            if isinstance(event, TextChunk):
                seen.append(event.text)

    with serving(**fault) as server, pytest.raises((ConnectionLostError, RequestRejectedError)):
        watch(server)
    assert seen == ["Hello", ", "]


def test_a_silent_engine_is_given_up() -> None:
    with serving(silence_s=30.0) as server, pytest.raises(ServerTimeoutError, match="sent nothing for"):
        list(answer_of(server, silence_s=0.3).events(lambda: False))


@pytest.mark.parametrize("fields", [{"silence_s": 30.0}, {"pause_s": 30.0}])
def test_a_stop_ends_it_at_once_before_and_within(fields: dict[str, Any]) -> None:
    with serving(kind="other", **fields) as server:
        client = RemoteClient(server.url)
        answer = RemoteAnswer(client, ASKED, "org/model", ServerKind.OTHER)
        stopped = threading.Event()

        def stop() -> None:
            stopped.set()
            client.abort()

        threading.Timer(0.3, stop).start()
        started = time.monotonic()
        events = list(answer.events(stopped.is_set))
        assert time.monotonic() - started < 25.0  # the server would be silent for 30 s
    assert isinstance(events[-1], Finished)
    assert events[-1].reason is FinishReason.CANCELLED


def sent(kind: str, request: ChatRequest) -> dict[str, Any]:
    """The body that a server of this kind gets for a request."""
    with serving(kind=kind) as server:
        text_and_end(server, request)
        return server.bodies[-1]


PENALTIES = SamplingParams(temperature=3.0, repeat_penalty=1.2, frequency_penalty=0.3, presence_penalty=0.4)


def test_penalties_stops_and_a_length_have_the_names_of_each_engine() -> None:
    request = replace(ASKED, sampling=PENALTIES, stop=("END",), max_tokens=9, ignore_eos=True)
    for kind, repeat, temperature in (
        ("vllm", "repetition_penalty", 3.0),
        ("sglang", "repetition_penalty", 3.0),
        ("llama-server", "repeat_penalty", 3.0),
        ("lm-studio", "repeat_penalty", 3.0),
        ("ollama", "", 2.0),
        ("other", "", 2.0),
    ):
        body = sent(kind, request)
        assert (body["frequency_penalty"], body["presence_penalty"]) == (0.3, 0.4)
        assert (body["stop"], body["max_tokens"], body["ignore_eos"]) == (["END"], 9, True)
        assert body["temperature"] == temperature
        assert {name: body[name] for name in body if name.startswith("repe")} == ({repeat: 1.2} if repeat else {})


def test_a_grammar_is_sent_to_llama_server_alone() -> None:
    request = replace(ASKED, grammar='root ::= "yes"')
    assert sent("llama-server", request)["grammar"] == 'root ::= "yes"'
    with (
        serving(kind="vllm") as server,
        pytest.raises(RequestRejectedError, match="only llama-server supports grammars"),
    ):
        text_and_end(server, request)
    assert not server.bodies


def test_a_schema_is_sent_as_one() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"], "additionalProperties": False}
    body = sent("llama-server", replace(ASKED, grammar=schema_grammar(schema).text))
    assert body["json_schema"] == schema
    assert "grammar" not in body


def test_text_that_is_completed_is_sent_without_roles() -> None:
    for request in (
        replace(ASKED, messages=(Message("user", "Once"), Message("assistant", "upon")), continues_text=True),
        replace(ASKED, messages=(), raw_prompt="Once\n\nupon"),
    ):
        with serving(kind="llama-server") as server:
            text_and_end(server, request)
            path, _key, body = server.requests[-1]
        assert path == "/v1/completions"
        assert body is not None
        assert body["prompt"] == "Once\n\nupon"
        assert "messages" not in body
