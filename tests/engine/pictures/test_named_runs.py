"""Tests runs by name and id: a name keeps its run, ids are never reused, and runs in use are never dropped."""

import pytest

from engine.pictures import encoder
from engine.pictures.encoder import NamedRuns


def test_a_name_has_one_run_whose_places_find_it() -> None:
    runs = NamedRuns()
    made = [runs.run_named(f"picture {number}", 3 + number, 2) for number in range(5)]
    assert runs.run_named("picture 2", 5, 2) == made[2]
    for number, run in enumerate(made):
        assert runs.name_of(run) == f"picture {number}"
        assert all(runs.run_at(place) == run for place in run.ids)
    assert runs.run_at(made[0].first_id + 1) is None
    assert runs.run_at(made[-1].ids[-1] - 1) is None
    assert len({place for run in made for place in run.ids}) == sum(run.num_tokens for run in made)


def test_another_size_is_another_run() -> None:
    runs = NamedRuns()
    old = runs.run_named("picture", 4, 4)
    new = runs.run_named("picture", 5, 4)
    assert new.first_id != old.first_id
    assert runs.run_at(old.first_id) is None
    assert runs.name_of(old) is None
    assert runs.run_at(new.first_id) == new


def test_of_too_many_the_oldest_that_nobody_uses_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder, "MAX_NAMED_RUNS", 3)
    runs = NamedRuns()
    made = [runs.run_named(str(number), 2, 2) for number in range(6)]
    runs.forget_unused({made[1].first_id})
    assert [runs.name_of(run) for run in made] == [None, "1", None, "3", "4", "5"]
    assert runs.run_at(made[0].first_id) is None
    assert runs.run_at(made[4].first_id - 1) == made[4]
    assert runs.run_named("0", 2, 2).first_id < made[5].first_id
