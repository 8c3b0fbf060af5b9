"""`paceline run` uses a model's settings and a preset; options on the command line take precedence."""

import shutil
from pathlib import Path

import pytest

from app.cli.parser import main, make_parser
from app.cli.run import make_request
from app.core.domain.settings.fields import SettingValue
from app.core.paths import builtin_target, find_paths
from app.core.storage.model_settings import ModelSettings
from app.core.storage.presets import Presets
from engine.errors import SettingError
from engine.records import ChatRequest, Mode, SamplingParams
from tests.engine.gguf_factory import Kind, tiny_llama
from tests.engine.heads.head_factory import qwen35_with_mtp


def request(*words: str) -> ChatRequest:
    return make_request(make_parser().parse_args(["run", "--prompt", "Hello", *words]))


def remember(model: Path, values: dict[str, SettingValue]) -> None:
    ModelSettings(find_paths().model_settings_file, pytest.fail).set_values(str(model), values)


def test_without_any_layer_all_is_as_usual() -> None:
    asked = request()
    assert (asked.sampling, asked.mode, asked.depth) == (SamplingParams(), Mode.AUTO, None)
    assert (asked.max_tokens, len(asked.messages)) == (None, 1)


def test_the_models_own_values_hold_for_it_alone(tmp_path: Path) -> None:
    model = tmp_path / "m.gguf"
    own: dict[str, SettingValue] = {
        "temperature": 0.2, "mode": "suffix", "depth": 3, "max_tokens": 9, "system_prompt": "Rhyme.",
    }  # fmt: skip
    remember(model, own)
    asked = request("--model", str(model))
    assert (asked.sampling.temperature, asked.mode, asked.depth, asked.max_tokens) == (0.2, Mode.SUFFIX, 3, 9)
    assert asked.messages[0].content == "Rhyme."
    assert request("--model", str(tmp_path / "other.gguf")).sampling == SamplingParams()


def test_what_the_file_recommends_stands_behind_all_that_somebody_chose(tmp_path: Path) -> None:
    file = tiny_llama().with_metadata(
        general__sampling__temp=(Kind.FLOAT32, 0.5), general__sampling__top_k=(Kind.INT32, 20)
    )
    model = file.write(tmp_path / "told.gguf")
    remember(model, {"top_k": 7})
    sampling = request("--model", str(model)).sampling
    assert (sampling.temperature, sampling.top_k) == (0.5, 7)
    assert request("--model", str(model), "--temperature", "0.8").sampling.temperature == 0.8


def test_options_go_before_the_preset_and_the_preset_before_the_model(tmp_path: Path) -> None:
    model = tmp_path / "m.gguf"
    remember(model, {"temperature": 0.2, "top_k": 7, "top_p": 0.5})
    Presets(find_paths().presets_file, pytest.fail).save("Mine", {"temperature": 0.4, "top_k": 8})
    asked = request("--model", str(model), "--preset", "mine", "--temperature", "0.6").sampling
    assert (asked.temperature, asked.top_k, asked.top_p) == (0.6, 8, 0.5)


def test_a_remembered_mode_without_its_draft_gives_way(tmp_path: Path) -> None:
    model = tmp_path / "m.gguf"
    shutil.copyfile(builtin_target(), model)
    remember(model, {"mode": "draft"})
    assert request("--model", str(model)).mode is Mode.AUTO
    assert request("--model", str(model), "--draft", "d.gguf").mode is Mode.DRAFT


def test_a_remembered_depth_does_not_stand_against_plain_decoding(tmp_path: Path) -> None:
    model = tmp_path / "m.gguf"
    remember(model, {"depth": 5})
    assert request("--model", str(model), "--mode", "off").depth is None


def test_an_unknown_preset_is_one_sentence_with_those_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SettingError):
        request("--preset", "nobody's")
    assert main(["run", "--prompt", "Hello", "--preset", "nobody's"]) == 1
    told = "This setting cannot be used: There is no preset nobody's. Choose one of: Precise, Balanced, Creative."
    assert told in capsys.readouterr().err


def test_damaged_preset_and_model_files_are_reported_and_ignored(
    capsys: pytest.CaptureFixture[str],
) -> None:
    paths = find_paths()
    paths.presets_file.parent.mkdir(parents=True, exist_ok=True)
    for file in (paths.presets_file, paths.model_settings_file):
        file.write_text("[broken", encoding="utf-8")
    assert request("--preset", "Creative").sampling.temperature > SamplingParams().temperature
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 2
    assert all(line.startswith("paceline: ") for line in told)


def test_a_mode_that_needs_a_head_is_asked_of_the_model_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    heads, plain, broken = tmp_path / "heads.gguf", tmp_path / "plain.gguf", tmp_path / "broken.gguf"
    qwen35_with_mtp().write(heads)
    tiny_llama().write(plain)
    broken.write_bytes(b"GGUF" + b"\x03" * 100)
    assert request("--model", str(heads), "--mode", "head").mode is Mode.HEAD
    assert main(["run", "--prompt", "Hello", "--model", str(plain), "--mode", "head"]) == 1
    assert "give one with --draft." in capsys.readouterr().err
    assert main(["run", "--prompt", "Hello", "--model", str(broken), "--mode", "head"]) == 1
    told = capsys.readouterr().err
    assert "broken.gguf" in told
    assert "--draft" not in told
