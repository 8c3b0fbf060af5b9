"""Tests `paceline serve` as started by a shell: its first lines, its key, its end."""

import base64
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from app.cli.output import INTERRUPTED
from app.cli.parser import main, make_parser
from app.cli.serve import LibraryModels
from app.core.paths import builtin_target
from app.core.server.api_key import VARIABLE
from app.core.server.listening import bind
from engine.loading.exactness import why_inexact
from engine.records import EngineReady
from tests.app.controllers.window import stormy_clients as stormy
from tests.app.core.server.scripted_session import CHAT, HELLO, ScriptedServer, info
from tests.engine.embedding_factory import CTX, WIDTH, TinyBert
from tests.engine.sandbox.pictures import encoded, sample
from tests.engine.vision_factory import write_pair
from tests.long_form import rounds
from tests.waiting import wait_for

CLIENTS = "PACELINE_CLIENTS"  # path of a Python with openai, llm and jsonschema
ROOT = Path(__file__).resolve().parents[3]
PATIENCE_S = 60.0
Capture = pytest.CaptureFixture[str]


@contextmanager
def started(*words: str) -> Iterator[tuple[subprocess.Popen[str], list[str], int]]:
    """The running server, its first lines of output, and its port."""
    command = [sys.executable, "-m", "app", "serve", "--port", "0", *words]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        lines: list[str] = []
        for line in process.stderr:
            lines.append(line.strip())
            if found := re.search(r"at http://127\.0\.0\.1:(\d+)/v1; Ctrl\+C ends it", line):
                break
        else:
            pytest.fail("\n".join(lines))
        try:
            yield process, lines, int(found[1])
        finally:
            process.kill()


def ask(
    port: int, key: str, content: object = "Repeat: red.", path: str = "/v1/chat/completions"
) -> tuple[int, dict[str, object]]:
    """Send a request; returns the status and the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    body = {"messages": [{"role": "user", "content": content}], "max_tokens": 2}
    if "embed" in path:
        body = {"input": content}
    connection.request("POST", path, json.dumps(body), {"Authorization": f"Bearer {key}"})
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    assert isinstance(answer, dict)
    return response.status, answer


@pytest.mark.usefixtures("tried")
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_the_key_is_made_once_and_a_signal_ends_the_server(
    paceline_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    file = paceline_home / "config" / "api-key"
    for number in (signal.SIGINT, signal.SIGTERM):
        is_first = not file.exists()
        with started() as (process, lines, port):
            key = file.read_text("utf-8").strip()
            assert (f"paceline: a key was made for this server; it is in {file}" in lines) is is_first
            assert key not in "\n".join(lines)
            assert ask(port, "wrong")[0] == 401
            status, answer = ask(port, key)
            assert (status, answer["model"]) == (200, "paceline-tiny-target")
            assert answer["choices"]
            process.send_signal(number)
            assert process.wait(PATIENCE_S) == INTERRUPTED
            assert process.stderr is not None
            assert process.stderr.read() == ""


@pytest.mark.usefixtures("tried")
def test_idle_models_are_unloaded_and_the_next_request_loads_them_again() -> None:
    with started("--key", "k", "--idle-unload", "0.01") as (process, _, port):
        assert process.stderr is not None
        for _ in range(2):
            told = "paceline: the models are unloaded; the next request loads them again"
            assert process.stderr.readline().strip() == told
            assert ask(port, "k")[0] == 200


def test_the_model_of_the_command_line_is_listed_while_another_one_is_loaded(tmp_path: Path) -> None:
    options = make_parser().parse_args(["serve"])
    models = LibraryModels(options)
    for name in ("first", "other"):
        ready = EngineReady(replace(info(name), path=str(tmp_path / f"{name}.gguf")))
        models.begin(models.loadable(options, name), ready)
    assert models.names() == ["other", "first"]
    assert models.find("first") == str(tmp_path / "first.gguf")


@pytest.mark.parametrize(("name", "shown"), [(b"caf\xe9.gguf", "caf\ufffd"), (b"two\nlines.gguf", "two\ufffdlines")])
def test_a_file_whose_name_is_no_text_is_served_under_one(name: bytes, shown: str) -> None:
    """Every answer contains the model's name, and this one cannot be encoded as UTF-8."""
    ready = EngineReady(replace(info("tiny"), path=os.fsdecode(name)))
    options = make_parser().parse_args(["serve"])
    server = ScriptedServer(model=LibraryModels(options).loadable(options, "").served(ready))
    server.session.loaded = ready
    assert server.client.post(CHAT, json={**HELLO, "model": shown}).json()["model"] == shown
    assert [one["id"] for one in server.client.get("/v1/models").json()["data"]] == [shown]
    assert [one["name"] for one in server.client.get("/api/tags").json()["models"]] == [shown]
    server.close()


@pytest.mark.usefixtures("tried")
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_after_a_crash_of_the_engine_the_next_request_is_answered() -> None:
    relative = os.path.relpath(builtin_target(), ROOT)
    words = ("--key", "k", "--parallel", "2", "--model", relative)
    with started(*words) as (process, _, port), ThreadPoolExecutor(2) as threads:
        assert ask(port, "k")[0] == 200
        (engine,) = [one for one in psutil.Process(process.pid).children() if "engine.process.child" in one.cmdline()]
        engine.suspend()  # both requests are running when the server ends
        asked = [threads.submit(ask, port, "k") for _ in range(2)]
        wait_for(lambda: len(psutil.Process(process.pid).net_connections()) >= 3)
        engine.send_signal(signal.SIGSEGV)
        engine.resume()
        for answer in asked:
            status, body = answer.result(PATIENCE_S)
            if status != 200:  # the engine had the request already
                assert (status, body["error"]["message"]) == (  # type: ignore[index]
                    500, "The engine ended unexpectedly (signal SIGSEGV). Try again.",
                )  # fmt: skip
        assert ask(port, "k")[0] == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == INTERRUPTED
        assert process.stderr is not None
        assert process.stderr.read().splitlines() == [
            "paceline: the engine ended unexpectedly (signal SIGSEGV); the next request starts it again"
        ]


@pytest.mark.usefixtures("tried")
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_model_with_a_side_file_beside_it_sees(tmp_path: Path, paceline_home: Path) -> None:
    """The projector file need not be named."""
    pair = write_pair(tmp_path, "llava")
    with started("--model", str(pair.model), "--mode", "off", "--threads", "1") as (_, lines, port):
        assert "tiny-llava, sees pictures, up to" in lines[-1]
        key = (paceline_home / "config" / "api-key").read_text("utf-8").strip()
        data = base64.b64encode(encoded(sample(), "PNG")).decode()
        part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
        status, answer = ask(port, key, [part, {"type": "text", "text": "ab"}])
        assert status == 200
        assert answer["usage"]["prompt_tokens"] > 49  # type: ignore[index]


@pytest.mark.usefixtures("tried")
def test_an_embedding_model_stands_beside_the_one_that_answers(tmp_path: Path) -> None:
    model = TinyBert().file().write(tmp_path / "tiny-bert.gguf")
    with started("--key", "k", "--embedding-model", str(model)) as (_, lines, port):
        assert f"tiny-bert makes embeddings: {WIDTH} numbers (pooled: mean) of up to {CTX} tokens" in "\n".join(lines)
        status, answer = ask(port, "k", "hello world", "/v1/embeddings")
        assert (status, answer["model"], answer["usage"]) == (
            200, "tiny-bert", {"prompt_tokens": 4, "total_tokens": 4},
        )  # fmt: skip
        assert ask(port, "k")[0] == 200
        assert ask(port, "k", "hello " * CTX, "/v1/embeddings")[0] == 400


@pytest.mark.usefixtures("tried")
@pytest.mark.skipif(sys.platform != "linux", reason="counts what is open in /proc")
def test_a_storm_of_concurrent_programs_mixes_nothing_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "storm")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    num_requests, tally = rounds(80, 500), stormy.Tally()
    with started("--parallel", "4", "--queue", "100", "--ctx", "1024") as (process, _, port):
        found = [(words, stormy.ask(port, "storm", words)) for words in stormy.questions(1)[:12]]
        asked = [stormy.Question(words, (text,)) for words, text in found]
        opened = Path(f"/proc/{process.pid}/fd")
        before, files = len(list(opened.iterdir())), sorted(scratch.rglob("*"))

        def goes_on() -> bool:
            return sum(tally.kinds.values()) < num_requests

        kinds = (*stormy.KINDS, *stormy.OF_A_MODEL)
        where = stormy.Where(port, "storm")
        clients = [stormy.StormyClient(where, asked, tally, seed, goes_on, kinds=kinds) for seed in range(8)]
        for client in clients:
            client.start()
        for client in clients:
            client.join(4 * PATIENCE_S)
        assert tally.faults == []
        assert tally.num_right > num_requests / 5
        assert tally.num_other <= (tally.num_right / 5 if why_inexact(str(builtin_target())) else 0)
        assert stormy.ask(port, "storm", asked[0].words) in asked[0].answers  # the server continues
        until = time.monotonic() + PATIENCE_S
        while len(list(opened.iterdir())) > before and time.monotonic() < until:
            time.sleep(0.05)
        assert len(list(opened.iterdir())) <= before
        assert sorted(scratch.rglob("*")) == files


def test_options_of_models_and_decoding_are_those_of_run() -> None:
    words = ["--mode", "ngram", "--depth", "3", "--temperature", "0", "--ctx", "512", "--preset", "precise"]
    served, ran = (vars(make_parser().parse_args([command, *words])) for command in ("serve", "run"))
    assert {name: value for name, value in served.items() if name in ran and name != "module"}.items() <= ran.items()
    assert (served["host"], served["port"], served["key"]) == ("127.0.0.1", 8080, None)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--depth", "99"], "The draft length must be between 0 and 32"),
        (["--temperature", "-1"], "The temperature must be between"),
        (["--model", "/no/such.gguf", "--mode", "draft"], "needs a draft model"),
        (["--key", "two words"], "is no key"),
        (["--key", ""], "The key is empty"),
        (["--no-key", "--host", "0.0.0.0"], "--no-key is for this machine alone"),  # noqa: S104
        (["--preset", "nobody's"], "There is no preset nobody's"),
        (["--model", "/no/such.gguf", "--key", "k", "--port", "0"], "such.gguf"),
    ],
)
def test_what_cannot_be_served_is_one_sentence_and_exit_1(capsys: Capture, words: list[str], sentence: str) -> None:
    assert main(["serve", *words]) == 1
    error = capsys.readouterr().err.strip()
    assert sentence in error
    assert "\n" not in error


def test_a_port_that_is_taken_is_reported_before_anything_is_loaded(capsys: Capture) -> None:
    with bind("127.0.0.1", 0) as listener:
        port = str(listener.getsockname()[1])
        assert main(["serve", "--key", "k", "--port", port]) == 1
    assert f"Another program uses port {port} of 127.0.0.1. Choose another --port" in capsys.readouterr().err


@pytest.mark.usefixtures("tried", "paceline_home")
@pytest.mark.skipif(CLIENTS not in os.environ, reason=f"{CLIENTS} names no Python with the clients")
def test_clients_get_what_they_ask_for() -> None:
    with started("--key", "k") as (_process, _lines, port):
        assert ask(port, "k")[0] == 200
        script = str(Path(__file__).with_name("clients.py"))
        command = [os.environ[CLIENTS], script, "--url", f"http://127.0.0.1:{port}/v1", "--key", "k"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "openai chat:" in done.stdout
