"""Parallel answers with pictures: each is read into its own sequence, and pixels are not mixed up."""

from __future__ import annotations

import queue
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from engine.records import ChatRequest, EngineFailed, EngineReady, Event, Finished, LoadRequest, Mode, SamplingParams
from engine.requests import next_request_id
from engine.session.session import Session
from engine.session.worker import EngineWorker
from tests.engine.session.test_sight import asked
from tests.engine.vision_factory import picture, write_pair
from tests.exact import agree
from tests.waiting import wait_for

WAIT_S = 60.0
FAMILIES = ("llava", "gemma3", "qwen2vl")


class Asker:
    """An engine with several parallel requests."""

    def __init__(self, files: tuple[str, str], parallel: int) -> None:
        self.sessions = list[Session]()
        self.worker = EngineWorker(lambda _event: None, self._make)
        self.worker.start()
        ready: queue.Queue[Event] = queue.Queue()
        request = LoadRequest(files[0], None, 512, threads=1, gpu_layers=0, mmproj=files[1], parallel=parallel)
        self.worker.submit(replace(request, request_id=next_request_id()), ready.put)
        while not isinstance(event := ready.get(timeout=WAIT_S), EngineReady):
            assert not isinstance(event, EngineFailed), event
        assert event.target.has_vision
        assert event.target.parallel == parallel

    def _make(self) -> Session:
        self.sessions.append(Session())
        return self.sessions[-1]

    def ids(self, *requests: ChatRequest) -> list[tuple[int, ...]]:
        """The answers to parallel requests."""
        ends: dict[int, Event] = {}
        done = threading.Semaphore(0)

        def take(event: Event) -> None:
            if isinstance(event, Finished | EngineFailed):
                ends[event.request_id] = event
                done.release()

        for request in requests:
            self.worker.submit(request, take)
        for _ in requests:
            assert done.acquire(timeout=WAIT_S)
        found = []
        for request in requests:
            end = ends[request.request_id]
            assert isinstance(end, Finished), end
            found.append(end.token_ids)
        return found

    def close(self) -> None:
        """End it."""
        assert self.worker.close(10)


@pytest.fixture(params=FAMILIES)
def files(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """A vision model."""
    pair = write_pair(tmp_path, request.param)
    return str(pair.model), str(pair.side)


def questions(mode: Mode, first: int) -> list[ChatRequest]:
    """Questions of different lengths: some answers end while other prompts are read."""
    chats = (
        asked("ab ", picture(first), " ab ab"),
        asked("abc " * 20, picture(first + 1), " and ", picture(first), " ab"),
        asked("words alone ab ab"),
        asked(picture(first + 2), "c"),
    )
    greedy = SamplingParams(temperature=0.0)
    return [
        ChatRequest(
            (chat,),
            mode,
            None if mode is Mode.OFF else 3,
            greedy,
            max_tokens=4 + 6 * number,
            ignore_eos=True,
            use_past=False,
            request_id=next_request_id(),
        )
        for number, chat in enumerate(chats)
    ]


def same(alone: Session, request: ChatRequest, found: tuple[int, ...]) -> bool:
    """Whether an answer equals that of a single request, as far as the target is exact."""
    *_, end = alone.generate(replace(request, mode=Mode.OFF, depth=None))
    assert isinstance(end, Finished)
    return agree(alone, request, end.token_ids, found)


@pytest.mark.parametrize("mode", [Mode.OFF, Mode.SUFFIX])
def test_each_is_what_it_is_alone(files: tuple[str, str], mode: Mode) -> None:
    """There are more requests than sequences."""
    alone, beside = Session(), Asker(files, 3)
    alone.load(LoadRequest(files[0], None, 512, threads=1, gpu_layers=0, mmproj=files[1]))
    try:
        for first in (0, 10):
            wanted = questions(mode, first)
            found = beside.ids(*wanted)
            assert all(same(alone, *one) for one in zip(wanted, found, strict=True))
        encoder = beside.sessions[-1]._vision._encoder
        assert encoder is not None
        wait_for(lambda: encoder.num_readers == 0)
        assert encoder._pixels == {}
    finally:
        alone.close()
        beside.close()
