"""Messages over pipes arrive complete, in order, and batched if there are many."""

import io
import pickle
import threading
import time

import pytest

from engine.errors import PromptTooLongError
from engine.process.channel import BatchingSender, pack, read_packed
from engine.records import (
    EngineFailed,
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
from engine.requests import JobEnded
from engine.sentences import Sentence, i18n
from engine.session.worker import UNEXPECTED

CHUNK = TextChunk(
    3,
    "déjà",
    (TokenSpan(4, Source.RECOVERED, "vu", PassProbabilities(((0.5, None),), 0.25, greedy=False, rejected_chars=(2,))),),
    (TokenLogprob(1, b"\xff", -0.5, ((b"a", -1.0),)),),
)


def unpacked(data: bytes) -> object:
    return pickle.loads(read_packed(io.BytesIO(data)))  # noqa: S301 (our own)


def test_a_sentence_can_still_be_translated() -> None:
    sentence = i18n("{name} is not there.", name=i18n("The model"))
    found = unpacked(pack(sentence))
    assert isinstance(found, Sentence)
    assert (found, found.template, found.fields) == (sentence, sentence.template, sentence.fields)
    assert isinstance(found.fields["name"], Sentence)


def test_an_error_keeps_what_it_says() -> None:
    error = PromptTooLongError("Too long.", "Shorten it.")
    error.num_tokens = 7
    ended = unpacked(pack(JobEnded(error)))
    assert isinstance(ended, JobEnded)
    found = ended.value
    assert isinstance(found, PromptTooLongError)
    assert (found.message, found.advice, found.num_tokens) == ("Too long.", "Shorten it.", 7)


@pytest.mark.parametrize("cut", [0, 3, 20])
def test_a_message_that_is_cut_off_is_the_end(cut: int) -> None:
    with pytest.raises(EOFError):
        read_packed(io.BytesIO(pack(CHUNK)[:cut]))


class Pipe:
    """Records the written lists of messages."""

    def __init__(self) -> None:
        self.lists: list[list[object]] = []
        self.has_come = threading.Condition()

    def write(self, data: bytes) -> None:
        found = unpacked(data)
        assert isinstance(found, list)
        with self.has_come:
            self.lists.append(found)
            self.has_come.notify_all()

    def wait_for(self, num_messages: int) -> None:
        with self.has_come:
            assert self.has_come.wait_for(lambda: sum(map(len, self.lists)) >= num_messages, 20.0)


def chunk(number: int) -> TextChunk:
    return TextChunk(number, "", ())


def test_the_first_goes_at_once_and_those_that_follow_together() -> None:
    for _ in range(5):  # on a busy machine some may be sent before all are posted
        pipe = Pipe()
        sender = BatchingSender(pipe.write, every_s=0.2)
        sender.post(chunk(0))
        assert len(pipe.lists) == 1
        for number in range(1, 6):
            sender.post(chunk(number))
        pipe.wait_for(6)
        if len(pipe.lists) == 2:
            break
    assert [len(messages) for messages in pipe.lists] == [1, 5]
    assert [message for messages in pipe.lists for message in messages] == [chunk(number) for number in range(6)]
    time.sleep(0.25)
    assert len(pipe.lists) == 2


def test_the_first_text_does_not_wait_for_the_progress_before_it() -> None:
    pipe = Pipe()
    sender = BatchingSender(pipe.write, every_s=60.0)
    sender.post(PrefillProgress(1, 1, 2))
    sender.post(chunk(0))
    sender.post(chunk(1))
    assert pipe.lists == [[PrefillProgress(1, 1, 2)], [chunk(0)]]


def test_what_somebody_waits_for_goes_at_once_behind_what_waits() -> None:
    pipe = Pipe()
    sender = BatchingSender(pipe.write, every_s=60.0)
    sender.post(chunk(0))
    sender.post(chunk(1))
    end = Finished(1, FinishReason.END, RunStats())
    sender.post(end)
    assert pipe.lists == [[chunk(0)], [chunk(1), end]]


def test_a_pipe_that_is_broken_stops_nobody() -> None:
    def broken(_data: bytes) -> None:
        raise BrokenPipeError

    sender = BatchingSender(broken)
    sender.post(chunk(0))
    sender.post(Finished(1, FinishReason.END, RunStats()))


def test_many_threads_lose_nothing_and_each_keeps_its_order() -> None:
    pipe = Pipe()
    sender = BatchingSender(pipe.write, every_s=0.001)

    def post(name: int) -> None:
        for number in range(300):
            sender.post(TextChunk(name, str(number), ()))

    threads = [threading.Thread(target=post, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pipe.wait_for(1200)
    came = [message for messages in pipe.lists for message in messages]
    for name in range(4):
        texts = [one.text for one in came if isinstance(one, TextChunk) and one.request_id == name]
        assert texts == [str(number) for number in range(300)]


def test_an_unsendable_message_fails_only_its_request() -> None:
    pipe, odd = Pipe(), threading.Lock()
    sender = BatchingSender(pipe.write, every_s=60.0)
    sender.post(chunk(0))
    for message in (chunk(1), StatsUpdate(1, odd), chunk(2), JobEnded(odd, request_id=3)):  # type: ignore[arg-type]
        sender.post(message)
    assert pipe.lists[1:] == [[chunk(1), chunk(2), EngineFailed(UNEXPECTED, 3)]]
