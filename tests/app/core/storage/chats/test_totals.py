"""Tests lifetime totals: counted in the answer's transaction, and kept when chats are deleted."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as given_by
from hypothesis import strategies as st

from app.core.domain.messages import MessageState
from app.core.domain.sums import ADDED, PairSums, Sums, add_sums, sums_of, total
from app.core.storage.chats import answer_records, totals
from app.core.storage.chats.answers import AnswerEnding, Generation
from app.core.storage.chats.database import MEMORY, connect
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.schema import LAYOUT
from app.core.storage.chats.store import ChatStore
from engine.records import Mode, RunStats, Source
from tests.run_stats import ROUND as RUN
from tests.run_stats import sums_by_pair

counts = st.integers(min_value=0, max_value=10**6)
seconds = st.floats(min_value=0, max_value=1e5, allow_nan=False)


@st.composite
def runs(draw: st.DrawFn) -> RunStats:
    depths = draw(st.integers(0, 4))
    whole = ("prompt_tokens", "prompt_cached_tokens", "passes", "proposed", "accepted", "rolled_back", "replayed")
    spent = ("prompt_s", "decode_s", "draft_s", "verify_s", "sample_s", "rollback_s")
    more: dict[str, Any] = {name: draw(counts) for name in whole} | {name: draw(seconds) for name in spent}
    return RunStats(
        mode=draw(st.sampled_from(Mode)),
        tokens=draw(counts),
        proposed_by_depth=tuple(draw(st.lists(counts, min_size=depths, max_size=depths))),
        accepted_by_depth=tuple(draw(st.lists(counts, min_size=depths, max_size=depths))),
        provenance=draw(st.dictionaries(st.sampled_from(Source), st.integers(1, 10**6))),
        interval_counts=draw(st.dictionaries(st.integers(0, 700), st.integers(1, 10**6), max_size=5)),
        plain_ms=draw(st.none() | st.floats(min_value=0.01, max_value=1e4)),
        **more,
    )


def fresh() -> sqlite3.Connection:
    db = connect(MEMORY)
    for statement in LAYOUT:
        db.execute(statement)
    return db


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    made = fresh()
    yield made
    made.close()


def only(db: sqlite3.Connection) -> PairSums:
    (row,) = totals.read_totals(db)
    return row


@given_by(st.lists(st.tuples(st.sampled_from(["big", "=1+1"]), st.sampled_from(["", "small"]), runs()), max_size=8))
def test_what_is_stored_is_the_sum_of_what_was_counted(given_runs: list[tuple[str, str, RunStats]]) -> None:
    db = fresh()
    for target, draft, run in given_runs:
        totals.add_run(db, target, draft, run)
    stored = {(row.target, row.draft, row.mode): row.sums for row in totals.read_totals(db)}
    counted = [each for each in given_runs if each[2].tokens]
    expected = {(row.target, row.draft, row.mode): row.sums for row in sums_by_pair(counted)}
    assert stored.keys() == expected.keys()
    for key, sums in stored.items():
        assert sums.num_answers == expected[key].num_answers
        assert sums.plain_s == pytest.approx(expected[key].plain_s)
        assert sums.compared_s == pytest.approx(expected[key].compared_s)
        assert sums.stats.provenance == expected[key].stats.provenance
        assert sums.stats.interval_counts == expected[key].stats.interval_counts
        assert sums.stats.accepted_by_depth == expected[key].stats.accepted_by_depth
        for name in ADDED:
            assert getattr(sums.stats, name) == pytest.approx(getattr(expected[key].stats, name))
    assert total(totals.read_totals(db)).stats.tokens == sum(run.tokens for _, _, run in counted)
    db.close()


@given_by(runs(), runs(), runs())
def test_the_order_of_adding_does_not_matter(one: RunStats, two: RunStats, three: RunStats) -> None:
    first = add_sums(add_sums(sums_of(one), sums_of(two)), sums_of(three))
    second = add_sums(sums_of(three), add_sums(sums_of(two), sums_of(one)))
    assert first.num_answers == second.num_answers == 3
    assert first.stats.tokens == second.stats.tokens
    assert first.stats.proposed_by_depth == second.stats.proposed_by_depth
    assert first.plain_s == pytest.approx(second.plain_s)
    assert first.stats.decode_s == pytest.approx(second.stats.decode_s)


def test_rates_weigh_an_answer_by_its_length() -> None:
    slow = replace(RUN, tokens=10, decode_s=10.0)
    both = add_sums(sums_of(RUN), sums_of(slow))
    assert both.stats.tokens_per_second == pytest.approx(50 / 12)
    assert both.plain_s / both.compared_s == pytest.approx((4.0 + 1.0) / 12)
    assert both.saved_s == pytest.approx(-7.0)


def test_an_answer_without_a_plain_cost_is_only_not_compared() -> None:
    both = add_sums(sums_of(RUN), sums_of(replace(RUN, plain_ms=None, decode_s=50.0)))
    assert both.plain_s / both.compared_s == pytest.approx(2.0)
    assert both.stats.decode_s == pytest.approx(52.0)
    assert Sums().saved_s is None


def test_a_run_that_goes_on_is_no_answer_more(db: sqlite3.Connection) -> None:
    totals.add_run(db, "t", "d", RUN)
    totals.add_run(db, "t", "d", RUN, is_continuation=True)
    row = only(db)
    assert (row.sums.num_answers, row.sums.stats.tokens) == (1, 80)


def test_a_run_without_a_token_counts_nothing(db: sqlite3.Connection) -> None:
    totals.add_run(db, "t", "d", RunStats())
    assert totals.read_totals(db) == ()


def test_totals_of_a_mode_of_another_version_are_shown(db: sqlite3.Connection) -> None:
    db.execute("INSERT INTO totals VALUES ('t', 'd', 'psychic', 1, ?)", (json.dumps({"tokens": 3, "num_images": 7}),))
    assert (only(db).mode, only(db).sums.stats.tokens) == ("psychic", 3)


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{", '{"tokens":"many"}', '{"tokens":true}', '{"tokens":NaN}', '{"tokens":-1}', '{"plain_s":"1"}',
        '{"interval_counts":{"-1":2}}', '{"interval_counts":{"701":2}}', '{"interval_counts":{"5":-2}}',
        '{"interval_counts":{"x":1}}', '{"provenance":{"oracle":3}}', '{"proposed_by_depth":[1]}',
    ],
)  # fmt: skip
def test_a_row_that_cannot_be_read_is_not_shown_and_counted_anew(db: sqlite3.Connection, text: str) -> None:
    db.execute("INSERT INTO totals VALUES ('t', 'd', 'draft', 5, ?)", (text,))
    assert totals.read_totals(db) == ()
    totals.add_run(db, "t", "d", RUN)
    assert (only(db).sums.num_answers, only(db).sums.stats.tokens) == (1, 40)


# ---- in the store -------------------------------------------------------------------------------------------------


def give(store: ChatStore, chat: int, run: RunStats = RUN, *, keep: bool = True) -> int:
    turn = store.begin_turn(chat, "q")
    store.append(turn.answer.id, "a")
    store.finish_answer(
        turn.answer.id, AnswerEnding(MessageState.COMPLETE, run, keep=keep, run=Generation("t", "d", run))
    )
    return turn.answer.id


def test_the_totals_outlive_the_chat(store: ChatStore) -> None:
    chat = store.create_conversation("c")
    give(store, chat)
    give(store, chat)
    store.deletions.delete_permanently([chat])
    (row,) = store.read(totals.read_totals)
    assert (row.target, row.draft, row.mode, row.sums.num_answers) == ("t", "d", "draft", 2)
    assert store.read(lambda db: answer_records.answers_of_chat(db, chat)) == ()
    store.write(totals.reset_totals)
    assert store.read(totals.read_totals) == ()


def test_an_answer_names_its_models_while_it_grows_and_when_it_is_copied(store: ChatStore) -> None:
    chat = store.create_conversation("c")
    turn = store.begin_turn(chat, "q")
    store.set_models(turn.answer.id, "big", "small")
    sql = "SELECT target, draft FROM messages WHERE role = 'assistant'"
    assert store.read(lambda db: db.execute(sql).fetchall()) == [("big", "small")]
    store.finish_answer(turn.answer.id, AnswerEnding(MessageState.COMPLETE, RUN, run=Generation("big", "small", RUN)))
    copy = store.library.branch_off(turn.answer.id)
    (answer,) = store.read(lambda db: answer_records.answers_of_chat(db, copy))
    assert (answer.target, answer.draft, answer.stats.tokens) == ("big", "small", 40)
    assert store.read(totals.read_totals)[0].sums.num_answers == 1


def test_an_answer_that_is_not_kept_counts_nothing(store: ChatStore) -> None:
    chat = store.create_conversation("c")
    give(store, chat, keep=False)
    assert store.read(totals.read_totals) == ()


def test_answer_and_totals_come_together_or_not_at_all(store: ChatStore, monkeypatch: pytest.MonkeyPatch) -> None:
    chat = store.create_conversation("c")
    refusals = [sqlite3.OperationalError("disk I/O error")]
    add_run = totals.add_run

    def refuse_once(*arguments: object, **options: object) -> None:
        add_run(*arguments, **options)  # type: ignore[arg-type]
        if refusals:
            raise refusals.pop()

    monkeypatch.setattr(totals, "add_run", refuse_once)
    give(store, chat)
    assert store.close(timeout_s=30.0) or store._answers.num_unwritten == 0
    reopened = ChatStore(store._place, lambda _problem: None)
    assert reopened.open() is None
    (row,) = reopened.read(totals.read_totals)
    assert (row.sums.num_answers, row.sums.stats.tokens) == (1, 40)
    assert len(reopened.read(lambda db: answer_records.answers_of_chat(db, chat))) == 1
    reopened.close()


CHILD = """
import sys
from tests.app.core.storage.chats.test_totals import count_forever
count_forever(sys.argv[1])
"""


def count_forever(folder: str) -> None:
    """For a child process to be killed: store answers, and report each one once counted."""
    store = ChatStore(StoreLocation(Path(folder) / "chats.db", Path(folder) / "backups"), lambda _problem: None)
    if store.open() is not None:
        raise SystemExit("not opened")
    chat = store.create_conversation("killed")
    while True:
        give(store, chat)
        (row,) = store.read(totals.read_totals)
        sys.stdout.write(f"{row.sums.num_answers}\n")
        sys.stdout.flush()


@pytest.mark.parametrize("least", [1, 7, 23])
def test_nothing_that_was_counted_is_lost_by_a_kill(tmp_path: Path, least: int) -> None:
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    with child:
        assert child.stdout is not None
        told = 0
        while told < least:
            told = int(child.stdout.readline())
        child.kill()
        told = max([told, *(int(line) for line in child.stdout.read().splitlines() if line)])
    store = ChatStore(StoreLocation(tmp_path / "chats.db", tmp_path / "backups"), lambda _problem: None)
    assert store.open() is None
    (row,) = store.read(totals.read_totals)
    (chat,) = store.conversations()
    answers = store.read(lambda db: answer_records.answers_of_chat(db, chat.id))
    assert row.sums.num_answers == len(answers) >= told
    assert row.sums.stats.tokens == 40 * len(answers)
    store.close()


def test_a_late_note_of_models_does_not_change_an_ended_answer(store: ChatStore) -> None:
    turn = store.begin_turn(None, "q")
    store.set_models(turn.answer.id, "target", "draft")
    run = Generation("target", "", RunStats(mode=Mode.OFF, tokens=3, passes=3))
    store.finish_answer(turn.answer.id, AnswerEnding(MessageState.COMPLETE, stats=run.stats, run=run))
    store.set_models(turn.answer.id, "target", "draft")
    (given,) = store.read(lambda db: answer_records.answers_of_chat(db, turn.conversation_id))
    assert (given.target, given.draft) == ("target", "")
