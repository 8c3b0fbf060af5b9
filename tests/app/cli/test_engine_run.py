"""Tests `paceline run --engine` with servers on this machine."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from app.cli.output import INTERRUPTED
from app.cli.parser import main
from tests.app.core.remote.scripted_server import serving

Capture = pytest.CaptureFixture[str]
KEY = "sk-" + "canaryCANARY0123456789"
PROMPT = ("--prompt", "Hi", "--temperature", "0")


def test_the_answer_on_stdout_and_the_figures_on_stderr(capsys: Capture) -> None:
    with serving(kind="vllm", reports_drafts=True) as server:
        assert main(["run", "--engine", server.url, *PROMPT, "--system", "Be brief."]) == 0
        sent = server.bodies[-1]
    out, err = capsys.readouterr()
    assert out == "Hello, world!\n"
    assert "% of 8 proposed accepted" in err
    assert "org/model on 127.0.0.1" in err
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]
    assert sent["temperature"] == 0.0


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
        (("--engine", "ftp://a"), "not an http or https address"),
        (("--engine", "{url}", "--draft", "x.gguf"), "--draft works with local models only"),
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


THINKS = "{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}Hello"


def test_a_way_to_think_is_sent_as_the_engine_takes_it(capsys: Capture) -> None:
    with serving(kind="ollama", family="qwen3") as server:
        assert main(["run", "--engine", server.url, *PROMPT, "--thinking", "off"]) == 0
        assert server.bodies[-1]["reasoning_effort"] == "none"
    with serving(kind="llama-server", template=THINKS) as server:
        assert main(["run", "--engine", server.url, *PROMPT, "--thinking", "off"]) == 0
        assert server.bodies[-1]["chat_template_kwargs"] == {"enable_thinking": False}
    assert capsys.readouterr().out == "Hello, world!\n" * 2


@pytest.mark.parametrize(
    ("engine", "sentence"),
    [
        ({"kind": "ollama", "family": "gptoss"}, "Choose one of: medium, low, high."),
        ({"kind": "other"}, "model has no reasoning modes."),
    ],
)
def test_a_way_to_think_that_the_engine_does_not_know_is_one_sentence(
    engine: dict[str, str], sentence: str, capsys: Capture
) -> None:
    with serving(**engine) as server:
        assert main(["run", "--engine", server.url, *PROMPT, "--thinking", "hard"]) == 1
        assert not any("messages" in body for body in server.bodies)
    told = capsys.readouterr()
    assert sentence in told.err
    assert told.out == ""


def test_one_of_several_models_is_to_be_named(capsys: Capture) -> None:
    with serving(kind="other", models=("small", "large")) as server:
        assert main(["run", "--engine", server.url, *PROMPT]) == 1
        assert main(["run", "--engine", server.url, "--model", "large", *PROMPT]) == 0
        assert server.bodies[-1]["model"] == "large"
    told = capsys.readouterr()
    assert "offers several models. Name one with --model: small, large." in told.err
    assert told.out == "Hello, world!\n"


def test_a_file_is_none_of_an_engine_s_models(capsys: Capture, tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(b"GGUF")
    with serving() as server:
        assert main(["run", "--engine", server.url, "--model", str(file), *PROMPT]) == 1
        assert not server.requests
    assert "--model is the name of one of the server's models, not a file." in capsys.readouterr().err
