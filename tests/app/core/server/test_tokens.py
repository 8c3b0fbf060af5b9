"""Tests tokenizing and detokenizing, and the text of a prompt."""

import pytest

from tests.app.core.server.scripted_session import HELLO, ScriptedServer


@pytest.mark.parametrize("prefix", ["", "/v1"])
def test_text_becomes_tokens_and_text_again(server: ScriptedServer, prefix: str) -> None:
    told = server.client.post(f"{prefix}/tokenize", json={"content": "A<s>B"}).json()
    assert told == {"tokens": [65, 1, 66]}
    assert server.client.post(f"{prefix}/detokenize", json=told).json() == {"content": "A<s>B"}


def test_control_tokens_are_parsed_unless_that_is_declined(server: ScriptedServer) -> None:
    def tokens(**fields: object) -> list[int]:
        found: list[int] = server.client.post("/tokenize", json={"content": "<s>a", **fields}).json()["tokens"]
        return found

    assert tokens() == [1, 97]
    assert tokens(parse_special=False) == [60, 115, 62, 97]
    assert tokens(add_special=True) == [1, 1, 97]
    assert tokens(content=["a", 5, "b"], add_special=True) == [1, 97, 5, 98]


def test_a_template_gives_the_text_of_the_prompt(server: ScriptedServer) -> None:
    told = server.client.post("/apply-template", json=HELLO).json()
    assert told == {"prompt": "<user>Hello"}
    assert not server.session.requests


@pytest.mark.parametrize(
    ("path", "body", "param", "words"),
    [
        ("/tokenize", {"content": ["a", -1]}, "content[1]", "names an unknown token"),
        ("/detokenize", {}, "tokens", "`tokens` is missing."),
        ("/detokenize", {"tokens": [10**9]}, "tokens", "names an unknown token"),
    ],
)
def test_what_cannot_be_read_is_refused(
    server: ScriptedServer, path: str, body: dict[str, object], param: str, words: str
) -> None:
    response = server.client.post(path, json=body)
    assert response.status_code == 400
    assert response.json()["error"]["param"] == param
    assert words in response.json()["error"]["message"]


def test_a_text_that_takes_too_long_is_refused(server: ScriptedServer) -> None:
    refused = server.client.post("/tokenize", json={"content": ["a" * 150_000, "b" * 60_000]})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "content")
