"""Tests `paceline bench`: it measures the built-in pair, writes reports, and reports errors in one sentence."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from app.cli.bench import _prompts
from app.cli.output import INTERRUPTED
from app.cli.parser import main, make_parser
from app.core.benchmark.runner import Runner
from app.core.benchmark.runs import Variant
from app.core.paths import assets_dir, builtin_target
from engine.records import Mode
from engine.session.session import Session
from tests.app.core.benchmark import scripted_server
from tests.exact import require_exact

pytestmark = pytest.mark.usefixtures("tried")
WORKLOADS = assets_dir() / "workloads"
CHAT, MATHS = (["--prompts", str(WORKLOADS / f"{name}.jsonl")] for name in ("chat", "maths"))
SHORT = ["--per-category", "2", "--max-tokens", "12", "--temperature", "0"]


def test_it_measures_and_writes_both_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "report.json"
    options = [*SHORT, "--depths", "auto,3", "--repeat", "2", "--json", str(out)]
    require_exact(str(builtin_target()))
    assert main(["bench", *options]) == 0
    told = capsys.readouterr()
    assert "| **all** | auto |" in told.out
    assert "answers with drafting are identical to those without, token for token." in told.err
    report = json.loads(out.read_text(encoding="utf-8"))
    assert {row["mode"] for row in report["rows"]} == set(Mode) - {Mode.HEAD}  # this pair has no head
    needed = {"category", "temperature", "engine", "mode", "depth", "stats", "tokens_per_second"}
    needed |= {"speedup", "speedup_low", "speedup_high", "tokens_per_pass", "acceptance_rate"}
    assert all(needed <= set(row) for row in report["rows"])
    assert {row["engine"] for row in report["rows"]} == {"paceline"}
    assert report["models"]["draft"]["architecture"] == "llama"
    assert report["settings"]["complete_rounds"] == 2
    fixed = next(row for row in report["rows"] if row["category"] == "all" and row["depth"] == 3)
    assert fixed["auto_over_it_low"] <= fixed["auto_over_it"] <= fixed["auto_over_it_high"]
    assert fixed["speedup_measured_low"] <= fixed["speedup"] <= fixed["speedup_measured_high"]
    assert told.out.startswith("# Benchmark\n")
    for row in report["rows"]:
        if row["category"] != "all":
            label = Variant(row["mode"], row["depth"]).label
            own = [one for one in report["answers"] if (one["compared"], one["category"]) == (label, row["category"])]
            assert len(own) == row["answers"]
            assert {one["round"] for one in own} == {0, 1}
            assert sum(one["stats"]["tokens"] for one in own) == row["stats"]["tokens"]
            assert sum(one["stats"]["decode_s"] for one in own) == pytest.approx(row["stats"]["decode_s"])


def test_answers_that_differ_end_it_with_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("app.cli.bench.answers_verdict", lambda _rows, inexact: (f"They differ. {inexact}", True))
    assert main(["bench", *SHORT, "--per-category", "1", *CHAT, "--modes", "off,suffix"]) == 1
    assert "They differ." in capsys.readouterr().err


@pytest.fixture
def program(tmp_path: Path) -> Path:
    if os.name != "posix":
        pytest.skip("a script stands in for the server, and only POSIX runs one by its path")
    path = tmp_path / "llama-server"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} {scripted_server.__file__} "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    return path


def test_a_peer_takes_part(program: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    options = [*SHORT, *MATHS, *CHAT, "--modes", "auto", "--json", str(out)]
    assert main(["bench", *options, "--peer", str(program)]) == 0
    report = json.loads(out.read_text(encoding="utf-8"))
    rows = [row for row in report["rows"] if row["engine"] == "llama-server" and row["category"] == "all"]
    modes = ["plain", "draft-3", "draft-7", "ngram-simple", "ngram-mod"]
    assert [(row["mode"], row["stats"]["tokens"]) for row in rows] == [(mode, 80) for mode in modes]
    assert all(row["auto_over_it"] > 0 for row in rows)
    assert {row["engine"] for row in report["rows"]} == {"paceline", "llama-server"}


def test_an_interrupted_measurement_is_reported_as_far_as_it_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Runner.run

    def run_and_interrupt(runner: Runner) -> None:
        whole(runner)
        raise KeyboardInterrupt

    monkeypatch.setattr(Runner, "run", run_and_interrupt)
    out = tmp_path / "report.json"
    assert main(["bench", *SHORT, *MATHS, "--modes", "off", "--json", str(out)]) == 130
    assert [row["mode"] for row in json.loads(out.read_text(encoding="utf-8"))["rows"]] == ["off", "off"]


def test_what_was_measured_before_a_peer_died_is_reported(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SCRIPTED_SERVER", "vanishes")
    out = tmp_path / "report.json"
    options = [*SHORT, *MATHS, "--modes", "off", "--json", str(out)]
    assert main(["bench", *options, "--peer", str(program)]) == 1
    assert "llama-server (" in capsys.readouterr().err
    rows = json.loads(out.read_text(encoding="utf-8"))["rows"]
    assert [(row["engine"], row["answers"]) for row in rows] == [("paceline", 1), ("paceline", 1)]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--prompts", "no/such.jsonl"], "no/such.jsonl"),
        (["--depths", "99"], "The draft length must be between 0 and 32"),
        (["--temperature", "0,-1"], "The temperature must be between 0 and 100"),
        (["--json", "/no/such/folder/report.json"], "cannot be written"),
    ],
)
def test_bad_options_are_one_sentence(capsys: pytest.CaptureFixture[str], options: list[str], sentence: str) -> None:
    assert main(["bench", *options]) == 1
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_request_to_end_before_the_first_answer_ends_it_without_a_word(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Peers are ended with Paceline only if the signal is handled like Ctrl+C."""
    monkeypatch.setattr(Session, "measure", lambda _session: signal.raise_signal(number))
    before = signal.getsignal(number)
    assert main(["bench", *SHORT, "--modes", "off"]) == INTERRUPTED
    assert signal.getsignal(number) is before
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "")


Capture = pytest.CaptureFixture[str]


def write(file: Path, *names: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    records = [{"id": name, "category": file.stem, "prompt": f"Say {name}."} for name in names]
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def chosen(*words: str) -> list[str]:
    return [prompt.id for prompt in _prompts(make_parser().parse_args(["bench", *words]))]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two prompt files and unrelated files."""
    place = tmp_path / "my prompts"
    write(place / "poems.jsonl", "p1", "p2")
    write(place / "letters.jsonl", "l1", "l2")
    write(place / "more" / "deeper.jsonl", "d1")
    (place / "folder.jsonl").mkdir()
    (place / "._poems.jsonl").write_bytes(b"\x00\x05\x16\x07")
    (place / "notes.txt").write_text("no prompts", encoding="utf-8")
    return place


def test_a_folder_stands_for_the_jsonl_files_right_in_it_by_name(folder: Path) -> None:
    assert chosen("--prompts", str(folder)) == ["l1", "l2", "p1", "p2"]


def test_folders_and_files_go_together_in_the_order_given(folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "own.jsonl", "o1")
    words = ["--prompts", str(tmp_path / "own.jsonl"), "--prompts", str(folder), "--prompts", str(folder / "more")]
    assert chosen(*words) == ["o1", "l1", "l2", "p1", "p2", "d1"]


def test_what_is_chosen_of_a_folder(folder: Path) -> None:
    assert chosen("--prompts", str(folder), "--per-category", "1") == ["l1", "p1"]


def test_a_folder_without_prompts_is_one_sentence(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no prompts", encoding="utf-8")
    assert main(["bench", "--prompts", str(tmp_path)]) == 1
    said = f"The folder {tmp_path} holds no prompts: it has no file that ends in .jsonl. Change the option or the file."
    assert capsys.readouterr().err.strip() == f"paceline: This cannot be measured: {said}"
