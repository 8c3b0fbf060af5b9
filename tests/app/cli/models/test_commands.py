"""Tests `paceline models ...` with a real HTTP hub; only HF_ENDPOINT differs from normal use."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.cli.parser import main
from app.core.domain.settings.values import Settings
from app.core.hub.client import HubClient
from app.core.paths import builtin_draft, builtin_target, find_paths
from app.core.storage.settings_file import write_settings
from tests.app.core.hub.conftest import hub
from tests.app.core.hub.link_server import LinkServer, file
from tests.app.core.hub.loopback import Fault, LoopbackHub
from tests.engine.vision_factory import write_pair

__all__ = ["hub"]

REPO, DRAFTS = "tiny/target-GGUF", "tiny/draft-GGUF"
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def filled(hub: LoopbackHub) -> LoopbackHub:
    hub.add_file(REPO, "tiny-target-Q8_0.gguf", builtin_target())
    hub.add_file(REPO, "tiny-target-F16-00001-of-00002.gguf", b"GGUF" + b"1" * 1000)
    hub.add_file(REPO, "tiny-target-F16-00002-of-00002.gguf", b"GGUF" + b"2" * 1000)
    hub.add_file(REPO, "mmproj-F16.gguf", b"GGUF" + b"3" * 1000)
    hub.describe(REPO, downloads=4321, tags=["license:mit"])
    hub.add_file(DRAFTS, "tiny-draft-Q8_0.gguf", builtin_draft())
    return hub


def asked(capsys: Capture, *words: str, code: int = 0) -> dict[str, Any]:
    assert main(["models", *words, "--json"]) == code
    facts = json.loads(capsys.readouterr().out)
    assert isinstance(facts, dict)
    return facts


def test_search_show_pull_list_chat_remove(filled: LoopbackHub, capsys: Capture) -> None:
    assert [model["repo_id"] for model in asked(capsys, "search", "tiny")["models"]] == [REPO, DRAFTS]
    shown = asked(capsys, "show", REPO)
    assert {model["name"]: (model["kind"], len(model["files"])) for model in shown["models"]} == {
        "tiny-target-Q8_0": ("model", 1),
        "tiny-target-F16": ("model", 2),
        "mmproj-F16": ("mmproj", 1),
    }
    pulled = asked(capsys, "pull", REPO, "q8_0", "--draft", DRAFTS, "tiny-draft-Q8_0.gguf")
    assert pulled["model"]["draft"] == "tiny-draft-Q8_0"
    assert Path(pulled["model"]["files"][0]).read_bytes() == builtin_target().read_bytes()
    assert Path(pulled["model"]["files"][0]).is_relative_to(find_paths().models)
    listed = asked(capsys, "list")
    assert [model["name"] for model in listed["models"]] == ["tiny-draft-Q8_0", "tiny-target-Q8_0"]
    assert (
        main(["run", "--model", "tiny-target-Q8_0", "--mode", "draft", "--depth", "3", "--max-tokens", "8", "--json",
              "--prompt", "Hello", "--temperature", "0"])
        == 0
    )  # fmt: skip
    out = capsys.readouterr()
    assert json.loads(out.out)["proposed"] > 0
    assert "with its draft tiny-draft-Q8_0" in out.err
    assert asked(capsys, "list")["models"][1]["last_used"]
    assert asked(capsys, "remove", "tiny-target-Q8_0")["freed_bytes"] == builtin_target().stat().st_size
    assert [model["name"] for model in asked(capsys, "list")["models"]] == ["tiny-draft-Q8_0"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["show", "no/such"], "no/such"),
        (["show", "../x"], "owner/name"),
        (["pull", REPO, "Q2_K"], "has no model"),
        (["pull", REPO, "mmproj-F32"], "has no model"),
        (["remove", "nothing"], "no model"),
        (["import", "nothing.gguf"], "does not exist"),
    ],
)
def test_a_failure_is_one_sentence_and_exit_1(
    filled: LoopbackHub, capsys: Capture, words: list[str], sentence: str
) -> None:
    assert main(["models", *words]) == 1
    out = capsys.readouterr()
    assert out.out == ""
    assert sentence in out.err
    assert out.err.count("\n") == 1
    assert sentence in asked(capsys, *words, code=1)["error"]["message"]


def test_a_gated_model_says_what_to_do(filled: LoopbackHub, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    filled.gated[REPO] = "hf_" + "goodtoken"
    assert main(["models", "pull", REPO, "Q8_0"]) == 1
    assert "HF_TOKEN" in capsys.readouterr().err
    monkeypatch.setenv("HF_TOKEN", "hf_" + "goodtoken")
    assert main(["models", "pull", REPO, "Q8_0"]) == 0


def test_a_changed_library_folder(filled: LoopbackHub, capsys: Capture, tmp_path: Path) -> None:
    paths = find_paths()
    settings, complaints = Settings().changed({"models_dir": str(tmp_path / "elsewhere")})
    assert complaints == ()
    write_settings(paths.settings_file, settings)
    pulled = asked(capsys, "pull", REPO, "Q8_0")
    assert Path(pulled["model"]["files"][0]).is_relative_to(tmp_path / "elsewhere")


@pytest.fixture
def heard_ctrl_c() -> Iterator[None]:
    """Restore SIGINT for child processes: a background job of a shell ignores it, and children would inherit this."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(os.name != "posix", reason="needs a Ctrl+C that a test can send")
@pytest.mark.usefixtures("heard_ctrl_c")
def test_ctrl_c_keeps_the_part_and_the_same_command_goes_on(filled: LoopbackHub, paceline_home: Path) -> None:
    data = b"GGUF" + os.urandom(1000) * 4000
    filled.add_file(REPO, "big-Q6_K.gguf", data)
    filled.faults.append(Fault(stall_after=2_000_000))
    command = [sys.executable, "-m", "app", "models", "pull", REPO, "Q6_K"]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    part = find_paths().models / REPO / "big-Q6_K.gguf.part"
    end = time.monotonic() + 60
    while not (part.exists() and part.stat().st_size >= 2_000_000):
        assert child.poll() is None
        assert time.monotonic() < end
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    _, told = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "the same command continues" in told
    assert "Traceback" not in told
    assert part.stat().st_size == 2_000_000
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "4.0 MB" in again.stdout
    assert (find_paths().models / REPO / "big-Q6_K.gguf").read_bytes() == data
    assert filled.sent(REPO, "big-Q6_K.gguf") == len(data)
    assert HubClient().endpoint == filled.url


def test_what_other_programs_have_is_offered_with_its_place(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    found = tmp_path / "cache" / "found-Q4_0.gguf"
    found.parent.mkdir()
    found.write_bytes(b"GGUF" + b"0" * 2000)
    assert main(["models", "list"]) == 0
    told = capsys.readouterr().out
    offer = told.partition("to be added with `paceline models import PATH`:\n")[2].splitlines()[0]
    assert offer.split("  ") == ["found-Q4_0", "2.0 kB", "Hugging Face cache", str(found)]
    assert asked(capsys, "import", str(found))["files"] == [str(found)]
    assert main(["models", "list"]) == 0
    assert "to be added with" not in capsys.readouterr().out


def test_one_of_several_files_must_be_named_and_a_shard_is_refused(hub: LoopbackHub, capsys: Capture) -> None:
    for name in ("a-Q8_0.gguf", "b-Q8_0.gguf", "cut-Q2_K-00001-of-00002.gguf"):
        hub.add_file(REPO, name, b"GGUF" + bytes(100))
    assert main(["models", "pull", REPO, "q8_0"]) == 1
    assert "may be one of 2 models. Name one: a-Q8_0.gguf, b-Q8_0.gguf." in capsys.readouterr().err
    assert main(["models", "pull", REPO, "q2_k"]) == 1
    assert "cut-Q2_K is incomplete on the hub: parts are missing." in capsys.readouterr().err
    assert not list(find_paths().models.rglob("*.gguf*"))


def test_an_import_says_of_half_a_file_that_it_is_one(tmp_path: Path, capsys: Capture) -> None:
    half = tmp_path / "half.gguf"
    half.write_bytes(builtin_target().read_bytes()[:5000])
    assert main(["models", "import", str(half)]) == 0
    assert "ends in the middle of its header" in capsys.readouterr().err
    assert main(["models", "import", str(builtin_target())]) == 0
    assert capsys.readouterr().err == ""


def test_the_list_names_what_a_model_sees_with(tmp_path: Path, capsys: Capture) -> None:
    pair = write_pair(tmp_path, "llava")
    assert main(["models", "import", str(pair.model)]) == 0
    capsys.readouterr()
    assert [one["side_file"] for one in asked(capsys, "list")["models"]] == [pair.side.name]
    assert main(["models", "list"]) == 0
    assert f"sees pictures with {pair.side.name}" in capsys.readouterr().out


BYTES = builtin_target().read_bytes()


def test_a_link_is_pulled_and_its_model_has_a_name(hub: LoopbackHub, capsys: Capture) -> None:
    with LinkServer() as server:
        server.answers["/tiny-Q8_0.gguf"] = file(BYTES)
        assert main(["models", "pull", server.url("/tiny-Q8_0.gguf"), "--json"]) == 0
    read = capsys.readouterr()
    facts = json.loads(read.out)["model"]
    assert (facts["name"], facts["source"]) == ("tiny-Q8_0", "127.0.0.1")
    assert Path(facts["files"][0]).read_bytes() == BYTES
    assert not hub.requests


def test_a_link_to_a_server_that_does_not_answer_fails_at_once(capsys: Capture) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        assert main(["models", "pull", f"http://127.0.0.1:{unused.getsockname()[1]}/tiny-Q8_0.gguf"]) == 1
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1
    assert told[0].startswith("paceline: The server cannot be reached: Could not connect to 127.0.0.1.")
