"""Tests names of models on remote servers, and whether a server runs on this computer."""

import pytest

from app.core.domain.engines import RemoteModel, ServerRecord, remote_model_id, remote_name


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("/srv/models/SmolLM2-135M-Instruct-Q4_1.gguf", "SmolLM2-135M-Instruct-Q4_1"),
        ("C:\\models\\gemma-3-270m.gguf", "gemma-3-270m"),
        ("models/large-00001-of-00003.gguf", "large"),
        ("/srv/Qwen3-8B/", "Qwen3-8B"),
        ("~/weights/Qwen3-8B", "Qwen3-8B"),
        ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B"),
        ("gpt-oss:20b", "gpt-oss:20b"),
        ("/", "/"),
        (".gguf", ".gguf"),
    ],
)
def test_a_model_named_by_its_path_is_called_by_its_file(name: str, title: str) -> None:
    assert RemoteModel(name).title == title
    assert remote_name(remote_model_id("http://192.168.1.5:8000", name)) == f"{title} @ 192.168.1.5:8000"


def test_which_engines_run_on_this_computer() -> None:
    here = ("http://127.0.0.1:8080", "http://localhost:1", "http://[::1]:8080")
    assert [ServerRecord(url).is_local for url in (*here, "http://192.168.1.5:8000")] == [True, True, True, False]
