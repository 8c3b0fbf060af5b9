"""Tests past conversations: learnt in slices, limited, saved, ignored if damaged or foreign, deleted completely."""

import hashlib
import itertools
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from engine.drafters import history
from engine.drafters.history import PastTextIndex, VocabularyDigest
from engine.drafters.suffix.drafter import SuffixDrafter
from engine.drafters.suffix.index import BOUNDARY
from engine.records import SamplingParams
from engine.sampling.sampler import Sampler
from tests.engine.tiny_tokenizer import TinyTokenizer

VOCABULARY, OTHER = (VocabularyDigest(TinyTokenizer([word])) for word in (b"one", b"other"))
CHAT = list(range(100, 300))
LONG_S = 60.0


@dataclass
class WatchedTokenizer(TinyTokenizer):
    """Counts the texts that it tokenized."""

    num_texts: int = 0

    def token_text(self, token_id: int) -> str:
        self.num_texts += 1
        return super().token_text(token_id)


def finish(past: PastTextIndex) -> None:
    while past.has_work:
        past.work(LONG_S)


def proposed(past: PastTextIndex, *ids: int) -> list[int]:
    drafter = SuffixDrafter()
    drafter.past = past.index
    history = np.array(ids, dtype=np.int32)
    drafter.begin(history, Sampler(SamplingParams()))
    return drafter.propose(history, 3).ids


def test_what_was_said_before_is_proposed_and_kept(tmp_path: Path) -> None:
    past = PastTextIndex(tmp_path / "cache", VOCABULARY)
    past.learn(CHAT)
    assert proposed(past, 1, 150, 151, 152) == []
    finish(past)
    assert proposed(past, 1, 150, 151, 152) == [153, 154, 155]
    again = PastTextIndex(tmp_path / "cache", VOCABULARY)
    assert again.has_work
    finish(again)
    assert again.index.ids.tolist() == [BOUNDARY, *CHAT]


def test_a_conversation_that_goes_on_is_not_learnt_twice() -> None:
    past = PastTextIndex(None, VOCABULARY)
    past.learn(CHAT)
    past.learn([*CHAT, 1, 2, 3])
    past.learn([*CHAT, 1, 2, 3])
    finish(past)
    assert past.index.ids.tolist() == [BOUNDARY, *CHAT, BOUNDARY, *CHAT[-32:], 1, 2, 3]


def test_chats_that_alternate_are_each_learnt_once() -> None:
    past, other = PastTextIndex(None, VOCABULARY), list(range(1000, 1200))
    for turn in range(4):
        for chat in (CHAT, other):
            past.learn([*chat, *range(turn)])
    finish(past)
    once = [BOUNDARY, *CHAT, BOUNDARY, *other]
    assert past.index.ids[: len(once)].tolist() == once
    assert len(past.index) == len(once) + 3 * 2 * (1 + 32 + 1)


def test_chats_with_one_beginning_are_told_apart() -> None:
    past = PastTextIndex(None, VOCABULARY)
    system, first, second = list(range(80)), list(range(1000, 1400)), list(range(2000, 2400))
    for turn in range(3):
        for chat in (first, second):
            past.learn([*system, *chat, *range(5000, 5000 + turn)])
    finish(past)
    assert len(past.index) < 1200, "neither is learnt again because the other came between"


def test_of_many_chats_the_latest_are_known() -> None:
    past = PastTextIndex(None, VOCABULARY)
    for start in range(0, 20_000, 1000):
        past.learn(list(range(start, start + 200)))
    finish(past)
    before = len(past.index)
    past.learn([*range(19_000, 19_200), 7])
    finish(past)
    assert len(past.index) == before + 1 + 32 + 1
    past.learn([*range(200), 7])
    finish(past)
    assert len(past.index) == before + 1 + 32 + 1 + 202


def test_learning_waits_for_time() -> None:
    past = PastTextIndex(None, VOCABULARY)
    past.learn(list(range(5000)))
    past.work(0.0)
    assert len(past.index) == 0
    finish(past)
    assert len(past.index) == 5001


def test_the_oldest_go_where_there_is_too_much(tmp_path: Path) -> None:
    past = PastTextIndex(tmp_path, VOCABULARY, max_tokens=400)
    for start in range(0, 2000, 200):
        past.learn(list(range(start, start + 200)))
        finish(past)
        assert len(past.index) <= 400
    assert past.index.ids[-1] == 1999
    assert 1750 in past.index.ids
    assert 500 not in past.index.ids


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "other vocabulary"])
def test_a_damaged_or_foreign_file_is_not_read_and_then_replaced(tmp_path: Path, damage: str) -> None:
    past = PastTextIndex(tmp_path, VOCABULARY)
    past.learn(CHAT)
    finish(past)
    (file,) = tmp_path.iterdir()
    content = file.read_bytes()
    flipped = bytes([*content[:-9], content[-9] ^ 1, *content[-8:]])
    foreign = content.replace(VOCABULARY.digest(), OTHER.digest())
    file.write_bytes({"cut": content[:-2], "flipped": flipped, "empty": b"", "other vocabulary": foreign}[damage])
    again = PastTextIndex(tmp_path, VOCABULARY)
    finish(again)
    assert len(again.index) == 0
    again.learn([5, 6, 7])
    finish(again)
    last = PastTextIndex(tmp_path, VOCABULARY)
    finish(last)
    assert last.index.ids.tolist() == [BOUNDARY, 5, 6, 7]


def test_what_another_program_is_about_to_keep_is_not_written_into(tmp_path: Path) -> None:
    past = PastTextIndex(tmp_path, VOCABULARY)
    past.learn(CHAT)
    past.save()
    (file,) = tmp_path.iterdir()
    others = {file.with_suffix(".part"), file.with_suffix(".1.part")}
    for other in others:
        other.write_bytes(b"half of it")
    past.learn([5, 6, 7])
    past.save()
    assert {path for path in tmp_path.iterdir() if path.read_bytes() == b"half of it"} == others
    old = file.with_suffix(".1.part")
    os.utime(old, (0.0, 0.0))  # left by a program that was killed
    finish(PastTextIndex(tmp_path, VOCABULARY))
    assert set(tmp_path.iterdir()) == {file, *others} - {old}
    past.forget()
    assert not list(tmp_path.iterdir())


def test_each_vocabulary_has_a_file_of_its_own_and_all_are_forgotten(tmp_path: Path) -> None:
    (tmp_path / "unrelated.json").write_text("{}")
    pasts = [PastTextIndex(tmp_path, VOCABULARY), PastTextIndex(tmp_path, OTHER)]
    for past in pasts:
        past.learn(CHAT)
        past.save()
    assert len(list(tmp_path.iterdir())) == 3
    pasts[0].forget()
    assert [path.name for path in tmp_path.iterdir()] == ["unrelated.json"]
    assert proposed(pasts[0], 150, 151) == []
    pasts[0].save()
    again = PastTextIndex(tmp_path, VOCABULARY)
    finish(again)
    assert len(again.index) == 0


def test_a_folder_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    past = PastTextIndex(tmp_path / "file", VOCABULARY)
    past.learn(CHAT)
    finish(past)
    assert proposed(past, 150, 151) == [152, 153, 154]


def test_a_large_vocabulary_is_looked_at_a_little_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count()
    monkeypatch.setattr(history.time, "perf_counter", lambda: next(ticks) / 1000.0)  # a millisecond per query
    tokenizer = WatchedTokenizer([b"%d" % number for number in range(20_000)])
    past = PastTextIndex(tmp_path, VocabularyDigest(tokenizer))
    assert tokenizer.num_texts == 0
    past.work(0.02)
    assert 0 < tokenizer.num_texts <= 20 * 256
    finish(past)
    assert tokenizer.num_texts == tokenizer.n_vocab


def test_files_of_earlier_versions_are_still_those_of_their_vocabulary() -> None:
    tokenizer = TinyTokenizer([b"a", b"\xff", b""])
    texts = [tokenizer.token_text(token_id).encode() + b"\0" for token_id in range(tokenizer.n_vocab)]
    assert VocabularyDigest(tokenizer).digest() == hashlib.sha256(b"".join(texts)).digest()


@pytest.mark.parametrize("closes", [False, True])
def test_what_is_learnt_before_the_file_is_read_goes_behind_it(tmp_path: Path, closes: bool) -> None:
    first = PastTextIndex(tmp_path, VOCABULARY)
    first.learn(CHAT)
    first.save()
    second = PastTextIndex(tmp_path, VocabularyDigest(TinyTokenizer([b"one"])))
    second.learn([5, 6, 7])
    if closes:
        second.save()
    else:
        finish(second)
    third = PastTextIndex(tmp_path, VOCABULARY)
    finish(third)
    assert third.index.ids.tolist() == [BOUNDARY, *CHAT, BOUNDARY, 5, 6, 7]


def test_what_is_forgotten_before_it_was_read_is_not_read_later(tmp_path: Path) -> None:
    first = PastTextIndex(tmp_path, VOCABULARY)
    first.learn(CHAT)
    first.save()
    second = PastTextIndex(tmp_path, VOCABULARY)
    second.learn([5, 6, 7])
    second.forget()
    finish(second)
    assert len(second.index) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_read_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreadable(_path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    first = PastTextIndex(tmp_path, VOCABULARY)
    first.learn(CHAT)
    first.save()
    monkeypatch.setattr(Path, "read_bytes", unreadable)
    second = PastTextIndex(tmp_path, VOCABULARY)
    second.learn([5, 6, 7, 8, 9])
    finish(second)
    assert second.index.ids.tolist() == [BOUNDARY, 5, 6, 7, 8, 9]
    assert proposed(second, 5, 6) == [7, 8, 9]
