"""Anything that changes a speed or an answer changes the facts of a measurement, and nothing else does."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.benchmark.facts import facts_in_common, program_facts
from app.core.benchmark.runner import BenchmarkPlan
from engine.records import CacheType, LoadRequest, SamplingParams

PLAN = BenchmarkPlan((0.0,), SamplingParams(seed=0), 64)


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
    monkeypatch.setattr("app.core.benchmark.facts.engine.__file__", str(package / "__init__.py"))
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
