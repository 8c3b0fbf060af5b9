"""Messages over pipes: whole, in order, and not one at a time where there are many."""

from __future__ import annotations

import io
import pickle
import threading

import pytest

from engine.errors import PromptTooLongError
from engine.pacing.pass_trace import TracedPass
from engine.process.channel import PulledSender, packed, read_packed
from engine.records import (
    Finished,
    FinishReason,
    PassProbabilities,
    PrefillProgress,
    RunStats,
    Source,
    StatsUpdate,
    TextChunk,
    TokenLogprob,
    TokenSpan,
)
from engine.requests import JobEnded, PassTraced
from engine.sentences import Sentence, said

CHUNK = TextChunk(
    3,
    "déjà",
    (TokenSpan(4, Source.RECOVERED, "vu", PassProbabilities(((0.5, None),), 0.25, greedy=False, rejected_chars=(2,))),),
    (TokenLogprob(1, b"\xff", -0.5, ((b"a", -1.0),)),),
)


def unpacked(data: bytes) -> object:
    return pickle.loads(read_packed(io.BytesIO(data)))  # noqa: S301 (our own)


def test_what_goes_in_comes_out() -> None:
    finished = Finished(1, FinishReason.END, RunStats(provenance={Source.DRAFT: 2}), (1, 2))
    for message in (CHUNK, [CHUNK, CHUNK], finished):
        assert unpacked(packed(message)) == message


def test_a_sentence_can_still_be_translated() -> None:
    sentence = said("{name} is not there.", name=said("The model"))
    found = unpacked(packed(sentence))
    assert isinstance(found, Sentence)
    assert (found, found.template, found.fields) == (sentence, sentence.template, sentence.fields)
    assert isinstance(found.fields["name"], Sentence)


def test_an_error_keeps_what_it_says() -> None:
    error = PromptTooLongError("Too long.", "Shorten it.")
    error.num_tokens = 7
    ended = unpacked(packed(JobEnded(error)))
    assert isinstance(ended, JobEnded)
    found = ended.value
    assert isinstance(found, PromptTooLongError)
    assert (found.message, found.advice, found.num_tokens) == ("Too long.", "Shorten it.", 7)


@pytest.mark.parametrize("cut", [0, 3, 20])
def test_a_message_that_is_cut_off_is_the_end(cut: int) -> None:
    with pytest.raises(EOFError):
        read_packed(io.BytesIO(packed(CHUNK)[:cut]))


class Pipe:
    """Keeps the lists of messages that were written."""

    def __init__(self) -> None:
        self.lists: list[list[object]] = []

    def write(self, data: bytes) -> None:
        found = unpacked(data)
        assert isinstance(found, list)
        self.lists.append(found)


def chunk(number: int) -> TextChunk:
    return TextChunk(number, "", ())


def traced() -> PassTraced:
    return PassTraced(TracedPass(0, None, 0, 0, 1.0))


def test_the_first_goes_at_once_and_those_that_follow_when_they_are_pulled() -> None:
    pipe = Pipe()
    sender = PulledSender(pipe.write)
    for number in range(6):
        sender.post(chunk(number))
    assert pipe.lists == [[chunk(0)], [chunk(1)]], "the first text, and what was pulled at the start"
    sender.pull()
    assert pipe.lists[2:] == [[chunk(number) for number in range(2, 6)]]
    sender.post(chunk(6))
    assert len(pipe.lists) == 3
    sender.pull()
    sender.pull()
    sender.post(chunk(7))
    sender.post(chunk(8))
    assert pipe.lists[3:] == [[chunk(6)], [chunk(7)]], "pulled before there was anything"


def test_the_first_text_does_not_wait_for_the_progress_before_it() -> None:
    pipe = Pipe()
    sender = PulledSender(pipe.write)
    sender.post(PrefillProgress(1, 1, 2))
    sender.post(PrefillProgress(1, 2, 2))
    sender.post(chunk(0))
    sender.post(chunk(1))
    assert pipe.lists == [[PrefillProgress(1, 1, 2)], [PrefillProgress(1, 2, 2), chunk(0)]]


def test_who_does_not_pull_is_told_at_once_with_what_each_pass_was() -> None:
    pipe = Pipe()
    sender = PulledSender(pipe.write)
    told = [traced(), chunk(0), traced(), chunk(1), JobEnded()]
    for message in told:
        sender.post_now(message)
    assert pipe.lists == [told[:2], told[2:4], told[4:]]
    sender.post(PrefillProgress(1, 1, 2))
    assert pipe.lists[3:] == [[PrefillProgress(1, 1, 2)]], "what was pulled is still to come"


def test_what_somebody_waits_for_goes_at_once_behind_what_waits() -> None:
    pipe = Pipe()
    sender = PulledSender(pipe.write)
    end = Finished(1, FinishReason.END, RunStats())
    for message in (chunk(0), chunk(1), chunk(2), end):
        sender.post(message)
    assert pipe.lists == [[chunk(0)], [chunk(1)], [chunk(2), end]]


def test_a_pipe_that_is_broken_stops_nobody() -> None:
    def broken(_data: bytes) -> None:
        raise BrokenPipeError

    sender = PulledSender(broken)
    sender.post(chunk(0))
    sender.post(Finished(1, FinishReason.END, RunStats()))


def test_many_threads_lose_nothing_and_each_keeps_its_order() -> None:
    pipe = Pipe()
    sender = PulledSender(pipe.write)

    def post(name: int) -> None:
        for number in range(300):
            sender.post(TextChunk(name, str(number), ()))

    threads = [threading.Thread(target=post, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        sender.pull()
    sender.pull()
    came = [message for messages in pipe.lists for message in messages]
    for name in range(4):
        texts = [one.text for one in came if isinstance(one, TextChunk) and one.request_id == name]
        assert texts == [str(number) for number in range(300)]


def test_what_cannot_be_sent_holds_up_nothing_that_comes_later() -> None:
    pipe = Pipe()
    sender = PulledSender(pipe.write)
    sender.post(chunk(0))
    sender.post(chunk(1))
    sender.post(StatsUpdate(1, lambda: None))  # type: ignore[arg-type]
    with pytest.raises((AttributeError, pickle.PicklingError)):
        sender.pull()
    sender.post(chunk(2))
    sender.pull()
    assert pipe.lists[2:] == [[chunk(2)]]
