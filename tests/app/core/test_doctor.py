"""Tests the diagnosis of complete systems, and of systems with missing or broken parts."""

import sys
from pathlib import Path

import pytest

from app.core import doctor
from app.core.doctor import Finding, Level, examine, graphics_of_system
from app.core.paths import Paths, find_paths
from engine.sandbox.library_facts import query_llama_cpp

GOMP = "Failed to load shared library: libgomp.so.1: cannot open shared object file"


def found(findings: tuple[Finding, ...], subject: str) -> Finding:
    return next(one for one in findings if one.subject == subject)


def put_in_place_of_llama(folder: Path, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let child processes import this code as llama_cpp."""
    package = folder / "llama_cpp"
    package.mkdir()
    (package / "__init__.py").write_text(code, "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(folder))


@pytest.fixture(name="paths")
def fixture_paths(tmp_path: Path) -> Paths:
    return find_paths({"PACELINE_HOME": str(tmp_path / "home")})


def test_this_machine_lacks_nothing_that_paceline_needs(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    findings = examine(paths)
    assert [one for one in findings if one.level is Level.PROBLEM] == []
    assert "ggml-cpu" in found(findings, "llama.cpp").message
    assert found(findings, "Heads").message.startswith("This build can run heads of the kinds MTP and EAGLE-3")
    assert not paths.data.exists(), "looking makes no folders"


@pytest.mark.parametrize(
    ("code", "message", "advice"),
    [
        (f"raise RuntimeError({GOMP!r})", GOMP, "sudo apt install libgomp1"),
        ("import os; os.kill(os.getpid(), 4)", "SIGILL", "another processor"),
        ("import os; os.abort()", "SIGABRT", "Install Paceline again"),
        ("raise ImportError('no such module')", "no such module", "Install Paceline again"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="a process of Windows does not end by signals")
def test_a_broken_llama_is_reported_and_ends_nothing_here(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, message: str, advice: str
) -> None:
    put_in_place_of_llama(tmp_path, code, monkeypatch)
    finding = found(examine(paths), "llama.cpp")
    assert finding.level is Level.PROBLEM
    assert message in finding.message
    assert advice in finding.advice


def test_functions_that_heads_need_are_named(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    library = query_llama_cpp() | {"heads_lack": {"MTP": [], "EAGLE-3": ["llama_get_embeddings_layer_inp"]}}
    monkeypatch.setattr(doctor, "query_llama_cpp", lambda _cache: library)
    finding = found(examine(paths), "Heads")
    assert finding.level is Level.NOTE
    assert "has no llama_get_embeddings_layer_inp, which EAGLE-3 needs." in finding.message
    assert "MTP" not in finding.message


def test_one_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_in_place_of_llama(tmp_path, "import time; time.sleep(60)", monkeypatch)
    assert query_llama_cpp(limit_s=1.0) == {"error": "it did not load within 1 seconds"}


def test_a_display_without_the_libraries_of_qt(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "has_display", lambda: True)
    monkeypatch.setattr(doctor, "missing_library", lambda: "libxcb-cursor.so.0")
    finding = found(examine(paths), "Display")
    assert finding.level is Level.PROBLEM
    assert finding.advice == "Type: sudo apt install libxcb-cursor0"


def test_no_display_is_no_fault(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    finding = found(examine(paths), "Display")
    assert finding.level is Level.NOTE
    assert "paceline run" in finding.advice


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", "utf-8")
    where = tmp_path / "home"

    def refuse(_folder: Path) -> None:
        raise OSError(30, "Read-only file system")

    finding = doctor._folder("Folder for data", where, refuse)
    assert finding.level is Level.PROBLEM
    assert finding.message == f"{where} cannot be written to: Read-only file system."
    assert "PACELINE_HOME" in finding.advice


def test_a_disk_without_room(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "MIN_FREE_BYTES", 1 << 62)
    finding = found(examine(paths), "Folder for models")
    assert finding.level is Level.PROBLEM
    assert "MB of the disk are free" in finding.message


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ((), []),
        (("proc/driver/nvidia/version",), ["an NVIDIA driver"]),
        (("dev/dri/renderD128",), ["a graphics device"]),
        (("dev/kfd", "dev/dri/renderD128"), ["an AMD compute device", "a graphics device"]),
    ],
)
def test_graphics_that_the_system_shows(tmp_path: Path, files: tuple[str, ...], named: list[str]) -> None:
    for name in files:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    assert graphics_of_system(tmp_path) == named


@pytest.mark.parametrize(
    ("library", "present", "level", "words"),
    [
        ({"gpus": [], "gpu_backends": []}, [], Level.OK, "no GPU is known"),
        ({"gpus": [], "gpu_backends": []}, ["an NVIDIA driver"], Level.NOTE, "built for the processor only"),
        (
            {"gpus": [], "gpu_backends": ["vulkan"]},
            ["an NVIDIA driver"],
            Level.NOTE,
            "GPU (vulkan) and found none",
        ),
        ({"gpus": [], "gpu_backends": ["cuda"]}, [], Level.OK, "GPU (cuda) and found none"),
        (
            {"gpus": [{"name": "Arc", "total_bytes": 8 * 10**9, "free_bytes": 10**9}], "gpu_backends": ["vulkan"]},
            [],
            Level.OK,
            "Arc: 8.0 GB, 1.0 GB free",
        ),
    ],
)
def test_what_is_said_of_gpus(
    monkeypatch: pytest.MonkeyPatch, library: dict[str, object], present: list[str], level: Level, words: str
) -> None:
    monkeypatch.setattr(doctor, "graphics_of_system", lambda: present)
    finding, *_ = doctor._gpus(library)
    assert finding.level is level
    assert words in finding.message


@pytest.mark.parametrize(
    ("verdict", "notice", "level", "words"),
    [
        (None, None, Level.OK, "not tested yet"),
        ("fine", None, Level.OK, "ran correctly"),
        ("processor only", "It failed.", Level.NOTE, "It failed."),
    ],
)
def test_what_is_said_of_the_trial_of_a_gpu(verdict: str | None, notice: str | None, level: Level, words: str) -> None:
    gpu = {"name": "Arc", "total_bytes": None, "free_bytes": None}
    _, finding = doctor._gpus({"gpus": [gpu], "gpu_verdict": verdict, "gpu_notice": notice})
    assert finding.subject == "GPU test"
    assert finding.level is level
    assert words in finding.message
    assert bool(finding.advice) is (level is Level.NOTE)


def test_what_the_library_notes_and_models_that_are_missing_are_told(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = query_llama_cpp() | {"notices": ["A part came from another folder."]}
    monkeypatch.setattr(doctor, "query_llama_cpp", lambda _cache: library)
    monkeypatch.setattr(doctor, "builtin_draft", lambda: tmp_path / "draft.gguf")
    findings = examine(paths)
    assert Finding("llama.cpp", Level.NOTE, "A part came from another folder.") in findings
    missing = found(findings, "Built-in models")
    assert (missing.level, missing.message) == (Level.PROBLEM, "Missing: draft.gguf.")
