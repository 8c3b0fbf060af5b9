"""`paceline models verify-catalog` against a hub of this machine: what is printed and written, and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli.models import verify_catalog
from app.cli.parser import main
from tests.app.core.hub.conftest import hub
from tests.app.core.hub.loopback import LoopbackHub
from tests.engine.gguf_factory import GgufFile, tiny_llama
from tests.engine.heads.head_factory import qwen35_with_mtp

__all__ = ["hub"]

ENTRY = """
[[pair]]
key = "{key}"
name = "Tiny"
family = "Tiny"
machine = "laptop"
good_for = "tests"
drafting = "{drafting}"
verified = false

[pair.target]
repo = "tiny/{key}-GGUF"
file = "{key}-Q8_0.gguf"
quantization = "Q8_0"
licence = "mit"
size_bytes = {size}
"""


@pytest.fixture(name="catalog")
def fixture_catalog(hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LoopbackHub:
    """Two entries that are on the hub: "heads", which has some, and "plain", which has none."""
    models: dict[str, tuple[str, GgufFile]] = {
        "heads": ("heads inside", qwen35_with_mtp()),
        "plain": ("text", tiny_llama()),
    }
    text = "format = 2\n"
    for key, (drafting, file) in models.items():
        data = file.to_bytes()
        hub.add_file(f"tiny/{key}-GGUF", f"{key}-Q8_0.gguf", data)
        hub.describe(f"tiny/{key}-GGUF", tags=["license:mit"])
        text += ENTRY.format(key=key, drafting=drafting, size=len(data))
    (tmp_path / "catalog.toml").write_text(text, "utf-8")
    monkeypatch.setattr(verify_catalog, "assets_dir", lambda: tmp_path)
    return hub


def test_what_was_found_is_printed_and_written(
    catalog: LoopbackHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "found.json"
    assert main(["models", "verify-catalog", "--json", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "heads: ok. The hub has the model as listed here."
    assert lines[-1] == "2 of 2 confirmed."
    written = json.loads(out.read_text("utf-8"))
    assert written["hub"] == catalog.url
    heads, plain = written["entries"]
    assert (heads["is_confirmed"], heads["target"]["num_next_token_layers"], heads["draft"]) == (True, 1, None)
    assert (plain["key"], plain["status"], plain["target"]["architecture"]) == ("plain", "there", "llama")


def test_an_entry_that_is_gone_is_reported_and_is_no_success(
    catalog: LoopbackHub, capsys: pytest.CaptureFixture[str]
) -> None:
    del catalog.repos["tiny/plain-GGUF"]
    assert main(["models", "verify-catalog"]) == 1
    output = capsys.readouterr().out
    assert "plain: gone. tiny/plain-GGUF is no longer on the hub." in output
    assert output.endswith("1 of 2 confirmed.\n")


def test_single_entries_can_be_asked_for(catalog: LoopbackHub, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "verify-catalog", "heads"]) == 0
    assert capsys.readouterr().out.endswith("1 of 1 confirmed.\n")
    assert not any("plain" in seen.path for seen in catalog.requests)
    assert main(["models", "verify-catalog", "heads", "no-such"]) == 1
    assert "The catalog has no entry no-such. It has heads, plain." in capsys.readouterr().err


def test_a_hub_that_may_not_be_asked_confirms_nothing(
    catalog: LoopbackHub, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert main(["models", "verify-catalog"]) == 1
    output = capsys.readouterr().out
    assert "heads: unknown. It could not be checked: HF_HUB_OFFLINE is set" in output
    assert output.endswith("0 of 2 confirmed.\n")
    assert not catalog.requests


def test_a_file_that_cannot_be_written_is_one_sentence(
    catalog: LoopbackHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert catalog.repos
    assert main(["models", "verify-catalog", "heads", "--json", str(tmp_path / "no" / "such.json")]) == 1
    assert capsys.readouterr().err.count("\n") == 1
