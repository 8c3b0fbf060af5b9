"""Tests `paceline models pull URL` with a web server on this machine."""

import json
from pathlib import Path

import pytest

from app.cli.parser import main
from app.core.paths import builtin_target, find_paths
from tests.app.core.hub.conftest import hub
from tests.app.core.hub.link_server import LinkServer, file, says
from tests.app.core.hub.loopback import LoopbackHub

__all__ = ["hub"]
BYTES = builtin_target().read_bytes()
Capture = pytest.CaptureFixture[str]


def test_a_link_is_pulled_and_its_model_has_a_name(hub: LoopbackHub, capsys: Capture) -> None:
    with LinkServer() as server:
        server.answers["/tiny-Q8_0.gguf"] = file(BYTES)
        assert main(["models", "pull", server.url("/tiny-Q8_0.gguf"), "--json"]) == 0
    read = capsys.readouterr()
    facts = json.loads(read.out)["model"]
    assert (facts["name"], facts["source"]) == ("tiny-Q8_0", "127.0.0.1")
    assert Path(facts["files"][0]).read_bytes() == BYTES
    assert not hub.requests


def test_a_link_without_a_file_is_one_sentence(hub: LoopbackHub, capsys: Capture) -> None:
    with LinkServer() as server:
        server.answers["/m.gguf"] = says(404)
        assert main(["models", "pull", server.url("/m.gguf"), "--json"]) == 1
    told = capsys.readouterr()
    assert json.loads(told.out)["error"]["title"] == "m could not be downloaded"
    assert "paceline: m could not be downloaded: " in told.err
    assert not list(find_paths().models.rglob("*.gguf"))
