"""`paceline check` tells whether a draft works, what was measured with it, and whether rows are exact."""

import json
from pathlib import Path

import pytest

from app.cli.parser import main
from app.core.domain.speed.pair_speed import RaceSpeed
from app.core.paths import builtin_draft, builtin_target, find_paths
from app.core.storage.pair_speeds import PairSpeeds
from tests.engine.gguf_factory import GgufFile, Kind, tiny_llama
from tests.engine.heads.head_factory import eagle3_for
from tests.engine.vision_factory import write_pair

PAIR = (str(builtin_target()), str(builtin_draft()))


def test_what_was_measured_follows_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *PAIR]) == 0
    assert capsys.readouterr().out.count("\n") == 2, "that they match, and that rows are exact"
    race = RaceSpeed(1.0, "auto", 0.0, 2.5, 2.4, 2.6, 3)
    PairSpeeds(find_paths().pair_speeds_file).add_race(builtin_target().stem, builtin_draft().stem, race)
    assert main(["check", "--json", *PAIR]) == 0
    assert json.loads(capsys.readouterr().out)["measured"]["races"][0]["speedup"] == 2.5
    assert main(["check", *PAIR]) == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.endswith("their vocabularies match.")
    assert second.startswith("Measured here: 2.50×")


def test_what_has_no_heads_or_a_head_of_another_model_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(builtin_target())]) == 0, "it can be used"
    text = capsys.readouterr().out
    assert text.startswith(f"{builtin_target().name} can be used.\n")
    assert "has no next-token layers (MTP)" in text
    assert main(["check", str(builtin_target()), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["verdict"]["matches"] is False
    head = eagle3_for(width=96).write(tmp_path / "head.gguf")
    assert main(["check", str(tiny_llama().write(tmp_path / "target.gguf")), str(head)]) == 1
    assert capsys.readouterr().out.startswith("head.gguf cannot draft for target.gguf: ")
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\x03" * 100)
    assert main(["check", str(broken), "--json"]) == 1
    assert "broken.gguf" in json.loads(capsys.readouterr().out)["error"]["message"]


@pytest.mark.parametrize("draft", [True, False])
def test_what_a_target_sees_with_is_named_with_its_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], draft: bool
) -> None:
    pair = write_pair(tmp_path, "llava")
    words = [str(pair.model), *([str(pair.model)] if draft else [])]
    main(["check", *words])
    assert "sees pictures with mmproj-tiny-llava.gguf, which takes about 268" in capsys.readouterr().out
    main(["check", "--json", *words])
    assert json.loads(capsys.readouterr().out)["side_file"] == str(pair.side)
    pair.side.unlink()
    main(["check", *words])
    assert "sees" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tokenizer__chat_template": (Kind.STRING, "{% for m in messages %}")}, "chat template"),
        ({"general__architecture": (Kind.STRING, "no-such-thing")}, "to download the file again would not help"),
    ],
)
def test_what_run_refuses_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], changes: dict[str, object], words: str
) -> None:
    file = tiny_llama().with_metadata(**changes)
    if "general__architecture" in changes:
        metadata = {key.replace("llama.", "no-such-thing."): value for key, value in file.metadata.items()}
        file = GgufFile(metadata, file.tensors)
    path = str(file.write(tmp_path / "odd.gguf"))
    told = []
    for command in (["check", path], ["check", path, str(builtin_draft())], ["run", "--model", path, "--prompt", "Hi"]):
        assert main(command) == 1
        told.append(capsys.readouterr().err)
    assert all(words in each for each in told), told


def test_what_a_file_lacks_is_said_by_check_and_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tiny_llama().write(tmp_path / "bare.gguf"))
    assert main(["check", path]) == 0
    assert "bare.gguf has no chat template" in capsys.readouterr().out
    assert main(["run", "--model", path, "--prompt", "Hi", "--max-tokens", "2", "--mode", "off"]) == 0
    assert "bare.gguf has no chat template" in capsys.readouterr().err
