"""Speeds of pairs survive restarts, other processes and damage."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.core.domain.speed.pair_speed import MAX_ANSWERS, MAX_RACES, AnswerSpeed, RaceSpeed
from app.core.storage.pair_speeds import PairSpeeds


def answer(ended_at: float = 1.0, tokens: int = 50) -> AnswerSpeed:
    return AnswerSpeed(ended_at, "auto", 0.8, tokens, 1.25, 1.5, 10, 4)


def test_what_was_kept_is_there_at_the_next_start(tmp_path: Path) -> None:
    file = tmp_path / "speeds.json"
    race = RaceSpeed(20.0, "auto", 0.0, 1.62, 1.48, 1.77, 4, 800)
    PairSpeeds(file).add_answer("t", "d", answer())
    PairSpeeds(file).add_race("t", "d", race)
    found = PairSpeeds(file).get("t", "d")
    assert found.answers == (answer(),)
    assert found.races == (race,)
    assert PairSpeeds(file).get("t", "").answers == ()


def test_only_the_last_ones_are_kept(tmp_path: Path) -> None:
    speeds = PairSpeeds(tmp_path / "speeds.json")
    for number in range(MAX_ANSWERS + 3):
        speeds.add_answer("t", "d", answer(float(number)))
    for number in range(MAX_RACES + 2):
        speeds.add_race("t", "d", RaceSpeed(float(number), "auto", 0.0, 1.5))
    found = speeds.get("t", "d")
    assert [each.ended_at for each in found.answers] == list(range(3, MAX_ANSWERS + 3))
    assert [each.ended_at for each in found.races] == list(range(2, MAX_RACES + 2))


def test_what_ends_within_one_second_stays_in_order(tmp_path: Path) -> None:
    speeds = PairSpeeds(tmp_path / "speeds.json")
    for tokens in (1, 2, 3):
        speeds.add_answer("t", "d", answer(10.7 + tokens / 100, tokens))
    assert [each.tokens for each in speeds.get("t", "d").answers] == [1, 2, 3]


def test_of_too_many_pairs_the_one_that_was_used_longest_ago_goes(tmp_path: Path) -> None:
    speeds = PairSpeeds(tmp_path / "speeds.json")
    for number in range(64):
        speeds.add_answer(f"t{number}", "", answer())
    speeds.add_answer("t0", "", answer(2.0))
    speeds.add_answer("new", "", answer())
    names = [pair.target for pair in speeds.all()]
    assert len(names) == 64
    assert "t1" not in names
    assert names[-2:] == ["t0", "new"]


def test_threads_and_processes_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "speeds.json"
    code = (
        "import sys; from pathlib import Path; from app.core.storage.pair_speeds import PairSpeeds;"
        "from app.core.domain.speed.pair_speed import RaceSpeed\n"
        "for n in range(5): PairSpeeds(Path(sys.argv[1])).add_race('t', 'd', RaceSpeed(float(n), 'auto', 0.0, 1.5))"
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(file)], cwd=Path(__file__).parents[4])
    speeds = PairSpeeds(file)
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda number: speeds.add_answer("t", "d", answer(float(number))), range(20)))
    assert child.wait(60) == 0
    found = speeds.get("t", "d")
    assert (len(found.answers), len(found.races)) == (20, 5)


def test_totals_begun_anew_leave_races(tmp_path: Path) -> None:
    speeds = PairSpeeds(tmp_path / "speeds.json")
    speeds.add_answer("t", "d", answer())
    speeds.add_answer("t", "", answer())
    speeds.add_race("t", "d", RaceSpeed(1.0, "auto", 0.0, 1.5))
    speeds.forget_answers()
    assert [(pair.target, pair.draft, pair.answers) for pair in speeds.all()] == [("t", "d", ())]
    assert len(speeds.get("t", "d").races) == 1


def test_an_answer_without_tokens_is_not_kept(tmp_path: Path) -> None:
    speeds = PairSpeeds(tmp_path / "speeds.json")
    speeds.add_answer("t", "d", answer(tokens=0))
    assert speeds.all() == ()


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


@example(answers=[[1, "auto", 0.8, 10**400, 1.0, None, 0, 0]], races=[[1, "auto", 0.0, 0, None, None, 1, 1]])
@given(answers=JUNK, races=JUNK)
def test_a_damaged_line_takes_no_other_with_it(
    tmp_path_factory: pytest.TempPathFactory, answers: object, races: object
) -> None:
    file = tmp_path_factory.mktemp("speeds") / "speeds.json"
    PairSpeeds(file).add_answer("good", "d", answer())
    saved = json.loads(file.read_text())
    saved["pairs"]["x"] = {"target": "t", "draft": "d", "answers": answers, "races": races}
    saved["pairs"]["y"] = {"target": "u", "draft": "d", "answers": [answers, races], "races": [races, answers]}
    file.write_text(json.dumps(saved))
    speeds = PairSpeeds(file)
    for pair in speeds.all():
        assert pair.speedup is None or pair.speedup >= 0
        assert pair.acceptance_rate is None or 0 <= pair.acceptance_rate <= 1
    assert speeds.get("good", "d").answers == (answer(),)
