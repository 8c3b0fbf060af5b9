"""Stored races are restored unchanged; damage affects only the damaged race."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.domain.errors import RaceStoreError
from app.core.domain.speed.races import AnswerDifference, LaneChoice, LaneVerdict, RaceResult, main_verdict
from app.core.storage import races
from app.core.storage.json_records import JSON_ERRORS
from app.core.storage.races import RaceStore, _result_from, race_as_dict
from engine.records import Mode
from tests.race_results import RESULT, THREE_LANES, VERDICT


def at(second: int, result: RaceResult = RESULT) -> RaceResult:
    return replace(result, created=f"2026-11-25T20:44:{second:02}+00:00")


def test_a_race_comes_back_as_it_was(tmp_path: Path) -> None:
    kept = RaceStore(tmp_path / "races").add(THREE_LANES)
    assert kept == replace(THREE_LANES, id="20261125204446")
    found = RaceStore(tmp_path / "races")
    assert found.read(kept.id) == kept
    (listed,) = found.all()
    assert [lane.text for lane in listed.lanes] == ["", "", ""]
    assert [lane.stats for lane in listed.lanes] == [lane.stats for lane in kept.lanes]


def test_the_newest_comes_first_and_two_of_one_second_have_their_own_names(tmp_path: Path) -> None:
    store = RaceStore(tmp_path)
    ids = [store.add(at(second)).id for second in (1, 2, 2)]
    assert ids == ["20261125204401", "20261125204402", "20261125204402-2"]
    assert [summary.id for summary in store.all()] == ids[::-1]
    assert [summary.id for summary in RaceStore(tmp_path).all()] == ids[::-1]


def test_more_than_are_kept_push_out_the_oldest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(races, "MAX_RACES", 2)
    store = RaceStore(tmp_path)
    ids = [store.add(at(second)).id for second in range(4)]
    assert [summary.id for summary in store.all()] == [ids[3], ids[2]]
    assert sorted(file.name for file in tmp_path.iterdir()) == [f"{ids[2]}.json", f"{ids[3]}.json"]


def test_a_deleted_race_is_gone_from_the_disk(tmp_path: Path) -> None:
    store = RaceStore(tmp_path)
    kept = store.add(RESULT)
    store.delete(kept.id)
    store.delete(kept.id)  # another process deleted it first
    assert store.all() == RaceStore(tmp_path).all() == ()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(RaceStoreError, match="cannot be read any more"):
        store.read(kept.id)


def test_a_damaged_race_leaves_the_others_readable(tmp_path: Path) -> None:
    store = RaceStore(tmp_path)
    bad, good = store.add(at(1)), store.add(at(2))
    (tmp_path / f"{bad.id}.json").write_text("{", encoding="utf-8")
    found = RaceStore(tmp_path)
    assert [summary.id for summary in found.all()] == [good.id]
    assert found.read(good.id) == good


def test_a_race_that_is_too_long_or_wrong_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = RaceStore(tmp_path)
    kept = store.add(RESULT)
    file = tmp_path / f"{kept.id}.json"
    whole = json.loads(file.read_text("utf-8"))
    (verdict,) = whole["race"]["verdicts"]
    for broken in ({**verdict, "lane": 2}, {**verdict, "ratio": "1.6"}):
        file.write_text(json.dumps({**whole, "race": {**whole["race"], "verdicts": [broken]}}), "utf-8")
        with pytest.raises(RaceStoreError, match="cannot be read any more"):
            store.read(kept.id)
    file.write_text(json.dumps(whole), "utf-8")
    assert store.read(kept.id) == kept
    monkeypatch.setattr(races, "MAX_FILE_BYTES", 1000)
    with pytest.raises(RaceStoreError, match="cannot be read any more"):
        store.read(kept.id)


def test_races_of_earlier_versions_are_read_as_far_as_they_can_be_shown(tmp_path: Path) -> None:
    store = RaceStore(tmp_path)
    kept = store.add(RESULT)
    file = tmp_path / f"{kept.id}.json"
    whole = json.loads(file.read_text("utf-8"))
    whole["race"] |= {"report": "{}", "markdown": "# Race"}
    whole["race"]["setup"]["rounds"] = None  # until the result was certain
    file.write_text(json.dumps(whole), "utf-8")
    assert store.read(kept.id) == kept
    whole["race"]["lanes"][0]["choice"]["target"] = "/models/other.gguf"
    file.write_text(json.dumps(whole), "utf-8")
    assert store.all() == (), "its lanes cannot be told apart"
    assert file.exists()


def test_a_race_that_cannot_be_deleted_is_reported(tmp_path: Path) -> None:
    store = RaceStore(tmp_path)
    kept = store.add(RESULT)
    (tmp_path / f"{kept.id}.json").unlink()
    (tmp_path / f"{kept.id}.json").mkdir()
    with pytest.raises(RaceStoreError, match="The race could not be deleted: "):
        store.delete(kept.id)


def test_a_folder_that_takes_nothing_is_reported_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "races").write_text("a file where the folder should be", encoding="utf-8")
    with pytest.raises(RaceStoreError, match="The race could not be saved: "):
        RaceStore(tmp_path / "races").add(RESULT)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(sorted(race_as_dict(RESULT))), JUNK)
def test_any_field_may_be_junk_without_another_failure_than_the_known_ones(name: str, junk: object) -> None:
    data = {**json.loads(json.dumps(race_as_dict(RESULT))), name: junk}
    try:
        found = _result_from(data)
    except JSON_ERRORS:
        return
    assert isinstance(found, RaceResult)
    assert all(0 <= verdict.lane < len(found.lanes) for verdict in found.verdicts)


def test_the_verdict_that_counts_is_on_auto_else_on_the_fastest() -> None:
    lanes = [lane.choice for lane in THREE_LANES.lanes]
    assert main_verdict(THREE_LANES.verdicts, lanes) == VERDICT
    others = [lanes[0], LaneChoice(Mode.SUFFIX), lanes[2]]
    faster = replace(VERDICT, lane=2, ratio=2.0)
    assert main_verdict((VERDICT, faster), others) == faster
    assert main_verdict((replace(VERDICT, ratio=None),), lanes) is None


@pytest.mark.parametrize(
    ("low", "high", "has_interval", "is_significant"),
    [
        (1.1, 1.5, True, True),
        (0.7, 0.9, True, True),
        (0.9, 1.1, True, False),
        (0.5, 2.1, False, False),
        (None, None, False, False),
    ],
)
def test_a_verdict_knows_how_sure_it_is(
    low: float | None, high: float | None, has_interval: bool, is_significant: bool
) -> None:
    verdict = LaneVerdict(1, 0, 1.0, low, high, 3, AnswerDifference(3, 1), 0.0)
    assert (verdict.has_interval, verdict.is_significant) == (has_interval, is_significant)
