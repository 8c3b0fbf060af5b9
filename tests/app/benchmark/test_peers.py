"""Peers from the command line: every name is understood or refused in one sentence."""

from __future__ import annotations

import pytest

from app.benchmark.peers import Wish, read_wishes


def test_each_peer_gets_the_configurations_that_it_can_have() -> None:
    words = ["llama-server=bin/server", "llama-cpp-python"]
    assert read_wishes(words, []) == (Wish("llama-server", "bin/server"), Wish("llama-cpp-python"))
    assert read_wishes(words, ["plain", "draft-3", "lookup-10", "ngram-mod"]) == (
        Wish("llama-server", "bin/server", ("plain", "draft-3", "ngram-mod")),
        Wish("llama-cpp-python", "", ("plain", "lookup-10")),
    )


@pytest.mark.parametrize(
    ("words", "configs", "sentence"),
    [
        (["ollama=x"], [], "There is no peer called ollama"),
        (["llama-server"], [], "needs the path of the program"),
        (["llama-cpp-python"], ["draft-3"], "None of draft-3 is a configuration of llama-cpp-python"),
        ([], ["plain"], "needs a --peer"),
    ],
)
def test_what_makes_no_sense_is_refused(words: list[str], configs: list[str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        read_wishes(words, configs)
