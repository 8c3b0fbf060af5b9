"""`paceline models pull URL`, against a web server on this machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli.parser import main
from app.paths import builtin_target, find_paths
from tests.app.hub.conftest import hub
from tests.app.hub.link_server import LinkServer, file, says
from tests.app.hub.loopback import LoopbackHub

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
    assert "llama model" in read.err
    assert not hub.requests


@pytest.mark.parametrize("address", ["file:///etc/passwd", "http://example.org/m.gguf", "ftp://h.example/m.gguf"])
def test_what_may_not_be_asked_is_one_sentence(hub: LoopbackHub, capsys: Capture, address: str) -> None:
    assert main(["models", "pull", address]) == 1
    assert "paceline: " in capsys.readouterr().err


def test_what_is_no_model_is_not_fetched(hub: LoopbackHub, capsys: Capture) -> None:
    with LinkServer() as server:
        server.answers["/m.gguf"] = file(b"<html>" * 1000)
        assert main(["models", "pull", server.url("/m.gguf")]) == 1
        server.answers["/m.gguf"] = says(200, b"<html>", Content_Type="text/html")
        assert main(["models", "pull", server.url("/m.gguf")]) == 1
    assert "web page" in capsys.readouterr().err
    assert not list(find_paths().models.rglob("*.gguf"))
