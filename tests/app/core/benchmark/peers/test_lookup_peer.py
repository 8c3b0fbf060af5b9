"""llama-cpp-python's prompt lookup as a peer: the same answers, counters that add up, and a child that always ends."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from app.core.benchmark.own_engine import OwnEngine, make_variants
from app.core.benchmark.peers.lookup_peer import LookupPeer, LookupProcess, understands
from app.core.benchmark.prompts import BenchmarkPrompt
from app.core.benchmark.runs import PLAIN, Question
from app.core.domain.errors import PeerError
from app.core.paths import builtin_target
from engine.records import EngineReady, LoadRequest, Message, ModelInfo, Placement, SamplingParams
from engine.session.session import Session

LIST = "Repeat this list exactly: market, anchor, violin, lemon, carpet, window, market, anchor, violin, lemon."
QUESTION = Question(BenchmarkPrompt("p", "a", (Message("user", LIST),)), (), SamplingParams(temperature=0.0), 48)


def test_it_gives_our_answers_at_temperature_0_in_fewer_passes() -> None:
    session = Session()
    load = LoadRequest(str(builtin_target()))
    ready = session.load(load)
    own = OwnEngine(session, make_variants([], [], set()))
    question = replace(QUESTION, ids=own.prompt_ids(QUESTION.prompt, raw=False))
    try:
        peer = LookupPeer(load, ready, ["plain", "lookup-10"])
        try:
            mine = own.answer(PLAIN, question)
            plain, lookup = [peer.answer(variant, question) for variant in peer.variants]
        finally:
            peer.close()
    finally:
        session.close()
    assert plain.token_ids == lookup.token_ids == mine.token_ids
    assert plain.stats.passes == plain.stats.tokens == mine.stats.tokens
    assert lookup.stats.passes < plain.stats.passes
    assert lookup.stats.accepted + lookup.stats.passes == lookup.stats.tokens
    assert lookup.stats.proposed >= lookup.stats.accepted > 0


def test_a_child_that_dies_says_why() -> None:
    child = LookupProcess("plain", [sys.executable, "-c", "import sys; sys.exit('no memory')"])
    try:
        with pytest.raises(PeerError, match=r"\(plain\) ended with status 1 while starting; it said: no memory\."):
            child.wait_ready()
    finally:
        child.end()


def test_a_child_that_never_speaks_is_given_up_and_ended() -> None:
    child = LookupProcess("plain", [sys.executable, "-c", "import sys; sys.stdin.read()"])
    try:
        with pytest.raises(PeerError, match="did not get done within 0 seconds"):
            child.wait_ready(0.01)
    finally:
        child.end()
    assert child._process.has_ended


def test_its_configurations_are_known_by_name() -> None:
    assert [name for name in ("plain", "lookup-4", "draft-3", "lookup-") if understands(name)] == ["plain", "lookup-4"]


def test_a_placement_that_it_does_not_know_is_refused() -> None:
    load = LoadRequest(str(builtin_target()), placement=Placement(("CUDA1",)))
    with pytest.raises(PeerError, match="takes no devices, splits or overrides"):
        LookupPeer(load, EngineReady(ModelInfo("t", "t", "llama", 1, 1, 100, 2048, 2048, 2, 0, "")), ["plain"])


def test_a_configuration_that_it_does_not_know_is_refused_before_anything_is_started() -> None:
    ready = EngineReady(ModelInfo("t", "t", "llama", 1, 1, 100, 2048, 2048, 2, 0, ""))
    with pytest.raises(PeerError, match="cannot run as draft-3: it knows plain and lookup-N"):
        LookupPeer(LoadRequest(str(builtin_target())), ready, ["plain", "draft-3"])


def test_where_one_child_does_not_come_up_the_others_end(tmp_path: Path) -> None:
    absent = str(tmp_path / "absent.gguf")
    ready = EngineReady(ModelInfo(absent, "t", "llama", 1, 1, 100, 2048, 2048, 2, 0, ""))
    before = set(psutil.Process().children(recursive=True))
    with pytest.raises(PeerError, match="while starting"):
        LookupPeer(LoadRequest(absent), ready, ["plain", "lookup-4"])
    assert set(psutil.Process().children(recursive=True)) <= before


def test_a_child_that_is_gone_is_not_asked() -> None:
    child = LookupProcess("plain", [sys.executable, "-c", "import sys; sys.exit('no memory')"])
    try:
        child._process.process.wait(30)
        with pytest.raises(PeerError, match="while being asked; it said: no memory"):
            child.ask({"prompt": list(range(100_000))})
    finally:
        child.end()
