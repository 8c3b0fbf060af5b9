"""Tests peers of a benchmark: the requests and parsed answers of llama.cpp's server, and that it always exits."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from app.core.benchmark.peers import (
    LlamaServerPeer,
    PeerProcess,
    _draft_options,
    _placement_options,
    completion,
)
from app.core.benchmark.prompts import BenchmarkPrompt
from app.core.benchmark.runner import OwnEngine, make_variants
from app.core.benchmark.runs import PLAIN, Question, Variant
from app.core.domain.errors import PeerError
from app.core.paths import builtin_draft, builtin_target
from engine.records import (
    EngineReady,
    LoadRequest,
    Message,
    ModelInfo,
    Placement,
    RunStats,
    SamplingParams,
    SplitMode,
)
from engine.session.session import Session
from tests.app.core.benchmark import scripted_server
from tests.app.fakes import info

ROOT = Path(__file__).resolve().parents[4]
REAL = os.environ.get("PACELINE_LLAMA_SERVER", "")
PROMPT = BenchmarkPrompt("p", "a", (Message("user", "Hello, who are you?"),))
QUESTION = Question(PROMPT, (5, 6, 7), SamplingParams(seed=9), 32, ignore_eos=True)
LOAD = LoadRequest("works")
KILLED = """
import os, signal, sys
from app.core.benchmark.peers import PeerProcess
peer = PeerProcess("sleeper", [sys.executable, "-c", "import time; time.sleep(600)"])
print(peer.process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def model(path: str) -> ModelInfo:
    return ModelInfo(path, path, "llama", 1, 1, 100, 2048, 2048, 2, 0, "from the model")


def ready(script: str = "works") -> EngineReady:
    return EngineReady(model(script), model("draft.gguf"))


@pytest.fixture
def program(tmp_path: Path) -> str:
    if os.name != "posix":
        pytest.skip("a script stands in for the program, and only POSIX runs one by its path")
    path = tmp_path / "llama-server"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} {scripted_server.__file__} "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def peer(program: str) -> Iterator[LlamaServerPeer]:
    made = LlamaServerPeer(program, LOAD, ready())
    yield made
    made.close()


def ask(peer: LlamaServerPeer, config: str) -> tuple[RunStats, tuple[int, ...]]:
    return peer.answer(Variant(config, None, "llama-server"), QUESTION)


def test_each_configuration_has_its_own_server_and_reported_time(peer: LlamaServerPeer) -> None:
    modes = [variant.mode for variant in peer.variants]
    assert modes == ["plain", "draft-3", "draft-7", "ngram-simple", "ngram-mod"]
    for config, rate, passes in (("plain", None, 20), ("draft-3", pytest.approx(2 / 3), 10)):
        stats, ids = ask(peer, config)
        assert stats.tokens_per_second == pytest.approx(50.0)
        assert stats.acceptance_rate == rate
        assert stats.passes == passes
        assert ids == (5, 6, 7, 1)
    ask(peer, "ngram-mod")
    peer.begin_round()
    assert ask(peer, "plain")[1][-1] == 2
    assert ask(peer, "ngram-mod")[1][-1] == 1, "a server that learns is new in every round"


def test_everything_that_decides_an_answer_is_sent() -> None:
    body = completion(QUESTION)
    assert body["prompt"] == [5, 6, 7]
    assert body["samplers"] == ["penalties", "temperature", "top_k", "top_p", "min_p"]
    assert (body["temperature"], body["top_k"], body["top_p"], body["min_p"]) == (0.8, 40, 0.95, 0.05)
    assert (body["n_predict"], body["seed"], body["ignore_eos"]) == (32, 9, True)


def test_nothing_is_left_running(program: str) -> None:
    made = LlamaServerPeer(program, LOAD, ready())
    processes = [process.process for process, _ in made._servers.values()]
    assert [process.poll() for process in processes] == [None] * 5
    made.close()
    assert all(process.poll() is not None for process in processes)
    made.close()


def test_one_that_dies_takes_the_others_along_and_says_why(program: str) -> None:
    with pytest.raises(PeerError, match=r"\(plain\) ended with status 4; it said: error: no such model\."):
        LlamaServerPeer(program, LOAD, ready("dies"))


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("refuses", "does not fit the context"),
        ("mute", "answered with status 500"),
        ("babbles", "is not JSON"),
        ("silent", "an answer without timings"),
        ("vanishes", r"\(plain\) ended with status 3"),
    ],
)
def test_a_failed_answer_is_one_sentence(program: str, script: str, words: str) -> None:
    made = LlamaServerPeer(program, LOAD, ready(script))
    try:
        with pytest.raises(PeerError, match=words):
            made.answer(made.variants[0], QUESTION)
    finally:
        made.close()


def test_a_missing_program_is_reported(tmp_path: Path) -> None:
    with pytest.raises(PeerError, match="There is no llama-server at"):
        LlamaServerPeer(str(tmp_path / "nothing"), LOAD, ready())


@pytest.mark.skipif(not REAL, reason="PACELINE_LLAMA_SERVER names no llama-server")
def test_the_real_server_gives_our_answers_at_temperature_0() -> None:
    session = Session()
    load = LoadRequest(str(builtin_target()), str(builtin_draft()))
    loaded = session.load(load)
    own = OwnEngine(session, make_variants([], [], set()))
    question = Question(PROMPT, own.prompt_ids(PROMPT), SamplingParams(temperature=0.0), 64)
    try:
        made = LlamaServerPeer(REAL, load, loaded)
        try:
            mine = own.answer(PLAIN, question)[1]
            answers = {variant.mode: made.answer(variant, question)[1] for variant in made.variants}
        finally:
            made.close()
    finally:
        session.close()
    assert answers == dict.fromkeys(answers, mine)


@pytest.mark.parametrize(
    ("placement", "words"),
    [
        (Placement(("none",)), ["--device", "none"]),
        (
            Placement(("CUDA1", "CUDA0"), tensor_split=(3.0, 1.5)),
            ["--device", "CUDA1,CUDA0", "--tensor-split", "3,1.5"],
        ),
        (Placement(split_mode=SplitMode.ROW), ["--split-mode", "row"]),
        (Placement(cpu_moe_layers=4), ["--n-cpu-moe", "4"]),
    ],
)
def test_the_server_is_placed_as_the_target(placement: Placement, words: list[str]) -> None:
    assert _placement_options(placement) == words


def test_what_drafts_here_drafts_there() -> None:
    target = info("t.gguf")
    head_file = replace(info("h.gguf"), head_method="EAGLE-3")
    for loaded, options in (
        (EngineReady(target), []),
        (EngineReady(target, info("d.gguf")), ["--spec-type", "draft-simple", "--spec-draft-model", "d.gguf"]),
        (EngineReady(target, head_file), ["--spec-type", "draft-eagle3", "--spec-draft-model", "h.gguf"]),
        (EngineReady(target, own_head=replace(target, head_method="MTP")), ["--spec-type", "draft-mtp"]),
    ):
        found = _draft_options(LOAD, loaded)
        assert found[: len(options)] == options
        assert ("--spec-draft-model" in found) is (loaded.draft is not None)


# ---- processes ------------------------------------------------------------------------------------------------------


def test_a_peer_that_will_not_end_is_ended_by_force(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.core.benchmark.peers.END_S", 0.3)
    deaf = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(600)"
    )
    peer = PeerProcess("sleeper", [sys.executable, "-c", deaf])
    while peer.last_line() != "deaf":
        time.sleep(0.01)
    peer.end()
    assert peer.has_ended


def test_a_program_that_cannot_be_started_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(PeerError, match=f"sleeper could not be started from {tmp_path}: Permission denied"):
        PeerProcess("sleeper", [str(tmp_path)])


def test_a_peer_does_not_outlive_a_kill() -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux ends a process with the one that has started it")
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", KILLED], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL
    until = time.monotonic() + 30
    while is_running(int(done.stdout)) and time.monotonic() < until:
        time.sleep(0.02)
    assert not is_running(int(done.stdout))


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE  # there may be no parent to reap it
    except psutil.NoSuchProcess:
        return False
