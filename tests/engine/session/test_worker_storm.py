"""Random commands with files that come and go: each is answered once, in order, and nothing breaks."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engine.records import (
    CacheType,
    ChatRequest,
    EngineFailed,
    EngineReady,
    Finished,
    LoadRequest,
    Message,
    Mode,
    Overflow,
    SamplingParams,
)
from engine.session.session import Session
from engine.session.worker import UNEXPECTED, EngineWorker
from tests.engine.driver import Driver, Events
from tests.engine.gguf_factory import tiny_llama
from tests.engine.hybrid_factory import tiny_lfm2
from tests.long_form import rounds

NUM_COMMANDS = rounds(80, 150)
Answer = EngineReady | EngineFailed | Finished


class Storm:
    """Sends random commands to a worker; records the numbers of ordered commands."""

    def __init__(self, seed: int, folder: Path, *, side_by_side: bool = False) -> None:
        self.dice, self.folder = random.Random(seed), folder  # noqa: S311  (no secret)
        self.side_by_side = side_by_side
        self.wanted: list[int] = []
        self.answered: list[int] = []
        self.num_tokens = 0
        made = {"t.gguf": tiny_llama(seed=1), "d.gguf": tiny_llama(seed=2), "l.gguf": tiny_lfm2()}
        self.good = {folder / name: file.write(folder / name).read_bytes() for name, file in made.items()}
        self.events = Events()
        caches = folder / "cache"
        self.worker = Driver(EngineWorker(self.events.put, lambda: Session(None, caches, caches, caches / "states")))
        self.worker.start()

    def any_file(self) -> str:
        return str(self.dice.choice([*self.good, self.folder / "none.gguf"]))

    def load(self) -> None:
        draft = self.dice.choice([None, self.any_file()])
        kind = self.dice.choice([CacheType.F16, CacheType.F16, CacheType.Q8_0])
        asked = LoadRequest(self.any_file(), draft, self.dice.choice([None, 256]), cache_type=kind)
        if self.side_by_side:
            asked = replace(asked, parallel=self.dice.choice([1, 3, 4]))
        self.wanted.append(self.worker.load(asked))

    def draft(self) -> None:
        self.wanted.append(self.worker.set_draft(self.dice.choice([None, self.any_file()])))

    def answer(self) -> None:
        pick = self.dice.choice
        text = "ab " * pick([1, 5, 40, 90])
        sampling = SamplingParams(temperature=pick([0.0, 0.8]), repeat_penalty=pick([1.0, 0.1]), seed=pick([None, 7]))
        asked = ChatRequest(
            messages=tuple(Message(("user", "assistant")[i % 2], text) for i in range(pick([1, 3, 5]))),
            mode=pick(list(Mode)),
            depth=pick([None, None, 0, 1, 15, 32, 33]),
            sampling=sampling,
            max_tokens=pick([None, 0, 1, 20]),
            stop=pick([(), ("a", "")]),
            ignore_eos=pick([True, False]),
            overflow=pick(list(Overflow)),
            use_past=pick([True, False]),
            conversation_id=pick([0, 1, 2]),
            request_id=len(self.wanted) + 1,
        )
        self.worker.generate(asked if pick([True, False]) else replace(asked, messages=(), raw_prompt=text))
        self.wanted.append(asked.request_id)

    def change_files(self) -> None:
        for path, content in self.good.items():
            what = self.dice.choice(["stays", "goes", "is cut", "is back"])
            if what == "goes":
                path.unlink(missing_ok=True)
            elif what != "stays":
                part = path.with_suffix(".part")
                part.write_bytes(content if what == "is back" else content[: self.dice.randrange(len(content))])
                part.replace(path)

    def take(self, num_left: int) -> None:
        """Wait until at most this number of commands are unanswered."""
        while len(self.wanted) - len(self.answered) > num_left:
            event = self.events.next()
            if isinstance(event, Answer):
                assert not (isinstance(event, EngineFailed) and event.problem == UNEXPECTED)
                self.answered.append(event.request_id)
                self.num_tokens += event.stats.tokens if isinstance(event, Finished) else 0

    def run(self) -> None:
        worker = self.worker
        parallel = 4 if self.side_by_side else 1
        self.wanted.append(worker.load(LoadRequest(*map(str, list(self.good)[:2]), parallel=parallel)))
        self.take(0)  # a stop would end it, and the next one might come late
        actions: list[Callable[[], None]] = [self.load, self.draft, self.change_files]
        actions += [self.answer] * 6 + [worker.stop] * 2 + [worker.skip_summary, worker.forget_past]
        actions += [lambda: worker.set_state_limit(self.dice.choice([0, 1 << 20])), lambda: worker.forget_state(1)]
        actions += [lambda: self.take(self.dice.choice([0, 4, 8] if self.side_by_side else [0, 1, 2]))] * 4
        for _ in range(NUM_COMMANDS):
            self.dice.choice(actions)()


@pytest.mark.parametrize("side_by_side", [True, False])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_whatever_is_asked_is_answered_once_and_in_its_turn(
    seed: int, tmp_path: Path, caplog: pytest.LogCaptureFixture, *, side_by_side: bool
) -> None:
    storm = Storm(seed, tmp_path, side_by_side=side_by_side)
    storm.run()
    storm.take(0)
    if side_by_side:
        assert sorted(storm.answered) == sorted(storm.wanted)
    else:
        assert storm.answered == storm.wanted
    assert storm.num_tokens > 30
    assert storm.worker.close(20)
    assert not [record for record in caplog.records if record.exc_info], caplog.text
