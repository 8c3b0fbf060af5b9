"""Tests histories of agents and other clients: old messages must never make a conversation unusable."""

import base64
from dataclasses import replace
from typing import Any

import pytest

from app.core.server.anthropic_api import parse_messages_request
from app.core.server.protocol import parse_request
from app.core.server.responses_api import parse_response_request
from engine.records import Message, ToolFormat
from tests.app.core.server.scripted_session import served

Json = dict[str, Any]
PDF = base64.b64encode(b"%PDF-1.7 ").decode()
USER: Json = {"role": "user", "content": "hi"}
CALL: Json = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}


def anthropic(*blocks: object, role: str = "user") -> list[Message]:
    body: Json = {"max_tokens": 5, "messages": [USER, {"role": role, "content": list(blocks)}]}
    return list(parse_messages_request(body, served()).request.messages)


def result(*blocks: object) -> list[Message]:
    body: Json = {"messages": [USER, {"role": "assistant", "content": [CALL]}]}
    given = {"type": "tool_result", "tool_use_id": "t1", "content": list(blocks)}
    request = {**body, "messages": [*body["messages"], {"role": "user", "content": [given]}]}
    return list(parse_messages_request(request, served()).request.messages)


def document(source: object, **more: object) -> Json:
    return {"type": "document", "source": source, **more}


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        ([document({"type": "text", "media_type": "text/plain", "data": "words"}, title="a")], "[document a]\nwords"),
        ([document({"type": "base64", "data": PDF}, title="a.pdf")], "[document a.pdf]"),
        ([document({"type": "content", "content": [{"type": "text", "text": "words"}]})], "[document]\nwords"),
        ([document({"type": "url", "url": "https://a/b.pdf"})], "[document]\nhttps://a/b.pdf"),
        ([document(None)], "[document]"),
        ([{"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": "w"}]}],
         "[search_result t]\nw\ns"),
        ([{"type": "tool_reference", "tool_name": "Bash"}], "[tool_reference Bash]"),
        ([{"type": "text", "text": ""}, {"type": "text", "text": "hi", "citations": [{"a": 1}]}], "\n\nhi"),
        ([{"type": "text", "text": None}], ""),
        ([{"type": "image", "source": {"type": "file", "file_id": "f"}}], "[a picture that this model cannot see]"),
        ([{"type": "novelty"}], "[novelty]"),
    ],
)  # fmt: skip
def test_blocks_of_anthropics_api_are_read_as_words(blocks: list[object], words: str) -> None:
    assert anthropic(*blocks)[-1].content == words
    assert result(*blocks)[-1].content == words.replace("\n\nhi", "\nhi")  # parts of a result are lines


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        ([{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}}],
         "[server_tool_use web_search]\nx"),
        ([{"type": "web_search_tool_result", "tool_use_id": "s", "content": [
            {"type": "web_search_result", "title": "T", "url": "https://a", "encrypted_content": "AAAA"}]}],
         "[web_search_tool_result]\nhttps://a"),
        ([{"type": "web_fetch_tool_result", "content": {"type": "web_fetch_result", "url": "https://a", "content":
            document({"type": "text", "media_type": "text/plain", "data": "words"}, title="t")}}],
         "[web_fetch_tool_result]\nhttps://a\nwords"),
        ([{"type": "bash_code_execution_tool_result", "content": {"stdout": "out", "stderr": "err", "return_code": 0}}],
         "[bash_code_execution_tool_result]\nout\nerr"),
        ([{"type": "mcp_tool_result", "content": [{"type": "text", "text": "words"}]}], "[mcp_tool_result]\nwords"),
        ([{"type": "thinking", "thinking": "t", "signature": "s"}, {"type": "text", "text": "found"}], "found"),
    ],
)  # fmt: skip
def test_what_ran_at_anthropic_is_read_as_words(blocks: list[object], words: str) -> None:
    assert anthropic(*blocks, role="assistant")[-1].content == words


def test_the_first_line_of_claude_code_is_left_out() -> None:
    """It differs in each turn, so nothing after it would be found in the cache."""

    def system(*texts: str) -> str:
        body: Json = {"messages": [USER], "system": [{"type": "text", "text": text} for text in texts]}
        return parse_messages_request(body, served()).request.messages[0].content

    first = "x-anthropic-billing-header: cc_version=2.1.63.0d9; cch={};"
    assert system(first.format("a1"), "You are.", "Be brief.") == system(first.format("b2"), "You are.", "Be brief.")
    assert system(first.format("a1"), "You are.", "Be brief.") == "You are.\n\nBe brief."


def chat(*messages: Json) -> tuple[Message, ...]:
    return parse_request({"messages": [USER, *messages]}, served(), chat=True).request.messages[1:]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([{"type": "file", "file": {"filename": "a.txt", "file_data": "data:text/plain;base64,QQ=="}}], "[file a.txt]"),
        ([{"type": "file", "file": {"file_id": "file-1"}}, {"type": "text", "text": "hi"}], "[file file-1]\nhi"),
        ([{"type": "input_audio", "input_audio": {"data": "QUJD", "format": "wav"}}], "[input_audio]"),
        ([{"type": "refusal", "refusal": "No."}], "No."),
        ([{"type": "thinking", "thinking": "t"}, {"type": "text", "text": "words"}], "words"),
        ([{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "https://a/b.png"}}],
         "a\n[a picture that this model cannot see]"),
    ],
)  # fmt: skip
def test_parts_of_chats_are_read_as_words(content: list[object], words: str) -> None:
    for role in ("user", "assistant", "tool"):
        (message,) = chat({"role": role, "content": content, **({"tool_call_id": "c"} if role == "tool" else {})})
        here = words.replace("this model cannot see", "is not shown here") if role == "assistant" else words
        assert message.content == here


def test_messages_of_older_and_hosted_models_are_read() -> None:
    citation = {"type": "url_citation", "url_citation": {"url": "https://a"}}
    silent, cited, spoken = chat(
        {"role": "assistant", "content": None, "refusal": "I will not."},
        {"role": "assistant", "content": "Rome.", "annotations": [citation], "refusal": None},
        {"role": "assistant", "content": "Heard.", "audio": {"id": "audio_1"}, "tool_calls": []},
    )
    assert [silent.content, cited.content, spoken.content] == ["I will not.", "Rome.", "Heard."]


def responses(*items: object) -> list[Message]:
    asked = parse_response_request({"input": [USER, *items]}, served())
    return list(asked.request.messages[1:])


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ({"type": "web_search_call", "id": "ws", "status": "completed", "action": {"type": "search", "query": "x"}},
         "[web_search_call]\nx"),
        ({"type": "file_search_call", "queries": ["x"], "results": [{"text": "words", "filename": "a"}]},
         "[file_search_call]\nx\nwords"),
        ({"type": "code_interpreter_call", "code": "1+1", "outputs": [{"type": "logs", "logs": "2"}]},
         "[code_interpreter_call]\n1+1\n2"),
        ({"type": "local_shell_call", "action": {"command": ["ls"]}}, "[local_shell_call]\nls"),
        ({"type": "image_generation_call", "result": "AAAA"}, "[image_generation_call]"),
    ],
)  # fmt: skip
def test_items_that_ran_at_openai_stand_before_what_was_said_of_them(item: Json, words: str) -> None:
    """In one message: many templates reject two assistant messages in a row."""
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Found."}]}
    assert [one.content for one in responses(item, said)] == [f"{words}\n\nFound."]


def test_one_odd_tool_costs_the_others_nothing() -> None:
    weather = {"type": "function", "function": {"name": "weather"}}
    tools = [
        {"type": "web_search"},
        weather,
        {"type": "custom", "custom": {"name": "patch"}},
        weather,
        {"function": {"name": "b"}},
    ]
    ready = replace(served().ready, target=replace(served().ready.target, tool_format=ToolFormat.HERMES))
    model = replace(served(), ready=ready)
    asked = parse_request({"messages": [USER], "tools": tools}, model, chat=True)
    assert sorted(asked.tool_names) == ["b", "weather"]
    assert len(asked.request.tools) == 2
    assert [any(word in one for one in asked.warnings) for word in ("`web_search`", "`custom`", "Two of")] == [True] * 3
