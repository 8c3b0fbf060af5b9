"""Tests llama.cpp's server as a peer: its requests, its parsed answers, and that it always exits."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.benchmark.peers.llama_server import (
    LlamaServerPeer,
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

REAL = os.environ.get("PACELINE_LLAMA_SERVER", "")
QUESTION = Question(
    BenchmarkPrompt("p", "a", (Message("user", "Hello, who are you?"),)),
    (5, 6, 7),
    SamplingParams(seed=9),
    32,
    ignore_eos=True,
)
LOAD = LoadRequest("works")


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
    made = LlamaServerPeer(program, LOAD, ready(), ["plain", "draft-3", "ngram-mod"])
    yield made
    made.close()


def ask(peer: LlamaServerPeer, config: str) -> tuple[RunStats, tuple[int, ...]]:
    answered = peer.answer(Variant(config, None, "llama-server"), QUESTION)
    return answered.stats, answered.token_ids


def test_each_configuration_has_its_own_server_and_reported_time(peer: LlamaServerPeer) -> None:
    assert [variant.mode for variant in peer.variants] == ["plain", "draft-3", "ngram-mod"]
    for config, rate, passes in (("plain", None, 20), ("draft-3", pytest.approx(2 / 3), 10)):
        stats, ids = ask(peer, config)
        assert stats.tokens_per_second == pytest.approx(50.0)
        assert stats.acceptance_rate == rate
        assert stats.passes == passes
        assert ids == (5, 6, 7, 1)
    assert ask(peer, "plain")[1] == (5, 6, 7, 2)


def test_what_remembers_is_new_in_every_round(peer: LlamaServerPeer) -> None:
    for config in ("plain", "ngram-mod"):
        ask(peer, config)
    peer.begin_round()
    assert ask(peer, "plain")[1][-1] == 2
    assert ask(peer, "ngram-mod")[1][-1] == 1


def test_everything_that_decides_an_answer_is_sent() -> None:
    body = completion(QUESTION)
    assert body["prompt"] == [5, 6, 7]
    assert body["samplers"] == ["penalties", "temperature", "top_k", "top_p", "min_p"]
    assert (body["temperature"], body["top_k"], body["top_p"], body["min_p"]) == (0.8, 40, 0.95, 0.05)
    assert (body["n_predict"], body["seed"], body["ignore_eos"]) == (32, 9, True)


def test_nothing_is_left_running(program: str) -> None:
    made = LlamaServerPeer(program, LOAD, ready(), ["plain"])
    process = made._servers["plain"].process
    assert process.poll() is None
    made.close()
    assert process.poll() is not None
    made.close()


def test_one_that_dies_takes_the_others_along_and_says_why(program: str) -> None:
    with pytest.raises(
        PeerError, match=r"\(plain\) ended with status 4 while starting; it said: error: no such model\."
    ):
        LlamaServerPeer(program, LOAD, ready("dies"), ["plain", "draft-3"])


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("refuses", "refused a completion: the prompt is too long"),
        ("mute", "refused a completion: no reason given"),
        ("babbles", "answered with something that is no JSON"),
        ("silent", "answered without its timings"),
        ("vanishes", "while answering"),
    ],
)
def test_a_failed_answer_is_one_sentence(program: str, script: str, words: str) -> None:
    made = LlamaServerPeer(program, LOAD, ready(script), ["plain"])
    try:
        with pytest.raises(PeerError, match=words):
            made.answer(made.variants[0], QUESTION)
    finally:
        made.close()


def test_a_missing_program_and_an_unknown_configuration_are_reported(program: str, tmp_path: Path) -> None:
    with pytest.raises(PeerError, match="There is no llama-server at"):
        LlamaServerPeer(str(tmp_path / "nothing"), LOAD, ready(), [])
    with pytest.raises(PeerError, match="cannot run as magic"):
        LlamaServerPeer(program, LOAD, ready(), ["magic"])


def test_a_server_that_is_too_old_to_say_how_it_drafts_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "llama-server"
    path.write_text("#!/bin/sh\necho usage: llama-server\n", encoding="utf-8")
    path.chmod(0o755)
    with pytest.raises(PeerError, match="llama-server cannot be measured: "):
        LlamaServerPeer(str(path), LOAD, ready(), [])


@pytest.mark.skipif(not REAL, reason="PACELINE_LLAMA_SERVER names no llama-server")
def test_the_real_server_gives_our_answers_at_temperature_0() -> None:
    session = Session()
    load = LoadRequest(str(builtin_target()), str(builtin_draft()))
    loaded = session.load(load)
    own = OwnEngine(session, make_variants([], [], set()))
    ids = own.prompt_ids(QUESTION.prompt, raw=False)
    question = Question(QUESTION.prompt, ids, SamplingParams(temperature=0.0), 64)
    try:
        made = LlamaServerPeer(REAL, load, loaded, [])
        try:
            mine = own.answer(PLAIN, question).token_ids
            answers = {variant.mode: made.answer(variant, question).token_ids for variant in made.variants}
        finally:
            made.close()
    finally:
        session.close()
    assert answers == dict.fromkeys(answers, mine)


@pytest.mark.parametrize(
    ("placement", "words"),
    [
        (Placement(), []),
        (Placement(("CUDA1",)), ["--device", "CUDA1"]),
        (Placement(("none",)), ["--device", "none"]),
        (
            Placement(("CUDA1", "CUDA0"), tensor_split=(3.0, 1.5)),
            ["--device", "CUDA1,CUDA0", "--tensor-split", "3,1.5"],
        ),
        (Placement(split_mode=SplitMode.ROW), ["--split-mode", "row"]),
        (
            Placement(cpu_moe_layers=4),
            ["--n-cpu-moe", "4"],
        ),
    ],
)
def test_the_server_is_placed_as_the_target(placement: Placement, words: list[str]) -> None:
    assert _placement_options(placement) == words
