"""The former mode hybrid of an earlier version is read as auto from every file."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app.core.domain.messages import MessageState
from app.core.domain.settings.layers import valid_values
from app.core.domain.settings.values import Settings
from app.core.domain.speed.pair_speed import AnswerSpeed, RaceSpeed
from app.core.storage.chats.answers import AnswerEnding, Generation
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore
from app.core.storage.chats.totals import read_totals
from app.core.storage.exchange.transfer import export_chats, import_chats
from app.core.storage.pair_speeds import PairSpeeds
from app.core.storage.races import RaceStore
from app.core.storage.settings_file import read_settings
from engine.records import HYBRID, Mode
from tests.race_results import RESULT
from tests.run_stats import PACED, ROUND


def aged(file: Path, mode: str) -> None:
    """Replace the mode in a file by hybrid."""
    text = file.read_text("utf-8")
    assert f'"{mode}"' in text
    file.write_text(text.replace(f'"{mode}"', f'"{HYBRID}"'), "utf-8")


def chats_with_figures(place: StoreLocation) -> ChatStore:
    """Two chats: one in the mode that is replaced, one in auto."""
    store = ChatStore(place, lambda _problem: None)
    assert store.open() is None
    for run in (ROUND, PACED):
        turn = store.begin_turn(None, f"Why {run.mode}?", run.mode, 3)
        store.append(turn.answer.id, "So.")
        made = Generation("big", "small", run)
        store.finish_answer(turn.answer.id, AnswerEnding(MessageState.COMPLETE, run, run=made))
    return store


def test_settings(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(f'[speculation]\nmode = "{HYBRID}"\ndepth = 3\n', "utf-8")
    loaded = read_settings(file)
    assert loaded.notices == ()
    assert (loaded.settings.values["mode"], loaded.settings.values["depth"]) == ("auto", 3)
    assert Settings().changed({"mode": HYBRID})[0].text("mode") == "auto"
    assert valid_values({"mode": HYBRID, "depth": 3}) == {"mode": "auto", "depth": 3}, "of a chat, or of a model"


def test_chats_their_figures_and_the_totals(place: StoreLocation) -> None:
    chats_with_figures(place).close()
    with closing(sqlite3.connect(place.file)) as db, db:
        for table, column, old in (
            ("conversations", "mode", "draft"), ("totals", "mode", "draft"), ("messages", "stats", '"mode":"draft"')
        ):  # fmt: skip
            new = old.replace("draft", HYBRID)
            assert db.execute(f"UPDATE {table} SET {column} = replace({column}, ?, ?)", (old, new)).rowcount  # noqa: S608
    store = ChatStore(place, lambda _problem: None)
    assert store.open() is None
    chats = [store.conversation(row.id) for row in store.conversations()]
    assert [(chat.mode, chat.depth) for chat in chats if chat] == [(Mode.AUTO, 3)] * 2
    answers = [store.messages(chat.id)[-1] for chat in chats if chat]
    assert {answer.stats.tokens for answer in answers if answer.stats} == {ROUND.tokens, PACED.tokens}
    assert {answer.stats.mode for answer in answers if answer.stats} == {Mode.AUTO}
    (row,) = store.read(read_totals)
    assert (row.mode, row.sums.num_answers, row.sums.stats.tokens) == ("auto", 2, ROUND.tokens + PACED.tokens)
    store.close()


def test_an_import(store: ChatStore, tmp_path: Path) -> None:
    file, other = tmp_path / "chats.json", chats_with_figures(StoreLocation(tmp_path / "o" / "c.db", tmp_path / "o"))
    assert export_chats(other, file, "json") == 2
    other.close()
    data = json.loads(file.read_text("utf-8"))
    for chat in data["conversations"]:
        chat["mode"] = chat["messages"][-1]["stats"]["mode"] = HYBRID
    file.write_text(json.dumps(data), "utf-8")
    assert import_chats(store, file).num_new == 2
    for row in store.conversations():
        chat, answer = store.conversation(row.id), store.messages(row.id)[-1]
        assert chat is not None
        assert answer.stats is not None
        assert chat.mode is answer.stats.mode is Mode.AUTO


def test_races(tmp_path: Path) -> None:
    kept = RaceStore(tmp_path).add(RESULT)
    modes = [choice.mode for choice in kept.setup.lanes]
    aged(tmp_path / f"{kept.id}.json", modes[-1].value)
    found = RaceStore(tmp_path).read(kept.id)
    assert [choice.mode for choice in found.setup.lanes] == [*modes[:-1], Mode.AUTO]
    assert found.lanes[-1].text == kept.lanes[-1].text


def test_speeds_of_pairs(tmp_path: Path) -> None:
    file = tmp_path / "speeds.json"
    PairSpeeds(file).add_answer("t", "d", AnswerSpeed(1.0, "suffix", 0.8, 50, 1.25, 1.5, 10, 4))
    PairSpeeds(file).add_race("t", "d", RaceSpeed(20.0, "suffix", 0.0, 1.62, 1.48, 1.77, 4, 800))
    aged(file, "suffix")
    found = PairSpeeds(file).get("t", "d")
    assert (found.answers[0].mode, found.races[0].mode) == ("auto", "auto")
    assert found.race is not None


@pytest.mark.parametrize("word", ["", "psychic", None, 3, ["hybrid"], {"hybrid": 1}])
def test_what_never_was_a_mode_is_none(word: object) -> None:
    assert Mode.from_value(word) is None
