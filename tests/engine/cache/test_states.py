"""Returning to a conversation restores its cache; the answer is the same, and foreign files are not trusted."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.core.paths import builtin_draft, builtin_target
from engine.cache.states import MAX_EXTERNAL_STATES, StateCache
from engine.decoding.stats import StatsRecorder
from engine.errors import DecodeError
from engine.records import ChatRequest, Finished, LoadRequest, Mode, RunStats, SamplingParams
from engine.sequence import CachedSequence
from engine.session.session import Session
from tests.engine.gguf_factory import GgufFile, tiny_windowed
from tests.engine.hybrid_factory import tiny_lfm2, tiny_qwen35
from tests.fake_model import MarkovModel, RecurrentModel
from tests.shared_files import shared_model

DISK_BYTES = 1 << 30
LONG_S = 60.0
FOX = "Once upon a time there was a fox who lived near the river. " * 8
BEAR = "The bear went up the hill because it wanted to see the sea. " * 8
MAKERS: dict[str, Callable[..., GgufFile]] = {"lfm2": tiny_lfm2, "qwen35": tiny_qwen35}


def request(prompt: str, owner: int, mode: Mode = Mode.OFF, **changes: object) -> ChatRequest:
    plain = ChatRequest(
        raw_prompt=prompt,
        mode=mode,
        depth=None if mode is Mode.OFF else 3,
        sampling=SamplingParams(temperature=0.0),
        max_tokens=24,
        ignore_eos=True,
        conversation_id=owner,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def answer(session: Session, asked: ChatRequest) -> tuple[tuple[int, ...], RunStats]:
    last = list(session.generate(asked))[-1]
    assert isinstance(last, Finished)
    return last.token_ids, last.stats


def opened(target: str, draft: str | None = None, folder: Path | None = None, *, keeps: bool = True) -> Session:
    session = Session(state_folder=folder)
    session.load(LoadRequest(target, draft, n_ctx=1024, threads=1))
    session.states.set_limit(DISK_BYTES if keeps else 0)
    return session


def rest(session: Session) -> None:
    while session.states.has_work:
        session.states.work(LONG_S)


def models(name: str, tmp_path: Path) -> tuple[str, str | None]:
    if name in MAKERS:
        make = MAKERS[name]
        return str(make().write(tmp_path / "t.gguf")), str(make(noise=0.15).write(tmp_path / "d.gguf"))
    if name == "built-in":
        return str(builtin_target()), str(builtin_draft())
    if name == "babyllama":
        return shared_model("babyllama-tok105-f16.gguf"), shared_model("babyllamaB-tok105-f16.gguf")
    return shared_model("tiny-rwkv7-834K-f32.gguf"), None


@pytest.mark.parametrize("name", ["built-in", "babyllama", "rwkv7", "lfm2", "qwen35"])
def test_the_ids_after_coming_back_are_those_of_never_having_left(name: str, tmp_path: Path) -> None:
    target, draft = models(name, tmp_path)
    mode = Mode.DRAFT if draft else Mode.OFF
    fox, bear = (FOX, BEAR) if name == "built-in" else (FOX[:117], BEAR[:118])
    first, longer = request(fox.strip(), 1, mode, max_tokens=1), request(f"{fox.strip()} And then", 1, mode)
    stayed = opened(target, draft, keeps=False)
    answer(stayed, first)
    wanted, stay_stats = answer(stayed, longer)
    assert stay_stats.restored_tokens == 0 < stay_stats.prompt_cached_tokens
    stayed.close()

    session = opened(target, draft)
    answer(session, first)
    answer(session, request(bear, 2, mode))
    again, stats = answer(session, longer)
    assert again == wanted
    assert stats.restored_tokens == stats.prompt_cached_tokens == stay_stats.prompt_cached_tokens
    assert stats.restore_s > 0
    assert any("restored" in decision for decision in stats.decisions)
    session.close()


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Session]:
    session = opened(str(builtin_target()), str(builtin_draft()), tmp_path)
    yield session
    session.close()


def drop_memory(cache: StateCache) -> None:
    """Drop caches in memory that are also on disk, as at the next start."""
    cache._memory_entries = {key: kept for key, kept in cache._memory_entries.items() if kept.dirty}


@pytest.mark.parametrize("mode", [Mode.SUFFIX, Mode.NGRAM, Mode.AUTO])
def test_every_mode_gives_the_same_tokens_after_coming_back(pair: Session, mode: Mode) -> None:
    plain, _ = answer(pair, request(FOX, 1))
    answer(pair, request(BEAR, 2, mode))
    again, stats = answer(pair, request(FOX, 1, mode))
    assert again == plain
    assert stats.restored_tokens > 0


def test_it_comes_back_after_a_restart(pair: Session, tmp_path: Path) -> None:
    wanted, _ = answer(pair, request(FOX, 1, Mode.DRAFT))
    pair.close()
    assert list(tmp_path.glob("*.state"))
    again = opened(str(builtin_target()), str(builtin_draft()), tmp_path)
    ids, stats = answer(again, request(FOX, 1, Mode.DRAFT))
    assert ids == wanted
    assert stats.restored_tokens == stats.prompt_tokens - 1
    assert "of the target from disk" in " ".join(stats.decisions)
    again.close()


def test_another_context_or_another_cache_is_not_taken(pair: Session, tmp_path: Path) -> None:
    answer(pair, request(FOX, 1))
    pair.close()
    other = Session(state_folder=tmp_path)
    other.load(LoadRequest(str(builtin_target()), n_ctx=768, threads=1))
    other.states.set_limit(DISK_BYTES)
    assert answer(other, request(FOX, 1))[1].restored_tokens == 0
    other.close()


def test_a_deleted_conversation_takes_its_cache_along(pair: Session, tmp_path: Path) -> None:
    answer(pair, request(FOX, 1))
    answer(pair, request(BEAR, 2))
    rest(pair)
    assert len(list(tmp_path.glob("*.state"))) == 1
    pair.states.forget(1)
    assert not list(tmp_path.glob("*.state"))
    pair.states.forget(2)  # it is still in use
    assert answer(pair, request(FOX, 1))[1].restored_tokens == 0
    rest(pair)
    assert not list(tmp_path.glob("*.state"))


def test_switched_off_nothing_is_kept_and_what_there_was_is_gone(pair: Session, tmp_path: Path) -> None:
    answer(pair, request(FOX, 1))
    answer(pair, request(BEAR, 2))
    rest(pair)
    pair.states.set_limit(0)
    assert not list(tmp_path.glob("*.state"))
    assert answer(pair, request(FOX, 1))[1].restored_tokens == 0
    pair.close()
    assert not list(tmp_path.glob("*.state"))


def test_nobodys_answer_is_not_kept(pair: Session, tmp_path: Path) -> None:
    answer(pair, request(FOX, 0))
    answer(pair, request(BEAR, 0))
    assert answer(pair, request(FOX, 0))[1].restored_tokens == 0
    pair.close()
    assert not list(tmp_path.glob("*.state"))


# ---- by scripted models -------------------------------------------------------------------------------------------

N_VOCAB = 64
ONE = np.arange(200, dtype=np.int32) % 61
TWO = (np.arange(200, dtype=np.int32) * 7 + 3) % 61


def scripted(model: MarkovModel, cache: StateCache) -> CachedSequence:
    sequence = CachedSequence(model)
    cache.attach("target", sequence, lambda: "scripted")
    return sequence


def read(cache: StateCache, sequence: CachedSequence, ids: np.ndarray, owner: int) -> StatsRecorder:
    stats = StatsRecorder(Mode.OFF, sequence.n_ctx)
    cache.begin(owner, stats)
    kept = sequence.reuse(ids)
    for _ in sequence.prefill(ids[kept:]):
        pass
    return stats


def markov(*, recurrent: bool = False) -> MarkovModel:
    logits = np.zeros((N_VOCAB, N_VOCAB), dtype=np.float32)
    return RecurrentModel(logits, 512) if recurrent else MarkovModel(logits, 512)


def test_a_memory_that_cannot_go_back_takes_only_what_goes_on() -> None:
    cache = StateCache()
    cache.set_limit(DISK_BYTES)
    sequence = scripted(markov(recurrent=True), cache)
    read(cache, sequence, ONE, 1)
    read(cache, sequence, TWO, 2)
    assert read(cache, sequence, ONE[:150], 1).restored_tokens == 0
    read(cache, sequence, TWO, 2)
    cache.forget(1)
    read(cache, sequence, ONE, 3)
    read(cache, sequence, TWO[:40], 2)
    assert read(cache, sequence, np.concatenate((ONE, TWO[:9])), 3).restored_tokens == len(ONE)


def test_slow_bringing_back_is_left_and_tried_again_one_day() -> None:
    cache = StateCache()
    cache.set_limit(DISK_BYTES)
    sequence = scripted(markov(), cache)
    read(cache, sequence, ONE, 1)
    read(cache, sequence, TWO, 2)
    cache._speeds.record("scripted", "prompt", 1e9, 1.0)
    cache._speeds.record("scripted", "prompt", 1e9, 1.0)
    cache._speeds.record("scripted", "memory", 800.0, 1.0)
    stats = read(cache, sequence, ONE, 1)
    assert stats.restored_tokens == 0
    assert any("decoded again" in decision for decision in stats.decisions)
    assert sequence.num_past == len(ONE)
    before = cache._speeds.seconds("scripted", "memory", 800.0)
    assert before is not None
    assert before < 1.0


def test_an_edit_before_the_window_of_a_stored_state_is_exact(tmp_path: Path) -> None:
    model = str(tiny_windowed(window=32).write(tmp_path / "windowed.gguf"))
    kept, fresh = opened(model, folder=tmp_path), opened(model, keeps=False)
    answer(kept, request(FOX, 1))
    answer(kept, request(BEAR, 2))
    edited = FOX[:200] + BEAR[:100]
    ids, stats = answer(kept, request(edited, 1))
    assert stats.restored_tokens > 150
    assert ids == answer(fresh, request(edited, 1))[0]
    kept.close()
    again = opened(model, folder=tmp_path)
    ids, stats = answer(again, request(FOX[:120] + "and so", 1))
    assert stats.restored_tokens > 100
    assert ids == answer(fresh, request(FOX[:120] + "and so", 1))[0]
    again.close()
    fresh.close()


def test_a_state_that_is_refused_is_dropped_and_decoded_again() -> None:
    class Refusing(MarkovModel):
        def import_state(self, state: np.ndarray, num_past: int) -> bool:
            self.clear()
            return False

    cache = StateCache()
    cache.set_limit(DISK_BYTES)
    sequence = scripted(Refusing(np.zeros((N_VOCAB, N_VOCAB), dtype=np.float32), 512), cache)
    read(cache, sequence, ONE, 1)
    read(cache, sequence, TWO, 2)
    stats = read(cache, sequence, ONE, 1)
    assert stats.restored_tokens == 0
    assert sequence.num_past == len(ONE)
    assert any("could not be restored" in decision for decision in stats.decisions)
    read(cache, sequence, TWO, 2)


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.cache.states.MAX_MEMORY_BYTES", 4000)
    cache = StateCache()
    cache.set_limit(DISK_BYTES)
    sequence = scripted(markov(), cache)
    for owner in range(1, 8):
        read(cache, sequence, (ONE + owner) % 61, owner)
    assert read(cache, sequence, (ONE + 6) % 61, 6).restored_tokens == len(ONE) - 1
    assert read(cache, sequence, (ONE + 1) % 61, 1).restored_tokens == 0
    assert sum(kept.state.num_bytes for kept in cache._memory_entries.values()) <= 4000


def test_what_is_too_large_to_be_kept_is_not_copied_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.cache.states.MAX_MEMORY_BYTES", 700)
    cache, model = StateCache(), markov()
    cache.set_limit(DISK_BYTES)
    copied: list[int] = []
    export = model.export_state
    monkeypatch.setattr(model, "export_state", lambda: copied.append(model.num_past) or export())
    sequence = scripted(model, cache)
    for owner, length in ((1, 200), (2, 60), (3, 200)):
        read(cache, sequence, (ONE + owner)[:length] % 61, owner)
    assert copied == [60]


def two_conversations(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[StateCache, CachedSequence]:
    """A cache that writes a few bytes at a time and has read two conversations; the second is in use."""
    monkeypatch.setattr("engine.cache.files._WRITE_BYTES", 64)
    cache = StateCache(folder)
    cache.set_limit(DISK_BYTES)
    sequence = scripted(markov(), cache)
    read(cache, sequence, ONE, 1)
    read(cache, sequence, TWO, 2)
    return cache, sequence


def test_a_smaller_limit_counts_for_what_is_just_being_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache, _ = two_conversations(tmp_path, monkeypatch)
    cache.work(0.0)
    cache._write_chunk()
    cache.set_limit(1000)
    while cache.has_work:
        cache.work(LONG_S)
    assert sum(file.stat().st_size for file in tmp_path.glob("*.state")) <= 1000


@pytest.fixture
def writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[StateCache, CachedSequence]:
    """A cache that is writing the state of the first conversation; the second is in use."""
    cache, sequence = two_conversations(tmp_path, monkeypatch)
    for _ in range(3):
        cache._write_chunk()
    assert list(tmp_path.glob("*.part"))
    return cache, sequence


def stored_owners(folder: Path) -> set[int]:
    """The owners whose caches the next start would find on disk."""
    cache = StateCache(folder)
    cache.set_limit(DISK_BYTES)
    assert cache._files is not None
    return {stored.key.owner for stored in cache._files.stored}


def test_what_is_forgotten_while_it_is_written_is_not_kept(
    writing: tuple[StateCache, CachedSequence], tmp_path: Path
) -> None:
    cache, sequence = writing
    cache.forget(1)
    assert not list(tmp_path.glob("*.part"))
    cache.flush()
    assert stored_owners(tmp_path) == set()
    assert read(cache, sequence, ONE, 1).restored_tokens == 0


def test_what_another_conversation_forgets_is_written_to_its_end(
    writing: tuple[StateCache, CachedSequence], tmp_path: Path
) -> None:
    writing[0].forget(2)
    writing[0].work(LONG_S)
    assert stored_owners(tmp_path) == {1}


def test_at_the_end_what_was_begun_is_written_whole(writing: tuple[StateCache, CachedSequence], tmp_path: Path) -> None:
    writing[0].detach("target")
    writing[0].flush()
    assert stored_owners(tmp_path) == {1, 2}
    assert not list(tmp_path.glob("*.part"))


def test_at_the_end_what_cannot_be_written_in_a_moment_leaves_no_half_file(
    writing: tuple[StateCache, CachedSequence], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(0, 1_000_000, 3))
    with monkeypatch.context() as patch:
        patch.setattr("engine.cache.states._CLOSING_S", 8.0)
        patch.setattr("engine.cache.states.time.perf_counter", lambda: float(next(clock)))
        writing[0].flush()
    assert not list(tmp_path.glob("*.part"))
    assert stored_owners(tmp_path) == set()


def test_a_newer_state_of_a_conversation_replaces_the_one_being_written(
    writing: tuple[StateCache, CachedSequence], tmp_path: Path
) -> None:
    cache, sequence = writing
    longer = np.concatenate((ONE, TWO[:20]))
    assert read(cache, sequence, longer, 1).restored_tokens == len(ONE)
    read(cache, sequence, TWO, 2)
    cache.work(LONG_S)
    assert stored_owners(tmp_path) == {1, 2}
    assert cache._files is not None
    assert [len(stored.ids) for stored in cache._files.stored if stored.key.owner == 1] == [len(longer)]


def test_memory_that_is_freed_loses_only_what_the_disk_has(
    writing: tuple[StateCache, CachedSequence],
) -> None:
    cache, sequence = writing
    cache.work(LONG_S)
    drop_memory(cache)
    from_disk = read(cache, sequence, ONE, 1)
    assert from_disk.restored_tokens == len(ONE) - 1
    assert "from disk" in " ".join(from_disk.decisions)
    drop_memory(cache)  # the second conversation's cache is only in memory
    from_memory = read(cache, sequence, TWO, 2)
    assert from_memory.restored_tokens == len(TWO) - 1
    assert "from memory" in " ".join(from_memory.decisions)


def test_a_damaged_file_is_dropped_and_its_tokens_are_decoded_again(
    writing: tuple[StateCache, CachedSequence], tmp_path: Path
) -> None:
    cache, sequence = writing
    cache.work(LONG_S)
    drop_memory(cache)
    (file,) = tmp_path.glob("*.state")
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    stats = read(cache, sequence, ONE, 1)
    assert stats.restored_tokens == 0
    assert any("could not be restored" in decision for decision in stats.decisions)
    assert sequence.num_past == len(ONE)
    assert not file.exists()


def test_a_cache_that_cannot_be_copied_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> np.ndarray:
        raise DecodeError("no memory for a copy")

    cache, model = StateCache(), markov()
    cache.set_limit(DISK_BYTES)
    sequence = scripted(model, cache)
    read(cache, sequence, ONE, 1)
    with monkeypatch.context() as patch:
        patch.setattr(model, "export_state", fail)
        read(cache, sequence, TWO, 2)
    assert sequence.num_past == len(TWO)
    assert read(cache, sequence, ONE, 1).restored_tokens == 0
    assert read(cache, sequence, TWO, 2).restored_tokens == len(TWO) - 1


@pytest.mark.parametrize("keeps", [True, False])
def test_guests_come_back_from_memory_and_never_reach_the_disk(tmp_path: Path, *, keeps: bool) -> None:
    folder = tmp_path / "states"
    session = opened(str(builtin_target()), folder=folder, keeps=keeps)
    ours, theirs = request(FOX, 7, max_tokens=1), request(BEAR, -5, max_tokens=1)
    for asked in (ours, theirs, ours, theirs):
        _, stats = answer(session, asked)
    assert stats.restored_tokens > 32
    _, stats = answer(session, ours)
    assert (stats.restored_tokens > 32) is keeps, "the owner's own are kept where that is allowed"
    rest(session)
    stored = session.states._files.stored if session.states._files is not None else ()
    assert {one.key.owner for one in stored} == ({7} if keeps else set())
    session.states.forget_external()
    _, stats = answer(session, theirs)
    assert stats.restored_tokens == 0
    session.close()


def test_only_a_few_guests_are_kept() -> None:
    session = opened(str(builtin_target()), keeps=False)
    for guest in range(1, MAX_EXTERNAL_STATES + 5):
        answer(session, request(f"{guest} " + FOX, -guest, max_tokens=1))
    assert len(session.states._memory_entries) == MAX_EXTERNAL_STATES
    session.close()
