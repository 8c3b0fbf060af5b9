"""Tests the benchmark on real models, replaced by the built-in pair: killed, continued, and reported by kind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from app.core.benchmark.prompts import BenchmarkPrompt
from app.core.benchmark.runs import AUTO, NO_DRAFT_AUTO, PLAIN, Question, Variant
from engine.records import Message, SamplingParams
from engine.session.session import Session
from tests.app.core.benchmark import scripted_server
from tests.app.core.benchmark.made_runs import made_run
from tests.app.core.benchmark.test_runner import PEER, Scripted, steady
from tests.long_form import only_long
from tests.scripts import load_script
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "packaging" / "measure" / "real.py"
MODELS = ROOT / "assets" / "models"
PAIR = ["--target", str(MODELS / "paceline-tiny-target.gguf"), "--draft", str(MODELS / "paceline-tiny-draft.gguf")]
SHORT = [
    "--prompts",
    str(ROOT / "assets" / "workloads"),
    "--per-kind",
    "2",
    "--max-tokens",
    "4",
    "--ctx",
    "512",
    "--temperature",
    "0",
]


@pytest.fixture(scope="module")
def real() -> ModuleType:
    return load_script("measure/real.py")


@pytest.fixture
def server(tmp_path: Path) -> Path:
    if os.name != "posix":
        pytest.skip("a script stands in for the server, and only POSIX runs one by its path")
    path = tmp_path / "llama-server"
    text = Path(scripted_server.__file__).read_text("utf-8")
    help_line = scripted_server.HELP.splitlines()[0]
    (tmp_path / "server.py").write_text(text.replace(help_line, f"{help_line},ngram-map-k"), encoding="utf-8")
    path.write_text(f'#!/bin/sh\nexec {sys.executable} {tmp_path / "server.py"} "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    return path


def command(state: Path, *words: str) -> list[str]:
    return [sys.executable, str(SCRIPT), *PAIR, *SHORT, "--kinds", "chat,code", "--state", str(state), *words]


def started(state: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(state, *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    )


def answers(state: Path) -> list[bytes]:
    """The complete lines of stored answers."""
    content = state.read_bytes() if state.exists() else b""
    return [line for line in content[: content.rfind(b"\n") + 1].splitlines() if not line.startswith(b'{"paceline')]


@only_long
def test_a_killed_measurement_goes_on_and_is_whole(server: Path, tmp_path: Path) -> None:
    state, out, page = tmp_path / "state.jsonl", tmp_path / "out" / "real.json", tmp_path / "out" / "real.md"
    words = ["--peer", f"llama-server={server}", "--rounds", "2", "--json", str(out), "--markdown", str(page)]
    first = started(state, *words)
    deadline = time.monotonic() + PATIENCE_S
    while len(answers(state)) < 30 and first.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    first.kill()
    first.communicate()
    before = answers(state)
    assert len(before) >= 30
    with state.open("ab") as file:
        file.write(b'{"prompt":"half a li')
    second = started(state, *words)
    _, said = second.communicate(timeout=10 * PATIENCE_S)
    assert second.returncode == 0, said
    after = answers(state)
    assert after[: len(before)] == before
    asked = [tuple(json.loads(line)[key] for key in ("prompt", "engine", "mode", "depth", "round")) for line in after]
    assert len(set(asked)) == len(asked)
    report = json.loads(out.read_text("utf-8"))
    scan, final = report["scan"], report["final"]
    assert scan["whole"]
    assert final["whole"]
    assert len(scan["answers"]) == 4 * (22 + 8 + 1)  # prompts; ours, the server's, and auto without the draft
    assert {one["round"] for one in scan["answers"]} == {0}
    assert {one["round"] for one in final["answers"]} == {1, 2}
    compared = set(final["settings"]["compared"])
    assert {"plain", "auto", "llama-server plain", NO_DRAFT_AUTO.label} <= compared
    assert 7 <= len(compared) <= 11
    text = page.read_text("utf-8")
    for line in ("# Benchmark on real models: final", "# Benchmark on real models: scan", "## T = 0", "| auto | "):
        assert f"\n{line}" in f"\n{text}"
    assert "(not whole)" not in text
    assert (state.with_suffix(".home") / "cache").is_dir()


@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=only_long), signal.SIGTERM])
def test_a_request_to_end_is_heard_and_reported(number: signal.Signals, tmp_path: Path) -> None:
    state, page = tmp_path / "state.jsonl", tmp_path / "real.md"
    # Long enough to be running when a busy machine sends the signal.
    process = started(state, "--markdown", str(page), "--max-tokens", "200", "--rounds", "50")
    deadline = time.monotonic() + PATIENCE_S
    while len(answers(state)) < 5 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(number)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert "# Benchmark on real models: scan (not whole)" in page.read_text("utf-8")


def test_time_ends_it_and_the_final_waits_for_the_scan(
    real: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "state.jsonl"
    monkeypatch.setattr(Session, "measure", lambda *_: None)  # it takes seconds, and is not tested here

    def run(*words: str) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", command(state, *words)[1:])
        return real.main(), capsys.readouterr().err

    status, told = run("--minutes", "0")
    assert (status, "scan: 0 of 72 answers" in told) == (3, True)
    status, told = run("--stage", "final")
    assert (status, "The final needs a whole scan" in told) == (3, True)
    assert answers(state) == []
    status, told = run("--stage", "scan", "--max-tokens", "5")
    assert (status, "it differs in answers" in told) == (1, True)


def test_the_best_of_each_side_are_chosen_by_the_scan(real: ModuleType) -> None:
    server = [Variant(name, None, "llama-server") for name in ("plain", "draft-1", "draft-3", "ngram-mod")]
    seconds = {
        PLAIN: 1.0, AUTO: 0.5, NO_DRAFT_AUTO: 0.9, Variant("draft"): 0.4, Variant("suffix"): 0.95,
        Variant("draft", 1): 0.8, Variant("draft", 3): 0.6, Variant("draft", 7): 0.7, Variant("ngram", 3): 1.2,
        server[0]: 1.1, server[1]: 0.7, server[2]: 0.9, server[3]: 0.65,
    }  # fmt: skip
    runs = [made_run(f"p{i}", variant, each) for i in range(3) for variant, each in seconds.items()]
    runs += [made_run("p0", variant, 1.0 / each, temperature=0.8) for variant, each in seconds.items()]
    assert real.choose(runs, 0.0) == (
        PLAIN, AUTO, NO_DRAFT_AUTO, Variant("draft"), Variant("draft", 3), Variant("draft", 7),
        server[0], server[1], server[3],
    )  # fmt: skip
    assert Variant("ngram", 3) in real.choose(runs, 0.8)


def test_a_lazy_peer_is_opened_in_its_first_round(real: ModuleType) -> None:
    question = Question(BenchmarkPrompt("x", "a", (Message("user", "Why?"),)), (), SamplingParams(temperature=0.0), 8)
    opened: list[Scripted] = []

    def open_peer() -> Scripted:
        opened.append(Scripted((PEER,), steady()))
        return opened[-1]

    late = real.LazyPeer([PEER], open_peer)
    assert late.variants == (PEER,)
    assert opened == []
    late.begin_round()
    late.prepare(question)
    assert late.answer(PEER, question).stats.tokens == 100
    assert opened[0].rounds == 0  # it has nothing to forget yet
    late.begin_round()
    assert len(opened) == 1
    assert opened[0].rounds == 1
