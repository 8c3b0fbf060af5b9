"""A server's kind is determined by requests."""

from __future__ import annotations

import pytest

from app.core.domain.engines import ServerKind
from app.core.remote.client import RemoteClient
from app.core.remote.detection import detect
from app.core.remote.errors import EngineAnswerError, EngineUnreachableError, KeyRefusedError
from tests.app.core.remote.scripted_server import serving


@pytest.mark.parametrize(
    ("kind", "title", "n_ctx", "drafting"),
    [
        ("vllm", "vLLM 0.32.0", 4096, "spec_decode"),
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
    with serving(kind="other") as server, pytest.raises(EngineAnswerError, match="has no list of models"):
        detect(RemoteClient(server.url + "/elsewhere"))


def test_a_wrong_key_and_no_server_are_one_sentence_each() -> None:
    with serving(key="right") as server:
        with pytest.raises(KeyRefusedError, match="does not accept the key"):
            detect(RemoteClient(server.url, "wrong"))
        with pytest.raises(KeyRefusedError, match="none is stored"):
            detect(RemoteClient(server.url))
        assert detect(RemoteClient(server.url, "right")).models
        url = server.url
    with pytest.raises(EngineUnreachableError, match=r"127.* does not answer"):
        detect(RemoteClient(url))
