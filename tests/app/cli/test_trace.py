"""Tests `paceline run --trace`: a line of JSON per pass; an unwritable file is reported before loading."""

import json
from pathlib import Path

import pytest

from app.cli.parser import main

pytestmark = pytest.mark.usefixtures("tried")
DECIDED = {"choice", "probe", "text_gain_ms", "draft_gain_ms", "expected_tokens", "expected_ms", "plain_ms", "token_ms"}
CAME = {"token", "proposed", "accepted", "tokens", "ms"}


def run(trace: Path, *more: str) -> int:
    words = ["run", "--prompt", "Repeat: one two three, one two three, one two three", "--temperature", "0"]
    return main([*words, "--max-tokens", "48", "--ignore-eos", "--json", "--trace", str(trace), *more])


@pytest.mark.parametrize(
    ("more", "keys"),
    [
        (("--mode", "auto"), DECIDED | CAME),
        (("--mode", "draft", "--depth", "3"), CAME),
        (("--mode", "off"), CAME),
    ],
    ids=["auto", "fixed depth", "plain"],
)
def test_every_pass_has_a_line(
    more: tuple[str, ...], keys: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "trace.jsonl"
    assert run(trace, *more) == 0
    result = json.loads(capsys.readouterr().out)
    lines = [json.loads(line) for line in trace.read_text("utf-8").splitlines()]
    assert len(lines) == result["passes"]
    assert all(set(line) == keys for line in lines)
    assert sum(line["proposed"] for line in lines) == result["proposed"]
    assert sum(line["accepted"] for line in lines) == result["accepted"]
    begun = [line["token"] for line in lines]
    assert begun == [sum(line["tokens"] for line in lines[:i]) for i in range(len(lines))]


def test_an_unwritable_trace_is_reported_before_loading(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path / "none" / "trace.jsonl") == 1
    assert "trace.jsonl cannot be opened: " in json.loads(capsys.readouterr().out)["error"]["message"]
