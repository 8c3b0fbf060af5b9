"""`paceline heads train`: from chats to a file and a verdict, going on, and what is refused in one sentence."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from app.cli.parser import main
from tests.app.cli.test_race import Terminal

TARGET = Path(__file__).parents[3] / "assets" / "models" / "paceline-tiny-target.gguf"
Capture = pytest.CaptureFixture[str]


@pytest.fixture(name="home", autouse=True)
def fixture_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PACELINE_HOME", str(tmp_path / "home"))


@pytest.fixture(name="chats")
def fixture_chats(tmp_path: Path) -> Path:
    path = tmp_path / "chats.jsonl"
    talks = (
        {"instruction": f"Count from {i} to {i + 12}.", "output": ", ".join(f"number {n}" for n in range(i, i + 13))}
        for i in range(60)
    )
    path.write_text("\n".join(map(json.dumps, talks)), encoding="utf-8")
    return path


def train(chats: Path, out: Path, *more: str) -> int:
    usual = ("--minutes", "0.01", "--vocabulary", "256", "--heads", "2", *more)
    return main(["heads", "train", str(TARGET), "--chats", str(chats), "--out", str(out), *usual])


def test_heads_are_trained_judged_and_measured(chats: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "heads.gguf"
    assert train(chats, out, "--check", "1", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["path"] == str(out)
    assert report["bytes"] == out.stat().st_size
    assert len(report["right"]) == 2
    assert all(0.0 <= one <= 1.0 for one in report["right"])
    assert report["step_share"] > 0.0
    assert report["reckoned"]["gain"] > 0.0
    assert 0.0 <= report["sure"]["right"] <= 1.0
    assert set(report["measured"]) == {"head", "auto"}
    assert report["curve"][0]["tokens"] == 0
    assert train(chats, out, "--check", "0") == 0
    told = capsys.readouterr().out
    assert "60 texts read: " in told
    assert "tokens seen: right in " in told
    assert f"The heads are {out} (" in told
    assert "of a pass. Reckoned: " in told
    assert "Measured" not in told
    assert "They pay here" in told or "They do not pay here" in told


def test_a_terminal_shows_how_far_it_is(chats: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    assert train(chats, tmp_path / "heads.gguf", "--check", "1") == 0
    assert "answering held-out questions: 100%" in screen.getvalue()
    assert "reading the texts: 100%" in screen.getvalue()
    assert "training: " in screen.getvalue()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"--out": "heads.bin"}, "cannot be written to heads.bin"),
        ({"--chats": "none.txt"}, "none.txt cannot be read"),
        ({"model": "no-such"}, "no-such"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    chats: Path, tmp_path: Path, changed: dict[str, str], words: str, capsys: Capture
) -> None:
    options = {"--chats": str(chats), "--out": str(tmp_path / "heads.gguf")} | changed
    model = options.pop("model", str(TARGET))
    assert main(["heads", "train", model, *(word for pair in options.items() for word in pair)]) == 1
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert not (tmp_path / "heads.gguf").exists()


def test_ctrl_c_says_that_the_same_command_goes_on(
    chats: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("app.cli.heads.Trainer.run", interrupted)
    assert train(chats, tmp_path / "heads.gguf") == 130
    assert "goes on where this one was stopped" in capsys.readouterr().err


@pytest.mark.parametrize("option", [("--heads", "0"), ("--minutes", "none"), ("--vocabulary", "3"), ("--check", "-1")])
def test_wrong_options_are_refused(option: tuple[str, str], chats: Path, tmp_path: Path, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as refused:
        train(chats, tmp_path / "heads.gguf", *option)
    assert refused.value.code == 2
    assert f"argument {option[0]}" in capsys.readouterr().err
