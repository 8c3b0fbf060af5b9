"""Invalid requests at every endpoint are rejected with a sentence, and the server answers the next one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.app.core.server.scripted_session import CHAT, HELLO, ScriptedServer
from tests.app.core.server.test_embeddings import ScriptedEmbedder

TEXT, RESPONSES, MESSAGES, VECTORS = "/v1/completions", "/v1/responses", "/v1/messages", "/v1/embeddings"
USER = {"role": "user", "content": "Hello"}
DEEP = "[" * 200 + "]" * 200
BAD: tuple[tuple[str, object], ...] = (
    (CHAT, b""),
    (CHAT, b"{"),
    (CHAT, b"null"),
    (CHAT, b"[]"),
    (CHAT, b'"text"'),
    (CHAT, b"\xff\xfe\x00"),
    (CHAT, b'{"messages": [{"role": "user", "content": "\xff"}]}'),
    (CHAT, f'{{"messages": {DEEP}}}'.encode()),
    (CHAT, b'{"temperature": NaN, "messages": [{"role": "user", "content": "a"}]}'),
    (CHAT, b'{"max_tokens": 1e400, "messages": [{"role": "user", "content": "a"}]}'),
    (CHAT, {}),
    (CHAT, {"messages": None}),
    (CHAT, {"messages": []}),
    (CHAT, {"messages": "Hello"}),
    (CHAT, {"messages": [1]}),
    (CHAT, {"messages": [{}]}),
    (CHAT, {"messages": [{"role": "nobody", "content": "a"}]}),
    (CHAT, {"messages": [{"role": "user"}]}),
    (CHAT, {"messages": [{"role": "user", "content": 5}]}),
    (CHAT, {"messages": [{"role": "user", "content": [{"type": 5}]}]}),
    (CHAT, {"messages": [{"role": "user", "content": [{}]}]}),
    (CHAT, {"messages": [{"role": "tool", "content": {"a": 1}}]}),
    (CHAT, {"messages": [{"role": "assistant", "content": None, "tool_calls": [{}]}]}),
    (CHAT, {"messages": [USER] * 10_001}),
    (CHAT, {**HELLO, "temperature": -1}),
    (CHAT, {**HELLO, "temperature": "hot"}),
    (CHAT, {**HELLO, "top_p": 2}),
    (CHAT, {**HELLO, "max_tokens": -5}),
    (CHAT, {**HELLO, "max_tokens": 2.5}),
    (CHAT, {**HELLO, "n": 0}),
    (CHAT, {**HELLO, "n": 1000}),
    (CHAT, {**HELLO, "seed": 2**70}),
    (CHAT, {**HELLO, "stop": [1]}),
    (CHAT, {**HELLO, "stop": ["a"] * 17}),
    (CHAT, {**HELLO, "logit_bias": {"x": 1}}),
    (CHAT, {**HELLO, "logit_bias": {"5": 1000}}),
    (CHAT, {**HELLO, "top_logprobs": 3}),
    (CHAT, {**HELLO, "stream": "yes"}),
    (CHAT, {**HELLO, "tools": [{"type": "function"}]}),
    (CHAT, {**HELLO, "tools": "weather"}),
    (CHAT, {**HELLO, "tool_choice": "required"}),
    (CHAT, {**HELLO, "response_format": {"type": "sound"}}),
    (CHAT, {**HELLO, "response_format": {"type": "json_schema"}}),
    (CHAT, {**HELLO, "response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "hiccup"}}}}),
    (CHAT, {**HELLO, "json_schema": {"type": 5}}),
    (CHAT, {**HELLO, "grammar": "root ::= ("}),
    (CHAT, {**HELLO, "grammar": 'root ::= "a"', "json_schema": {}}),
    (CHAT, {**HELLO, "min_tokens": 9, "max_tokens": 3}),
    (CHAT, {**HELLO, "continue_final_message": True}),
    (CHAT, {**HELLO, "chat_template_kwargs": {"a": []}}),
    (CHAT, {**HELLO, "speculation": {"mode": "magic"}}),
    (f"{CHAT}/input_tokens", {"messages": "Hello"}),
    (TEXT, {}),
    (TEXT, {"prompt": []}),
    (TEXT, {"prompt": [[1, 2], [100_000]]}),
    (TEXT, {"prompt": ["a"] * 129}),
    (TEXT, {"prompt": "a", "suffix": "b"}),
    (TEXT, {"prompt": "a", "best_of": 5}),
    ("/completion", {"prompt": {"multimodal_data": "AAAA", "prompt_string": "a"}}),
    ("/completion", {"prompt": "a", "n_predict": "many"}),
    ("/completion", {"prompt": "a", "logit_bias": [["a", 1]]}),
    ("/infill", {"input_prefix": "a"}),
    ("/infill", {"input_prefix": "a", "input_suffix": "b", "input_extra": [{"filename": "a"}]}),
    (RESPONSES, {}),
    (RESPONSES, {"input": []}),
    (RESPONSES, {"input": [{"type": "function_call", "name": "a"}]}),
    (RESPONSES, {"input": "a", "background": True}),
    (f"{RESPONSES}/input_tokens", {"input": 5}),
    (MESSAGES, {"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}),
    (MESSAGES, {"messages": [USER], "mcp_servers": [{}]}),
    ("/v1/messages/count_tokens", {}),
    (VECTORS, {}),
    (VECTORS, {"input": [[True]]}),
    (VECTORS, {"input": "a", "dimensions": -1}),
    ("/embedding", {"content": {"a": 1}}),
    ("/tokenize", {}),
    ("/tokenize", {"content": [-1]}),
    ("/detokenize", {"tokens": "a"}),
    ("/apply-template", {"messages": 5}),
    ("/api/chat", {"messages": [{"role": "user", "content": "a", "images": "AAAA"}]}),
    ("/api/generate", {"prompt": "a", "format": 5}),
    ("/api/embed", {"input": {}}),
    ("/v1/audio/speech", {"input": "a"}),
    ("/v1/images/generations", {"prompt": "a"}),
)


@pytest.fixture
def embedding() -> Iterator[ScriptedServer]:
    server = ScriptedServer(embedder=ScriptedEmbedder())
    yield server
    server.close()


def test_each_is_refused_with_a_sentence_and_the_next_is_answered(embedding: ScriptedServer) -> None:
    wrong = list[object]()
    for path, body in BAD:
        given = {"content": body} if isinstance(body, bytes) else {"json": body}
        response = embedding.client.post(path, **given)  # type: ignore[arg-type]
        told = response.json().get("error")
        message = told if isinstance(told, str) else told["message"]
        if not (400 <= response.status_code < 500 and message.endswith((".", "`"))):
            wrong.append((path, body, response.status_code, message))
    assert wrong == []
    assert not embedding.session.requests
    assert embedding.client.post(CHAT, json=HELLO).status_code == 200


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_another_method_is_refused(embedding: ScriptedServer, method: str) -> None:
    for path in (CHAT, TEXT, RESPONSES, MESSAGES, VECTORS, "/completion", "/infill", "/api/chat"):
        assert embedding.client.request(method, path).status_code in (404, 405)
