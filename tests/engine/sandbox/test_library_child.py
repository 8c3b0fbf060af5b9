"""What the helper says of the llama.cpp that is installed."""

from __future__ import annotations

import json

import pytest

from engine.llama import library
from engine.sandbox import library_child


def test_its_facts_are_those_of_the_library_in_this_process() -> None:
    facts = library_child.library_facts()
    assert facts["libraries"] == [loaded.description for loaded in library.loaded_libraries()]
    assert any("libllama" in text or "llama" in text for text in facts["libraries"])
    assert facts["cores"] == library.physical_cores()
    assert facts["supports_gpu"] is library.supports_gpu()
    assert "CPU" in facts["system_info"]


def test_they_are_one_line_of_json(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_child, "end_with_parent", lambda: None)
    monkeypatch.setattr(library_child, "quiet_crashes", lambda: None)
    assert library_child.main([]) == 0
    assert json.loads(capsys.readouterr().out) == library_child.library_facts()
