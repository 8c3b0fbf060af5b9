"""Tests `paceline models pairs`: drafts for a target with reasons, the recommended pairs, and exit codes."""

import json
from pathlib import Path

import pytest

from app.cli.parser import main
from app.core.hub.library.library import Library
from app.core.paths import find_paths
from tests.engine.gguf_factory import Kind, tiny_llama
from tests.engine.heads.head_factory import eagle3_for, qwen35_with_mtp


@pytest.fixture(name="target")
def fixture_target(tmp_path: Path) -> Path:
    """A target; the library also has a draft that matches and one that does not."""
    paths = find_paths()
    library = Library(paths.models, paths.library_file)
    draft = tiny_llama(n_ff=32)
    for name, file in {
        "target": tiny_llama(n_ff=9600),
        "draft": draft,
        "stranger": draft.with_metadata(tokenizer__ggml__eos_token_id=(Kind.UINT32, 9)),
    }.items():
        library.add(file.write(tmp_path / f"{name}.gguf"))
    return tmp_path / "target.gguf"


def test_drafts_of_the_library(target: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "pairs", str(target), "--offline"]) == 0
    output = capsys.readouterr().out
    assert output.startswith("draft  (on this computer, 0.00 GB, ")
    assert "\nstranger  (on this computer, 0.00 GB, " in output
    assert "Its vocabulary differs and has 100% of the target's tokens.\n" in output
    assert "2 of 2 can draft for target." in output


def test_heads_for_a_target_and_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = find_paths()
    library = Library(paths.models, paths.library_file)
    large = tiny_llama(n_ff=9600)
    library.add(eagle3_for(large).write(tmp_path / "eagle3-tiny.gguf"))
    target = large.write(tmp_path / "target.gguf")
    assert main(["models", "pairs", str(target), "--offline"]) == 0
    assert "It is a head made for such a model (EAGLE-3).\n" in capsys.readouterr().out
    target = qwen35_with_mtp().write(tmp_path / "itself.gguf")
    assert main(["models", "pairs", str(target), "--offline", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["words"].startswith("itself drafts for itself: it has a next-token layer (MTP).")
    assert [one["head"] for one in told["drafts"]] == ["EAGLE-3"]


def test_a_model_of_the_library_is_found_by_its_name(target: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "pairs", target.stem, "--offline", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [(one["name"], one["coverage"]) for one in answer["drafts"]] == [("draft", None), ("stranger", 1.0)]
    assert answer["target"] == str(target)
    assert answer["drafts"][0]["cost_share"] < 0.1
    assert answer["words"]


def test_offline_mode_is_honoured(
    target: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert main(["models", "pairs", str(target)]) == 0
    assert "The hub could not be searched: HF_HUB_OFFLINE is set" in capsys.readouterr().out


def test_the_recommended_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "pairs", "--json"]) == 0
    pairs = json.loads(capsys.readouterr().out)["pairs"]
    assert len(pairs) >= 18
    assert {"target", "draft", "drafting", "verified", "speedup"} <= pairs[0].keys()
    assert all((pair["draft"] is None) == (pair["drafting"] in ("heads inside", "text")) for pair in pairs)
    assert main(["models", "pairs"]) == 0
    output = capsys.readouterr().out
    assert "Llama 3.1 8B  (laptop, 5.73 GB)" in output
    assert "1.71 times as fast elsewhere" in output
    assert "  draft  none needed: next-token layers (MTP) in the target's own file\n" in output
    assert "  head   ggml-org/gpt-oss-20b-GGUF eagle3-gpt-oss-20b-Q8_0.gguf" in output
