"""Unmodified clients against the built-in pair, where there is a Python that has them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.app.cli.test_serve import ask, started

VARIABLE = "PACELINE_CLIENTS"  # a Python with openai, langchain-openai, llm and jsonschema
KEY = "the-key-of-this-test-and-no-other"
SCRIPT = Path(__file__).with_name("clients.py")


@pytest.mark.usefixtures("tried", "paceline_home")
@pytest.mark.skipif(VARIABLE not in os.environ, reason=f"{VARIABLE} names no Python with the clients")
def test_clients_get_what_they_ask_for() -> None:
    with started("--key", KEY) as (_process, _lines, port):
        assert ask(port, KEY)[0] == 200
        command = [os.environ[VARIABLE], str(SCRIPT), "--url", f"http://127.0.0.1:{port}/v1", "--key", KEY]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "openai chat:" in done.stdout
