"""`paceline run --engine`, against servers on this machine."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from app.cli.output import INTERRUPTED
from app.cli.parser import main
from tests.app.remote.scripted_server import serving

Capture = pytest.CaptureFixture[str]
KEY = "sk-" + "canaryCANARY0123456789"
PROMPT = ("--prompt", "Hi", "--temperature", "0")


def test_the_answer_on_stdout_and_the_figures_on_stderr(capsys: Capture) -> None:
    with serving(kind="vllm") as server:
        assert main(["run", "--engine", server.url, *PROMPT, "--system", "Be brief."]) == 0
        sent = server.bodies[-1]
    out, err = capsys.readouterr()
    assert out == "Hello, world!\n"
    assert "60% of 10 proposed accepted" in err
    assert "those of others included" in err
    assert "org/model on 127.0.0.1" in err
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]
    assert sent["temperature"] == 0.0


def test_json_has_the_figures(capsys: Capture) -> None:
    with serving(kind="llama-server") as server:
        assert main(["run", "--engine", f"{server.url}/v1", "--model", "org/model", *PROMPT, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["text"], result["accepted"], result["proposed"], result["passes"]) == ("Hello, world!", 2, 4, 2)


def test_the_key_of_a_variable_is_sent_and_never_shown(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    with serving(key=KEY) as server:
        assert main(["run", "--engine", server.url, "--key-env", "MY_KEY", *PROMPT]) == 0
        assert {key for _path, key, _body in server.requests} == {f"Bearer {KEY}"}
        monkeypatch.setenv("MY_KEY", KEY + "x")
        assert main(["run", "--engine", server.url, "--key-env", "MY_KEY", *PROMPT]) == 1
    shown = "".join(capsys.readouterr())
    assert "does not accept the key" in shown
    assert KEY not in shown


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--engine", "http://192.0.2.1:8000"), "unencrypted"),
        (("--engine", "ftp://a"), "no http or https address"),
        (("--engine", "{url}", "--draft", "x.gguf"), "--draft is of the engine here"),
        (("--engine", "{url}", "--key-env", "NOT_THERE"), "NOT_THERE has no key"),
        (("--engine", "{url}", "--model", "other"), "It has: org/model."),
    ],
)
def test_what_is_wrong_is_one_sentence(words: tuple[str, ...], sentence: str, capsys: Capture) -> None:
    with serving() as server:
        assert main(["run", *(word.format(url=server.url) for word in words), *PROMPT]) == 1
    assert sentence in capsys.readouterr().err


def test_ctrl_c_keeps_what_came(capsys: Capture) -> None:
    with serving(kind="other", pieces=("word ",) * 50, pause_s=0.2) as server:

        def interrupt() -> None:
            while not server.bodies:
                time.sleep(0.05)
            time.sleep(1.5)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt, daemon=True).start()
        assert main(["run", "--engine", server.url, *PROMPT]) == INTERRUPTED
    out = capsys.readouterr().out
    assert out.startswith("word ")
    assert len(out.split()) < 50


def test_an_attachment_goes_along(capsys: Capture, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("The word is plover.", "utf-8")
    with serving(kind="sglang") as server:
        assert main(["run", "--engine", server.url, *PROMPT, "--attach", str(note)]) == 0
        assert "plover" in server.bodies[-1]["messages"][-1]["content"]
    assert capsys.readouterr().out
