"""Tests the whole of `paceline race`: the built-in pair in lanes, reports, and errors in one sentence."""

import json
import re
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli.output import INTERRUPTED
from app.cli.parser import main, make_parser
from app.cli.race import _request
from app.core.benchmark.race import RacePlan, Rounds
from app.core.domain.speed.races import LaneProgress
from app.core.paths import builtin_target, find_paths
from app.core.storage.pair_speeds import PairSpeeds
from tests.engine.gguf_factory import Kind, tiny_llama

pytestmark = pytest.mark.usefixtures("tried")
Capture = pytest.CaptureFixture[str]
QUESTION = ["race", "--prompt", "Repeat: red, green, blue.", "--max-tokens", "16", "--ctx", "512"]


def test_two_lanes_answer_the_same_question_and_the_report_is_written(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "race.json"
    assert main([*QUESTION, "--rounds", "2", "--json", str(out)]) == 0
    told = capsys.readouterr()
    assert "\x1b" not in told.out + told.err
    assert [line for line in told.out.splitlines() if line.startswith(("Round", "All"))] == [
        "Round 1", "Round 2", "All 2 rounds: tokens and rollbacks are sums",
    ]  # fmt: skip
    verdict = told.out.splitlines()[-2]
    assert re.match(r"auto: \d+\.\d\d× the speed of plain( \(.* over 2 rounds\)|\. The rounds were too)", verdict)
    report = json.loads(out.read_text(encoding="utf-8"))
    assert f"auto: {report['verdicts'][0]['ratio']:.2f}×" in verdict
    assert [lane["choice"]["mode"] for lane in report["lanes"]] == ["off", "auto"]
    assert len({lane["stats"]["tokens"] for lane in report["lanes"]}) == 1
    assert (report["temperature"], report["num_rounds"], report["draft"]) == (0.0, 2, "Paceline tiny draft")
    (pair,) = PairSpeeds(find_paths().pair_speeds_file).all()
    assert (pair.target, len(pair.races)) == (builtin_target().stem, 1)


def test_the_temperature_is_0_without_an_option_or_a_preset() -> None:
    def temperature(*words: str) -> float:
        return _request(make_parser().parse_args([*QUESTION, *words])).sampling.temperature

    assert temperature() == 0.0
    assert temperature("--temperature", "0.7") == 0.7
    assert temperature("--preset", "Creative") > 0.0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--lanes", "off,fast"], "There is no mode fast"),
        (["--json", "nowhere/at/all.json"], "The report cannot be written to"),
        (["--model", str(builtin_target()), "--lanes", "draft"], "The lane draft needs a draft model"),
        (["--model", "missing.gguf"], "missing.gguf"),
    ],
)
def test_what_cannot_be_raced_is_refused_in_one_sentence(words: list[str], sentence: str, capsys: Capture) -> None:
    assert main([*QUESTION, *words]) == 1
    told = capsys.readouterr().err
    assert sentence in told
    assert len(told.strip().splitlines()) == 1


@pytest.mark.parametrize("inexact", ["", "On a GPU."])
def test_answers_that_part_are_a_fault_where_they_must_not(
    inexact: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    whole = Rounds.events

    def with_another_last_token(race: Rounds, *arguments: object) -> Iterator[object]:
        yield from whole(race, *arguments)  # type: ignore[arg-type]
        plain, auto = race.runs
        race.runs[1] = replace(auto, token_ids=(*plain.token_ids[:-1], plain.token_ids[-1] + 1))

    monkeypatch.setattr(Rounds, "events", with_another_last_token)
    monkeypatch.setattr("engine.loading.loading.why_inexact", lambda *_: inexact)
    assert main([*QUESTION, "--rounds", "1"]) == (0 if inexact else 1)
    verdict = capsys.readouterr().out.splitlines()[-2]
    assert re.search(
        r" The answers differ at token \d+" + (r"\. On a GPU\.$" if inexact else r"\. This should not happen: "),
        verdict,
    )


def test_ctrl_c_ends_with_what_there_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture) -> None:
    whole = Rounds.events

    def interrupt_in_round_2(race: Rounds, *arguments: object) -> Iterator[object]:
        for event in whole(race, *arguments):  # type: ignore[arg-type]
            if isinstance(event, LaneProgress) and event.round == 1:
                signal.raise_signal(signal.SIGINT)
            yield event

    monkeypatch.setattr(Rounds, "events", interrupt_in_round_2)
    monkeypatch.setattr("app.core.benchmark.race.RacePlan", lambda rounds: RacePlan(rounds, slice_s=1000.0))
    out = tmp_path / "race.json"
    assert main([*QUESTION, "--json", str(out)]) == INTERRUPTED
    told = capsys.readouterr()
    assert "All 1 round\n" in told.out
    assert json.loads(out.read_text(encoding="utf-8"))["num_rounds"] == 1


def test_a_draft_that_does_not_fit_is_no_race_of_the_rest(tmp_path: Path, capsys: Capture) -> None:
    """The mode auto would answer without the draft, which is not what was requested."""
    mute = tiny_llama().with_metadata(tokenizer__chat_template=(Kind.STRING, "{{ messages[-1].content }}"))
    pair = ["--model", str(builtin_target()), "--draft", str(mute.write(tmp_path / "mute.gguf"))]
    assert main([*QUESTION, *pair]) == 1
    told = capsys.readouterr()
    assert "The lane auto: " in told.err
    assert "Give a draft of the same model family, or leave --draft out." in told.err
    assert told.out == ""
