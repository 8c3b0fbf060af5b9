"""Tests `paceline models pull URL` with a web server on this machine."""

import json
from pathlib import Path

import pytest

from app.cli.parser import main
from app.core.paths import builtin_target
from tests.app.core.hub.conftest import hub
from tests.app.core.hub.link_server import LinkServer, file
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
