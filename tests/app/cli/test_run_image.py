"""Tests `paceline run --image`: a picture for a vision model, and errors in one sentence."""

import json
import shutil
from pathlib import Path

import pytest

from app.cli.parser import main
from tests.engine.sandbox.pictures import broken, encoded, sample
from tests.engine.vision_factory import side_file, text_model, write_pair


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """A PNG file."""
    path = tmp_path / "photo.png"
    path.write_bytes(encoded(sample(), "PNG"))
    return path


pytestmark = pytest.mark.usefixtures("tried")


def run(*words: str) -> int:
    """Run the command for a short answer; returns the exit code."""
    return main(
        [
            "run",
            "--mode",
            "off",
            "--temperature",
            "0",
            "--max-tokens",
            "4",
            "--ignore-eos",
            "--prompt",
            "What is ab?",
            *words,
        ]
    )


@pytest.mark.parametrize("family", ["llava", "gemma3", "qwen2vl"])
def test_a_picture_reaches_the_model(
    tmp_path: Path, image: Path, family: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its embeddings count as prompt tokens; the projector file beside the model is found."""
    pair = write_pair(tmp_path, family)
    assert run("--model", str(pair.model), "--json") == 0
    without = json.loads(capsys.readouterr().out)
    assert run("--model", str(pair.model), "--json", "--image", str(image), "--image", str(image)) == 0
    seen = json.loads(capsys.readouterr().out)
    assert seen["prompt_tokens"] > without["prompt_tokens"] + 10
    if family != "gemma3":  # gemma3's tiny model always gives the same answer
        assert seen["token_ids"] != without["token_ids"]
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    shutil.move(pair.side, moved / "side.gguf")
    named = ("--mmproj", str(moved / "side.gguf"), "--image", str(image), "--image", str(image))
    assert run("--model", str(pair.model), "--json", *named) == 0
    assert json.loads(capsys.readouterr().out)["token_ids"] == seen["token_ids"]


def test_modes_answer_the_same(tmp_path: Path, image: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also with a draft without vision."""
    pair, draft = write_pair(tmp_path, "llava"), text_model("llava", seed=4).write(tmp_path / "d.gguf")
    texts = set()
    for mode in ("off", "ngram", "suffix", "draft", "auto"):
        words = ("--mode", mode, "--image", str(image), "--draft", str(draft), "--max-tokens", "30")
        assert run("--model", str(pair.model), "--json", *words) == 0
        texts.add(tuple(json.loads(capsys.readouterr().out)["token_ids"]))
    assert len(texts) == 1


def test_a_model_without_a_side_file_is_told_before_it_is_loaded(
    tmp_path: Path, image: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also if the only projector file belongs to another model."""
    model = text_model("llava").write(tmp_path / "model.gguf")
    assert run("--model", str(model), "--image", str(image)) == 1
    assert "There is no matching side file (mmproj) beside model.gguf" in capsys.readouterr().err
    other = side_file("llava", n_embd=32).write(tmp_path / "mmproj-other.gguf")
    assert run("--model", str(model), "--image", str(image), "--mmproj", str(other)) == 1
    assert "mmproj-other.gguf belongs to another model" in capsys.readouterr().err
    assert run("--model", str(model), "--image", str(image), "--mmproj", str(tmp_path / "nothing.gguf")) == 1
    assert "nothing.gguf" in capsys.readouterr().err


def test_broken_pictures_are_told_in_one_sentence(
    tmp_path: Path, image: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error comes before a model is loaded."""
    for number, data in enumerate(list(broken().values())[:3]):
        bad = tmp_path / f"bad{number}.png"
        bad.write_bytes(data)
        assert run("--image", str(image), "--image", str(bad)) == 1
        assert f"“bad{number}.png”" in capsys.readouterr().err
    assert run("--image", str(image), "--raw") == 1
    assert "leave out --image or --raw" in capsys.readouterr().err
