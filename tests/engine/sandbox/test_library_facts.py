"""Tests the helper's information about the installed llama.cpp."""

from pathlib import Path

import pytest

from engine.errors import DeviceError, NativeLibraryError
from engine.llama import library
from engine.llama.devices import find_gpus
from engine.sandbox import library_facts
from engine.sandbox.library_facts import list_devices
from tests.engine.warm_helpers import run_instead


def test_its_facts_are_those_of_the_library_in_this_process() -> None:
    facts = library_facts.library_facts()
    assert facts["libraries"] == [loaded.description for loaded in library.loaded_libraries()]
    assert any("libllama" in text or "llama" in text for text in facts["libraries"])
    assert facts["cores"] == library.physical_cores()
    assert tuple(facts["gpu_backends"]) == library.gpu_backends()
    assert "CPU" in facts["system_info"]


def test_a_library_that_cannot_be_loaded_is_told_in_its_own_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(_cache_dir: Path | None) -> dict[str, object]:
        raise NativeLibraryError("libllama.so: cannot open.")

    monkeypatch.setattr(library_facts, "library_facts", fail)
    assert library_facts.report_library([str(tmp_path)]) == {"error": "libllama.so: cannot open."}


ENDS = {
    "print('a line'); print('{\"cores\": 3}')": {"cores": 3},
    "print('[3]')": {"error": "its process ended with status 0 and without an answer"},
    "print('no json')": {"error": "its process ended with status 0 and without an answer"},
    "raise SystemExit(3)": {"error": "its process ended with status 3 and without an answer"},
    "raise SystemExit('libllama.so: cannot open')": {"error": "libllama.so: cannot open"},
    "import time; time.sleep(60)": {"error": "it did not load within 1 seconds"},
}


@pytest.mark.parametrize(("code", "told"), ENDS.items(), ids=range(len(ENDS)))
def test_however_the_child_ends_something_is_told(
    code: str, told: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_instead(monkeypatch, code)
    assert library_facts.query_llama_cpp(limit_s=1.0 if "sleep" in code else 30.0) == told


def test_a_child_that_cannot_be_started_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("engine.sandbox.helper.child_command", lambda *_: [str(tmp_path / "no such program")])
    assert library_facts.query_llama_cpp() == {"error": "No such file or directory"}


def test_it_lists_what_this_build_finds(tmp_path: Path) -> None:
    assert [one.name for one in list_devices(tmp_path)] == [one.name for one in find_gpus()]


def test_a_device_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="CUDA99"):
        list_devices(tmp_path, ("CUDA99",))
