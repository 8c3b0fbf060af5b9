"""Tests `paceline stats`: the table, and JSON."""

import json

import pytest

from app.cli.parser import main
from app.core.domain.messages import MessageState
from app.core.paths import find_paths
from app.core.storage.chats.answers import AnswerEnding, Generation
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore
from engine.records import Mode, RunStats

PLAIN = RunStats(mode=Mode.OFF, tokens=30, passes=30, decode_s=3.0, plain_ms=100.0)
DRAFTED = RunStats(
    mode=Mode.DRAFT,
    tokens=120,
    passes=40,
    decode_s=6.0,
    plain_ms=100.0,
    proposed=80,
    accepted=40,
    interval_counts={236: 58, 300: 2},
)


def fill() -> None:
    paths = find_paths()
    store = ChatStore(StoreLocation(paths.chats_file, paths.backups), lambda _problem: None)
    assert store.open() is None
    for title, run, draft in (("=HYPERLINK()", PLAIN, ""), ("second", DRAFTED, "small\x1b[31m")):
        chat = store.create_conversation(title)
        turn = store.begin_turn(chat, "q")
        store.append(turn.answer.id, "a")
        store.finish_answer(turn.answer.id, AnswerEnding(MessageState.COMPLETE, run, run=Generation("big", draft, run)))
    assert store.close()


def test_the_table_has_a_line_for_each_pair_and_one_for_all(capsys: pytest.CaptureFixture[str]) -> None:
    fill()
    assert main(["stats"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in lines[1:]] == [
        ["big", "small?[31m", "draft"],
        ["big", "-", "off"],
        ["all", "-", "-"],
    ]
    assert lines[1].split()[3:] == ["1", "120", "20.0", "3.00", "50%", "2.00", "10.3", "10.3", "126.3"]
    assert lines[3].split()[3:6] == ["2", "150", "16.7"]
    assert len({line.rstrip()[:40].count("\t") for line in lines}) == 1


def test_json_is_the_export_of_all_statistics(capsys: pytest.CaptureFixture[str]) -> None:
    fill()
    assert main(["stats", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [row["tokens"] for row in data["totals"]] == [120, 30]
    assert [row["chat_title"] for row in data["answers"]] == ["=HYPERLINK()", "second"]


def test_nothing_counted_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats"]) == 0
    assert "Nothing was counted yet" in capsys.readouterr().out
