"""`paceline check` forecasts a pair's gain as soon as there are measurements to base it on."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.cli.parser import main
from app.core.domain.speed.pair_speed import RaceSpeed
from app.core.paths import builtin_draft, builtin_target, find_paths
from app.core.storage.pair_speeds import PairSpeeds
from tests.app.core.hub.pairs.test_speed_forecasts import keep_passes
from tests.engine.gguf_factory import GgufFile, Kind, tiny_llama
from tests.engine.heads.head_factory import eagle3_for, qwen35_with_mtp
from tests.engine.vision_factory import write_pair

PAIR = (str(builtin_target()), str(builtin_draft()))


def expected(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main(["check", "--json", *PAIR]) == 0
    told = json.loads(capsys.readouterr().out)["expected"]
    assert isinstance(told, dict)
    return told


def test_nothing_is_promised_where_nothing_was_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *PAIR]) == 0
    assert capsys.readouterr().out.count("\n") == 2, "that they match, and that rows are exact"


def test_a_range_then_what_was_measured(capsys: pytest.CaptureFixture[str]) -> None:
    keep_passes(find_paths().cache, builtin_target(), 4.0)
    keep_passes(find_paths().cache, builtin_draft(), 0.2)
    assert main(["check", *PAIR]) == 0
    text = capsys.readouterr().out
    assert "Expect about" in text
    told = expected(capsys)
    assert told["basis"] == "model"
    assert told["measured"]["races"] == []
    gain = told["gain"]
    assert 1.0 <= gain["low"] < gain["high"] <= 1.601 * gain["low"]
    race = RaceSpeed(1.0, "auto", 0.0, 2.5, 2.4, 2.6, 3)
    PairSpeeds(find_paths().pair_speeds_file).add_race(builtin_target().stem, builtin_draft().stem, race)
    assert expected(capsys)["measured"]["races"][0]["speedup"] == 2.5
    assert main(["check", *PAIR]) == 0
    assert "Measured here: 2.50×" in capsys.readouterr().out


def test_a_draft_that_fits_and_does_not_pay_has_one_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    keep_passes(find_paths().cache, builtin_target(), 4.0)
    keep_passes(find_paths().cache, builtin_draft(), 3.8)
    assert main(["check", *PAIR]) == 0
    first, *others = capsys.readouterr().out.splitlines()
    assert (
        first
        == f"{builtin_draft().name} could draft for {builtin_target().name}, but it would slow the target down here."
    )
    assert any("would slow this model down here" in line for line in others)
    assert not any("can draft" in line or "with drafting" in line for line in others)
    assert main(["check", "--json", *PAIR]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["verdict"]["matches"], facts["would_be_slower"]) == (True, True)


def test_what_was_measured_decides_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    keep_passes(find_paths().cache, builtin_target(), 4.0)
    keep_passes(find_paths().cache, builtin_draft(), 0.2)
    for speedup, ending in ((0.9, "but it would slow the target down here."), (1.2, "their vocabularies match.")):
        race = RaceSpeed(speedup, "auto", 0.0, speedup, None, None, 3)
        PairSpeeds(find_paths().pair_speeds_file).add_race(builtin_target().stem, builtin_draft().stem, race)
        assert main(["check", *PAIR]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].endswith(ending)
        assert f"Measured here: {speedup:.2f}×" in "".join(lines)


def test_what_heads_gain_is_reported_with_what_that_rests_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    itself = qwen35_with_mtp().write(tmp_path / "itself.gguf")
    target, head = tiny_llama().write(tmp_path / "target.gguf"), eagle3_for().write(tmp_path / "head.gguf")
    alone, pair = [str(itself)], [str(target), str(head)]
    for words in (alone, pair):
        assert main(["check", *words]) == 0
        assert "Expect" not in capsys.readouterr().out, "nothing was measured yet"
    for words in (alone, pair):
        keep_passes(find_paths().cache, Path(words[0]), 4.0)
        assert main(["check", *words]) == 0
        text = capsys.readouterr().out
        assert ("Expect about" in text) is (words is alone)  # the other head is too slow for a forecast
        assert "The range comes from published figures" in text
        assert main(["check", "--json", *words]) == 0
        assert 0.0 < json.loads(capsys.readouterr().out)["expected"]["gain"]["draft_cost"] < 1.5


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
