"""Tests how a server's program and a model's reasoning modes are detected, and the fields that select a mode."""

from typing import Any

import pytest

from app.core.domain.engines import ServerKind
from app.core.remote.answer import build_request
from app.core.remote.client import RemoteClient
from app.core.remote.detection import ReasoningMode, detect, reasoning_modes
from app.core.remote.errors import InvalidResponseError, KeyRejectedError, ServerUnreachableError
from engine.records import ChatRequest, Message
from tests.app.core.remote.scripted_server import ScriptedServer, serving


@pytest.mark.parametrize(
    ("kind", "title", "n_ctx", "drafting"),
    [
        ("vllm", "vLLM 0.32.0", 4096, ""),
        ("sglang", "SGLang 0.5.18", 4096, "EAGLE3"),
        ("llama-server", "llama-server b9000-abcdef", 2048, "draft-simple"),
        ("lm-studio", "LM Studio", 8192, ""),
        ("ollama", "Ollama 0.31.0", 16384, ""),
        ("other", "OpenAI-compatible", 0, ""),
    ],
)
def test_each_program_is_known_by_its_own_page(kind: str, title: str, n_ctx: int, drafting: str) -> None:
    with serving(kind=kind) as server:
        facts = detect(RemoteClient(server.url))
    assert facts.kind is ServerKind(kind)
    assert (facts.title, facts.drafting) == (title, drafting)
    assert [(model.name, model.n_ctx) for model in facts.models] == [("org/model", n_ctx)]


@pytest.mark.parametrize("kind", ["llama-server", "lm-studio", "vllm"])
def test_a_model_that_does_not_see_is_known_where_its_program_tells(kind: str) -> None:
    """Some servers report vision; on others it is tried."""
    seen = []
    for sees in (True, False):
        with serving(kind=kind, has_vision=sees) as server:
            seen += [model.has_vision for model in detect(RemoteClient(server.url)).models]
    assert seen == [True, kind == "vllm"]


def test_a_server_without_a_list_of_models_is_none() -> None:
    with serving(kind="other") as server, pytest.raises(InvalidResponseError, match="has no list of models"):
        detect(RemoteClient(server.url + "/elsewhere"))


def test_a_wrong_key_and_no_server_are_one_sentence_each() -> None:
    with serving(key="right") as server:
        with pytest.raises(KeyRejectedError, match="does not accept the key"):
            detect(RemoteClient(server.url, "wrong"))
        with pytest.raises(KeyRejectedError, match="none is stored"):
            detect(RemoteClient(server.url))
        assert detect(RemoteClient(server.url, "right")).models
        url = server.url
    with pytest.raises(ServerUnreachableError, match=r"127.* does not answer"):
        detect(RemoteClient(url))


# The end of a template like Qwen3's: the answer begins within the reasoning, or after an empty one.
SWITCH = (
    "{{ messages[0].content }}<|assistant|>"
    "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% else %}<think>\n{% endif %}"
)
EFFORTS = "Reasoning: {{ reasoning_effort or 'medium' }}. {{ messages[0].content }}"
RENDERING = (ServerKind.LLAMA_SERVER, ServerKind.VLLM, ServerKind.SGLANG)


def ways(server: ScriptedServer) -> tuple[ReasoningMode, ...]:
    return reasoning_modes(RemoteClient(server.url), ServerKind(server.script.kind), "org/model")


def sent(found: tuple[ReasoningMode, ...], name: str, kind: ServerKind, **more: Any) -> dict[str, object]:  # noqa: ANN401
    """The fields of a request for the template."""
    request = ChatRequest((Message("user", "Hi"),), thinking=name, **more)
    fields = next((way.fields for way in found if way.option.name == name), {})
    body = build_request(request, "org/model", kind, fields)[1]
    return {key: body[key] for key in ("chat_template_kwargs", "reasoning_effort") if key in body}


@pytest.mark.parametrize("kind", RENDERING)
def test_a_switch_is_found_and_sent(kind: ServerKind) -> None:
    with serving(kind=kind.value, template=SWITCH) as server:
        found = ways(server)
    assert [(way.option.name, way.option.reasoning_start_tag) for way in found] == [("on", "<think>\n"), ("off", "")]
    assert sent(found, "off", kind) == {"chat_template_kwargs": {"enable_thinking": False}}
    both = sent(found, "off", kind, template_variables=(("style", "brief"),))
    assert both == {"chat_template_kwargs": {"enable_thinking": False, "style": "brief"}}


@pytest.mark.parametrize("kind", RENDERING)
def test_efforts_are_found_and_sent_beside_the_variables(kind: ServerKind) -> None:
    with serving(kind=kind.value, template=EFFORTS) as server:
        found = ways(server)
    assert [way.option.name for way in found] == ["medium", "low", "high"]
    low = {"chat_template_kwargs": {"reasoning_effort": "low"}, "reasoning_effort": "low"}
    assert sent(found, "low", kind) == low


@pytest.mark.parametrize("kind", RENDERING)
def test_where_the_template_leaves_no_choice_there_is_none(kind: ServerKind) -> None:
    with serving(kind=kind.value, template="{{ messages[0].content }}") as server:
        assert ways(server) == ()
    with serving(kind=kind.value) as server:  # a server without these endpoints
        assert ways(server) == ()


@pytest.mark.parametrize(
    ("family", "names"), [("qwen3", ["on", "off"]), ("gptoss", ["medium", "low", "high"]), ("", [])]
)
def test_ollama_tells_that_a_model_thinks(family: str, names: list[str]) -> None:
    with serving(kind="ollama", family=family) as server:
        found = ways(server)
    assert [way.option.name for way in found] == names
    if "off" in names:
        assert sent(found, "off", ServerKind.OLLAMA) == {"reasoning_effort": "none"}
        assert sent(found, "on", ServerKind.OLLAMA) == {}


@pytest.mark.parametrize("kind", [ServerKind.LM_STUDIO, ServerKind.OTHER])
def test_of_others_nothing_is_known_but_an_effort_can_be_given_by_hand(kind: ServerKind) -> None:
    with serving(kind=kind.value, template=SWITCH) as server:
        assert ways(server) == ()
        assert server.bodies == []
    given = (("reasoning_effort", "low"), ("enable_thinking", False))
    assert sent((), "", kind, template_variables=given) == {"reasoning_effort": "low"}
