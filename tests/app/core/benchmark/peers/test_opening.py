"""Tests peers on the command line: every name is accepted or rejected with one sentence."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from app.core.benchmark.peers.opening import (
    NO_DRAFT,
    OTHER_DRAFT,
    PeerRequest,
    open_peers,
    read_peer_requests,
)
from app.core.benchmark.prompts import BenchmarkPrompt
from app.core.benchmark.runs import NO_DRAFT_AUTO, PLAIN, Question
from app.core.domain.errors import PeerError
from app.core.paths import builtin_draft, builtin_target
from engine.records import LoadRequest, Message, Mode, SamplingParams
from engine.session.session import Session
from tests.app.core.benchmark.test_runner import PEER
from tests.engine.gguf_factory import tiny_llama
from tests.engine.heads.head_factory import eagle3_for
from tests.engine.heads.head_sessions import longer


def test_each_peer_gets_the_configurations_that_it_can_have() -> None:
    words = ["llama-server=bin/server"]
    assert read_peer_requests(words, []) == (PeerRequest("llama-server", "bin/server"),)
    assert read_peer_requests(words, ["plain", "draft-3", "auto", "ngram-mod"]) == (
        PeerRequest("llama-server", "bin/server", ("plain", "draft-3", "ngram-mod")),
    )
    assert read_peer_requests(["llama-server=s", NO_DRAFT], ["plain"])[1] == PeerRequest(NO_DRAFT)
    words = ["llama-server=s", "other-draft=a/head.gguf"]
    server, other = read_peer_requests(words, ["plain", "draft-3", "auto"])
    assert (server.configs, other.configs) == (("plain", "draft-3"), ("draft-3", "auto"))
    assert (server.title, other.title) == ("llama-server", "other-draft head.gguf")


@pytest.mark.parametrize(
    ("words", "configs", "sentence"),
    [
        (["ollama=x"], [], "There is no peer called ollama"),
        (["llama-server"], [], "needs a path: llama-server=PATH"),
        (["llama-server=x"], ["auto"], "None of auto is a configuration of llama-server"),
        ([], ["plain"], "needs a --peer"),
        ([NO_DRAFT], ["plain"], "needs a --peer"),
    ],
)
def test_what_makes_no_sense_is_refused(words: list[str], configs: list[str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        read_peer_requests(words, configs)


def question(max_tokens: int) -> Question:
    prompt = BenchmarkPrompt("x", "a", (Message("user", "What is speculative decoding?"),))
    return Question(prompt, (), SamplingParams(temperature=0.0), max_tokens)


@pytest.mark.usefixtures("tried")
def test_auto_without_the_draft_runs_beside_the_pair() -> None:
    load = LoadRequest(str(builtin_target()), str(builtin_draft()), n_ctx=512)
    session = Session()
    with ExitStack() as stack:
        stack.callback(session.close)
        ready = session.load(load)
        peer = open_peers([PeerRequest(NO_DRAFT)], load, ready, stack)[0]
        assert list(peer.variants) == [NO_DRAFT_AUTO]
        assert NO_DRAFT_AUTO not in (PLAIN, PEER)
        peer.begin_round()
        peer.prepare(question(40))
        answered = peer.answer(NO_DRAFT_AUTO, question(40))
    assert answered.stats.mode is Mode.AUTO
    assert answered.stats.tokens > 20
    assert answered.stats.draft_s < answered.stats.decode_s / 2
    assert {source.value for source in answered.stats.provenance} & {"draft"} == set()


def test_without_a_draft_there_is_nothing_to_leave_out() -> None:
    load = LoadRequest(str(builtin_target()), n_ctx=512)
    session = Session()
    with ExitStack() as stack:
        stack.callback(session.close)
        ready = session.load(load)
        with pytest.raises(PeerError, match="there is no draft to leave out"):
            open_peers([PeerRequest(NO_DRAFT)], load, ready, stack)


@pytest.mark.usefixtures("tried")
def test_another_draft_of_the_same_target_takes_part(tmp_path: Path) -> None:
    target = longer(tiny_llama).write(tmp_path / "target.gguf")
    head = eagle3_for().write(tmp_path / "eagle3-tiny.gguf")
    load = LoadRequest(str(target), n_ctx=256)
    session = Session()
    with ExitStack() as stack:
        stack.callback(session.close)
        ready = session.load(load)
        requests = [PeerRequest(OTHER_DRAFT, str(head)), PeerRequest(OTHER_DRAFT, str(target), ("draft-2",))]
        peers = open_peers(requests, load, ready, stack)
        assert [one.label for peer in peers for one in peer.variants] == [
            "paceline with eagle3-tiny auto",
            "paceline with eagle3-tiny head",
            "paceline with target draft 2",
        ]
        answered = peers[0].answer(peers[0].variants[1], question(16))
        assert answered.stats.proposed > 0
        wrong = eagle3_for(width=128).write(tmp_path / "wrong.gguf")
        with pytest.raises(PeerError, match=r"wrong\.gguf cannot draft: .*belongs to another model"):
            open_peers([PeerRequest(OTHER_DRAFT, str(wrong))], load, ready, stack)
