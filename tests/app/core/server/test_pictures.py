"""Tests pictures over HTTP; invalid ones are rejected in each API's format."""

import base64
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from app.core.server.fields import MAX_BODY_BYTES
from app.core.server.pictures import MAX_PICTURES_READ, PictureSource
from engine.picture import Picture
from engine.prompt.pictures import MAX_PICTURES
from engine.records import EngineReady, Message
from tests.app.core.server.scripted_session import CHAT, ScriptedServer, info, served
from tests.engine.sandbox.pictures import HEIGHT, WIDTH, broken, encoded, sample

pytestmark = pytest.mark.usefixtures("warm_helpers")

PNG = encoded(sample(), "PNG")
DATA = base64.b64encode(PNG).decode()
URL = f"data:image/png;base64,{DATA}"


@pytest.fixture
def seeing() -> Iterator[ScriptedServer]:
    """A server with a vision model."""
    ready = EngineReady(replace(info("tiny"), has_vision=True), info("tinier"))
    server = ScriptedServer(model=replace(served(), ready=ready, pictures=PictureSource()))
    yield server
    server.close()


def part(url: object, **more: object) -> dict[str, object]:
    """A picture part of a message."""
    return {"type": "image_url", "image_url": {"url": url, **more}}


def words(text: str) -> dict[str, object]:
    """A text part of a message."""
    return {"type": "text", "text": text}


def chat(*content: object, role: str = "user") -> dict[str, object]:
    """A chat of one message."""
    return {"messages": [{"role": role, "content": list(content)}]}


def asked(server: ScriptedServer, path: str, body: dict[str, object]) -> Message:
    """The last message as the engine gets it."""
    response = server.client.post(path, json=body)
    assert response.status_code == 200, response.text
    return server.session.requests[-1].messages[-1]


def test_a_chat_has_pictures_where_they_stand(seeing: ScriptedServer) -> None:
    """Texts are separate lines, except beside a picture."""
    body = chat(words("one"), words("two"), part(URL, detail="high"), words("three"), part(URL))
    message = asked(seeing, CHAT, body)
    assert message.content == "one\ntwothree"
    assert [place for place, _ in message.pictures] == [7, 12]
    picture = message.pictures[0][1]
    assert (picture.width, picture.height) == (WIDTH, HEIGHT)
    bare = asked(seeing, CHAT, chat({"type": "image_url", "image_url": URL}))
    assert bare.pictures[0][1] == picture
    assert asked(seeing, CHAT, chat(words("a"), words("b"))).pictures == ()


def test_responses_and_messages_have_them_too(seeing: ScriptedServer) -> None:
    """In their own formats."""
    items: list[object] = [{"type": "input_text", "text": "see"}, {"type": "input_image", "image_url": URL}]
    message = asked(seeing, "/v1/responses", {"input": [{"role": "user", "content": items}]})
    assert (message.content, [place for place, _ in message.pictures]) == ("see", [3])
    block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}}
    far = {"type": "image", "source": {"type": "url", "url": URL}, "cache_control": {"type": "ephemeral"}}
    body = {"max_tokens": 5, **chat(words("a"), words("b"), block, words("c"), far)}
    message = asked(seeing, "/v1/messages", body)
    assert (message.content, [place for place, _ in message.pictures]) == ("a\n\nbc", [4, 5])
    count = seeing.client.post("/v1/messages/count_tokens", json=body)
    assert count.status_code == 200


def test_results_of_tools_have_them(seeing: ScriptedServer) -> None:
    """With the name of the call."""
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    asks: list[dict[str, object]] = [{"role": "user", "content": "Look."}]
    called = {"role": "assistant", "content": None, "tool_calls": [call]}
    given = {"role": "tool", "tool_call_id": "c1", "content": [words("see"), part(URL)]}
    message = asked(seeing, CHAT, {"messages": [*asks, called, given]})
    assert (message.role, message.name, message.content) == ("tool", "look", "see")
    assert [place for place, _ in message.pictures] == [3]
    block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}}
    uses = {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {}}]}
    gives = {"type": "tool_result", "tool_use_id": "c1", "content": [words("see"), block]}
    body = {"max_tokens": 5, "messages": [*asks, uses, {"role": "user", "content": [gives]}]}
    assert asked(seeing, "/v1/messages", body) == message


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (chat(part("data:image/png;base64,@@@")), "messages[0].content[0].image_url.url"),
        (chat(part("file:///etc/passwd")), "messages[0].content[0].image_url.url"),
        (chat(part("http://127.0.0.1:1/a.png")), "messages[0].content[0].image_url.url"),
        (chat(part("data:image/png,abc")), "messages[0].content[0].image_url.url"),
        (chat(part(f"data:text/html;base64,{DATA}")), "messages[0].content[0].image_url.url"),
        (chat(words("a"), part(None)), "messages[0].content[1].image_url.url"),
        (chat(part(7)), "messages[0].content[0].image_url.url"),
        (chat({"type": "image_url"}), "messages[0].content[0].image_url.url"),
    ],
)
def test_what_is_no_picture_is_refused_by_its_field(seeing: ScriptedServer, body: dict[str, Any], param: str) -> None:
    """With status 400."""
    response = seeing.client.post(CHAT, json=body)
    assert response.status_code == 400
    assert response.json()["error"]["param"] == param


def test_broken_pictures_are_refused_in_each_apis_form(seeing: ScriptedServer) -> None:
    """With the error and a way to fix it."""
    data = base64.b64encode(broken()["a bomb of 50,000 x 50,000"]).decode()
    url = f"data:image/png;base64,{data}"
    body = {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": url}]}]}
    error = seeing.client.post("/v1/responses", json=body).json()["error"]
    assert (error["code"], error["param"]) == ("invalid_image", "input[0].content[0].image_url")
    block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    answer = seeing.client.post("/v1/messages", json={"max_tokens": 1, **chat(block)})
    assert answer.status_code == 400
    assert "messages[0].content[0].source.data" in answer.json()["error"]["message"]


def test_a_broken_picture_of_before_is_a_line(seeing: ScriptedServer) -> None:
    """It stays in the conversation, also as a tool result; a new one is rejected, so that the user notices."""
    far, line = "https://example.com/a.png", "[a picture that cannot be read]"
    block = {"type": "image", "source": {"type": "url", "url": far}}
    hi = {"role": "user", "content": "hi"}
    old, result = (
        chat(words("see"), part(far))["messages"],
        {"role": "tool", "tool_call_id": "c", "content": [part(far)]},
    )
    picture = {"type": "input_image", "image_url": far}
    bodies: list[tuple[str, dict[str, object]]] = [
        (CHAT, {"messages": [*old, hi]}),  # type: ignore[misc]
        (CHAT, {"messages": [hi, result]}),
        ("/v1/messages", {"max_tokens": 1, "messages": [*chat(words("see"), block)["messages"], hi]}),  # type: ignore[misc]
        ("/v1/responses", {"input": [{"role": "user", "content": [picture]}, hi]}),
    ]  # fmt: skip
    for path, body in bodies:
        answer = seeing.client.post(path, json=body)
        assert answer.status_code == 200, (path, answer.text)
        assert "or the network" in answer.json()["warnings"][0]
        assert any(line in message.content for message in seeing.session.requests[-1].messages)
    for path, body in (bodies[0], bodies[2], bodies[3]):
        name = "input" if "input" in body else "messages"
        new = {**body, name: body[name][:1]}  # type: ignore[index]
        assert seeing.client.post(path, json=new).status_code == 400


def test_too_many_pictures_and_bodies_are_bounded(seeing: ScriptedServer) -> None:
    """Of too many pictures the latest are used: otherwise an agent that takes screenshots could not continue."""
    assert len(asked(seeing, CHAT, chat(*[part(URL)] * MAX_PICTURES)).pictures) == MAX_PICTURES
    body = {"messages": [*chat(words("a"), part(URL), part(URL))["messages"], *chat(*[part(URL)] * 63)["messages"]]}  # type: ignore[misc]
    answer = seeing.client.post(CHAT, json=body).json()
    assert f"the last {MAX_PICTURES} pictures" in answer["warnings"][0]
    first, last = seeing.session.requests[-1].messages
    assert (first.content, len(first.pictures), len(last.pictures)) == ("a", 1, 63)
    many = [{"type": "image_url", "image_url": {"url": URL}}] * (MAX_PICTURES_READ + 1)
    assert (
        f"{MAX_PICTURES_READ} pictures at most" in seeing.client.post(CHAT, json=chat(*many)).json()["error"]["message"]
    )
    large = chat(part(URL), words("x" * MAX_BODY_BYTES))
    assert seeing.client.post(CHAT, json=large).status_code == 200


UNSEEN = "[a picture that this model cannot see]"


def test_a_model_that_does_not_see_is_told_of_a_picture_in_words(server: ScriptedServer) -> None:
    """It stays in the conversation, which a rejection would make unusable; the client gets a warning."""
    for path, body in (
        (CHAT, chat(words("see"), part(URL))),
        ("/v1/responses", {"input": [{"role": "user", "content": [
            {"type": "input_text", "text": "see"}, {"type": "input_image", "image_url": URL}]}]}),
        ("/v1/messages", {"max_tokens": 1, **chat(words("see"), {"type": "image", "source": {}})}),
        ("/api/chat", {"stream": False, "messages": [{"role": "user", "content": "see", "images": [DATA]}]}),
        ("/api/generate", {"stream": False, "prompt": "see", "images": [DATA]}),
    ):  # fmt: skip
        response = server.client.post(path, json=body)
        assert "cannot see" in response.json()["warnings"][0], path
        message = server.session.requests[-1].messages[-1]
        assert sorted(message.content.split("\n")) in ([UNSEEN, "see"], ["", UNSEEN, "see"]), path
        assert message.pictures == ()


def test_a_picture_of_the_assistant_or_the_system_is_told_in_words(seeing: ScriptedServer) -> None:
    for role in ("assistant", "system"):
        message = asked(seeing, CHAT, chat(words("see"), part(URL), role=role))
        assert (message.content, message.pictures) == ("see\n[a picture that is not shown here]", ())


def test_ollamas_pictures_are_seen(seeing: ScriptedServer) -> None:
    """In base64, also in its URL-safe form and without padding."""
    bare = DATA.replace("+", "-").replace("/", "_").rstrip("=")
    for given in (DATA, bare, URL, f"data:application/octet-stream;base64,{DATA}"):
        message = asked(seeing, "/api/chat", {"messages": [{"role": "user", "content": "what", "images": [given]}]})
        assert (message.content, [place for place, _ in message.pictures]) == ("what", [0])
    message = asked(seeing, "/api/generate", {"prompt": "what", "images": [DATA, DATA]})
    assert (message.content, [place for place, _ in message.pictures]) == ("what", [0, 0])
    assert "vision" in seeing.client.post("/api/show", json={"model": "tiny"}).json()["capabilities"]


def test_a_source_reads_what_comes_again_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each request counts separately."""
    source = PictureSource()
    first = source.for_request().read(URL, "x")
    monkeypatch.setattr("engine.sandbox.picture._ask_child", lambda *_: pytest.fail("decoded again"))
    assert isinstance(first, Picture)
    assert source.for_request().read(URL, "x") is first
