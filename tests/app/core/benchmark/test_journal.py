"""Tests the journal: measurements survive a restart, truncated lines are dropped, other measurements are rejected."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.benchmark.journal import Journal, digest_of, facts_in_common, program_facts
from app.core.benchmark.prompts import BenchmarkPrompt
from app.core.benchmark.runs import AUTO, PLAIN, BenchmarkPlan, BenchmarkRun
from engine.records import CacheType, LoadRequest, Message, SamplingParams, Source
from tests.app.core.benchmark.made_runs import made_run

FACTS = {"target": {"name": "t.gguf", "size_bytes": 7}, "seed": 0, "libraries": ["libllama build 1"]}
PROMPT = BenchmarkPrompt("x", "a", (Message("user", "What?"),))
PLAN = BenchmarkPlan((0.0,), SamplingParams(seed=0), 64)


def full_run(round_number: int = 0) -> BenchmarkRun:
    run = made_run("x", AUTO, 0.123456789012345, temperature=0.8, round_number=round_number)
    stats = replace(run.stats, provenance={Source.DRAFT: 3}, interval_counts={5: 2}, decisions=("draft on",))
    return replace(run, stats=stats)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.jsonl"


def reopened(path: Path, facts: dict[str, object] | None = None) -> Journal:
    return Journal(path, FACTS if facts is None else facts)


def test_an_answer_is_on_the_disk_at_once_and_comes_back_whole(path: Path) -> None:
    journal = reopened(path)
    run = full_run()
    assert journal.find(PROMPT, 0.8, AUTO, 0) is None
    journal.record(PROMPT, run)
    assert len(path.read_bytes().splitlines()) == 2  # not closed yet, as after a kill
    journal.close()
    again = reopened(path)
    assert len(again) == 1
    assert again.find(PROMPT, 0.8, AUTO, 0) == run
    again.close()


def test_every_part_of_the_question_tells_answers_apart(path: Path) -> None:
    journal = reopened(path)
    journal.record(PROMPT, full_run())
    assert journal.find(PROMPT, 0.0, AUTO, 0) is None
    assert journal.find(PROMPT, 0.8, PLAIN, 0) is None
    assert journal.find(PROMPT, 0.8, AUTO, 1) is None
    assert journal.find(replace(PROMPT, id="y"), 0.8, AUTO, 0) is None
    other_words = replace(PROMPT, messages=(Message("user", "Why?"),))
    assert digest_of(other_words) != digest_of(PROMPT)
    assert journal.find(other_words, 0.8, AUTO, 0) is None
    journal.close()


@pytest.mark.parametrize("kept_bytes", [-1, -2, -40])
def test_a_last_line_that_was_cut_is_dropped_and_written_anew(path: Path, kept_bytes: int) -> None:
    journal = reopened(path)
    for number in range(3):
        journal.record(PROMPT, full_run(number))
    journal.close()
    path.write_bytes(path.read_bytes()[:kept_bytes])
    again = reopened(path)
    assert len(again) == 2
    assert again.find(PROMPT, 0.8, AUTO, 2) is None
    again.record(PROMPT, full_run(2))
    again.close()
    last = reopened(path)
    assert len(last) == 3
    last.close()
    assert all(json.loads(line) for line in path.read_text("utf-8").splitlines())


def test_a_last_line_of_zeros_as_a_crash_leaves_is_dropped(path: Path) -> None:
    journal = reopened(path)
    journal.record(PROMPT, full_run())
    journal.close()
    with path.open("ab") as file:
        file.write(b"\0" * 40 + b"\n")
    again = reopened(path)
    assert len(again) == 1
    again.close()
    assert b"\0" not in path.read_bytes()


def test_a_first_line_that_was_cut_begins_anew(path: Path) -> None:
    path.write_bytes(b'{"paceline_bench')
    reopened(path).close()
    assert json.loads(path.read_text("utf-8"))["facts"] == FACTS


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"seed": 1}, "seed"),
        ({"target": {"name": "t.gguf", "size_bytes": 8}}, "target"),
        ({"seed": 1, "libraries": []}, "seed, libraries"),
    ],
)
def test_another_measurement_is_refused_in_one_sentence(path: Path, change: dict[str, object], names: str) -> None:
    reopened(path).close()
    before = path.read_bytes()
    with pytest.raises(ValueError, match=rf"state\.jsonl belongs to another measurement: it differs in {names}\."):
        reopened(path, {**FACTS, **change})
    assert path.read_bytes() == before


def test_what_comes_later_is_added_and_then_holds(path: Path) -> None:
    reopened(path).close()
    reopened(path, {**FACTS, "llama-server": {"digest": "one"}}).close()
    reopened(path).close()  # without the peer
    with pytest.raises(ValueError, match="it differs in llama-server"):
        reopened(path, {**FACTS, "llama-server": {"digest": "two"}})


@pytest.mark.parametrize("text", ["some notes of mine", '{"id": "a", "prompt": "b"}\n'])
def test_a_file_of_something_else_is_left_alone(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="holds no answers of a benchmark"):
        reopened(path)
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("damage", ["{}", '{"prompt": 3', '{"paceline_benchmark":2,"facts":{}}', "[]"])
def test_damage_in_the_middle_is_reported_with_its_line(path: Path, damage: str) -> None:
    journal = reopened(path)
    journal.record(PROMPT, full_run())
    journal.close()
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([lines[0], damage, lines[1]]) + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 2 is damaged"):
        reopened(path)


def test_two_at_once_are_refused(path: Path) -> None:
    if os.name != "posix" or sys.platform == "darwin":
        pytest.skip("locks of one process against itself differ")
    first = reopened(path)
    with pytest.raises(ValueError, match=r"Another measurement writes to state\.jsonl"):
        reopened(path)
    first.close()
    reopened(path).close()


@pytest.fixture
def load(tmp_path: Path) -> LoadRequest:
    target, draft = tmp_path / "target.gguf", tmp_path / "draft.gguf"
    target.write_bytes(b"a" * 3_000_000)
    draft.write_bytes(b"b" * 100)
    return LoadRequest(str(target), str(draft), 4096)


def test_what_may_differ_is_not_of_it(load: LoadRequest, tmp_path: Path) -> None:
    told = facts_in_common(load, PLAN)
    assert json.loads(json.dumps(told))["draft"]["size_bytes"] == 100
    assert str(tmp_path) not in json.dumps(told)
    other = replace(
        PLAN, temperatures=(0.8,), sampling=replace(PLAN.sampling, temperature=0.8), repeat=3, max_minutes=1
    )
    assert facts_in_common(load, other) == told
    Path(load.target).touch()
    assert facts_in_common(load, PLAN) == told


def test_what_matters_is(load: LoadRequest) -> None:
    told = facts_in_common(load, PLAN)
    changed = [
        facts_in_common(load, replace(PLAN, max_tokens=65)),
        facts_in_common(load, replace(PLAN, ignore_eos=True)),
        facts_in_common(load, replace(PLAN, sampling=SamplingParams(seed=1))),
        facts_in_common(load, replace(PLAN, sampling=SamplingParams(seed=0, top_k=3))),
        facts_in_common(replace(load, draft=None), PLAN),
        facts_in_common(replace(load, n_ctx=2048), PLAN),
        facts_in_common(replace(load, cache_type=CacheType.Q8_0), PLAN),
    ]
    assert told not in changed
    target = Path(load.target)
    target.write_bytes(target.read_bytes()[:-1] + b"!")
    assert facts_in_common(load, PLAN)["target"] != told["target"]


def test_a_change_of_the_engine_is_seen(load: LoadRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "engine"
    package.mkdir()
    (package / "pacer.py").write_text("depth = 3\n")
    monkeypatch.setattr("app.core.benchmark.journal.engine.__file__", str(package / "__init__.py"))
    before = facts_in_common(load, PLAN)["code_of_the_engine"]
    (package / "pacer.py").write_text("depth = 4\n")
    assert facts_in_common(load, PLAN)["code_of_the_engine"] != before


def test_libraries_beside_a_program_belong_to_it(tmp_path: Path) -> None:
    program, library = tmp_path / "llama-server", tmp_path / "libggml-cpu.so.0"
    program.write_bytes(b"program")
    alone = program_facts(str(program))
    library.write_bytes(b"kernels")
    (tmp_path / "libggml-cpu.so").symlink_to(library)
    (tmp_path / "notes.txt").write_bytes(b"notes")
    first = program_facts(str(program))
    assert first["name"] == "llama-server"
    assert alone != first
    library.write_bytes(b"others")
    assert program_facts(str(program)) != first
    link = tmp_path / "elsewhere"
    link.mkdir()
    (link / "server").symlink_to(program)
    assert program_facts(str(link / "server")) == program_facts(str(program))


def test_a_model_that_is_not_there_is_left_to_the_loading(tmp_path: Path) -> None:
    assert facts_in_common(LoadRequest(str(tmp_path / "none.gguf")), PLAN)["target"] == {"name": "none.gguf"}
