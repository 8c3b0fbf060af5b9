"""Parallel answers with pictures: each is read into its own sequence, and pixels are not mixed up."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.records import ChatRequest, LoadRequest, Mode
from engine.requests import next_request_id
from engine.session.session import Session
from tests.engine.answers import GREEDY, end_of
from tests.engine.session.test_parallel import Asker
from tests.engine.vision_factory import asked, picture, write_pair
from tests.exact import agree
from tests.waiting import wait_for

FAMILIES = ("llava", "gemma3", "qwen2vl")


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
    usual = ChatRequest(mode=mode, depth=None if mode is Mode.OFF else 3, sampling=GREEDY, ignore_eos=True)
    return [
        replace(usual, messages=(chat,), max_tokens=4 + 6 * number, request_id=next_request_id())
        for number, chat in enumerate(chats)
    ]


def same(alone: Session, request: ChatRequest, found: tuple[int, ...]) -> bool:
    """Whether an answer equals that of a single request, as far as the target is exact."""
    return agree(alone, request, end_of(alone, replace(request, mode=Mode.OFF, depth=None)).token_ids, found)


@pytest.mark.parametrize("mode", [Mode.OFF, Mode.SUFFIX])
def test_each_is_what_it_is_alone(files: tuple[str, str], mode: Mode) -> None:
    alone, beside = Session(), Asker(3, target=files[0], mmproj=files[1], gpu_layers=0)
    alone.load(LoadRequest(files[0], None, 512, threads=1, gpu_layers=0, mmproj=files[1]))
    try:
        for first in (0, 10):
            wanted = questions(mode, first)
            found = [one.finished.token_ids for one in beside.ask(wanted)]
            assert all(same(alone, *one) for one in zip(wanted, found, strict=True))
        encoder = beside.sessions[-1]._vision._encoder
        assert encoder is not None
        wait_for(lambda: encoder.num_readers == 0)
        assert encoder._pixels == {}
    finally:
        alone.close()
        beside.close()
