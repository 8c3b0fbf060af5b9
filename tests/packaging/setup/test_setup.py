"""Tests the set-up: when it reinstalls, its output, its commands. Nothing is installed here."""

import io
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = ROOT / "packaging" / "setup"
pytestmark = pytest.mark.skipif(os.name != "posix", reason="make and its scripts are for POSIX systems")


@pytest.fixture
def installer(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    for name in ("install", "progress"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    module = __import__("install")
    monkeypatch.setattr(module, "wanted_kernels", lambda _cmake_args: "")  # independent of this machine's CPU
    return module


# ---- the environment -----------------------------------------------------------------------------------------

PYPROJECT: dict[str, Any] = {
    "project": {"dependencies": ["llama-cpp-python==0.3.36"], "optional-dependencies": {"test": []}},
    "tool": {"ruff": {"line-length": 110}},
}


def test_only_what_is_installed_decides_the_key(installer: ModuleType) -> None:
    key = installer.project_key(PYPROJECT)
    assert installer.project_key({**PYPROJECT, "tool": {}}) == key
    assert installer.project_key({**PYPROJECT, "project": {"dependencies": []}}) != key


def test_existing_extras_and_the_build_are_kept_by_default(installer: ModuleType) -> None:
    first = installer.wanted_record(["test"], PYPROJECT, None, {"CMAKE_ARGS": "-DGGML_CUDA=on"})
    assert (first.extras, first.cmake_args) == (("test",), "-DGGML_CUDA=on")
    assert installer.wanted_record(["run"], PYPROJECT, first, {}) == first
    gone = replace(first, extras=("gone", "test"))
    assert installer.wanted_record(["run"], PYPROJECT, gone, {}) == first
    assert installer.wanted_record(["run"], PYPROJECT, first, {"CMAKE_ARGS": ""}).cmake_args == ""


def test_llama_is_built_past_the_cache_only_for_other_options(installer: ModuleType) -> None:
    plain = installer.wanted_record(["run"], PYPROJECT, None, {})
    cuda = replace(plain, cmake_args="-DGGML_CUDA=on")
    assert not installer.must_build_llama(None, plain)
    assert not installer.must_build_llama(plain, replace(plain, llama="llama-cpp-python==0.4"))
    assert installer.must_build_llama(None, cuda)
    assert installer.must_build_llama(plain, cuda)
    assert installer.must_build_llama(cuda, plain)
    assert not installer.must_build_llama(cuda, cuda)
    assert installer.must_build_llama(cuda, replace(cuda, llama="llama-cpp-python==0.4"))
    narrow = replace(plain, kernels="few tokens, 256-bit")
    assert installer.must_build_llama(None, narrow)
    assert installer.must_build_llama(plain, narrow)
    assert not installer.must_build_llama(narrow, narrow)


@pytest.fixture
def pip_calls(installer: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    calls: list[list[str]] = []

    def make(folder: Path, python: str) -> None:
        (folder / "bin").mkdir(parents=True, exist_ok=True)
        (folder / "bin" / "python").touch()

    monkeypatch.setattr(installer, "ensure_environment", make)
    monkeypatch.setattr(installer, "check_imports", lambda *_: None)
    monkeypatch.setattr(installer, "run_pip", lambda _folder, arguments, _env: calls.append(arguments))
    return calls


def test_the_second_time_there_is_nothing_to_do(
    installer: ModuleType, pip_calls: list[list[str]], tmp_path: Path
) -> None:
    assert installer.install(tmp_path, ["run"], {}) is True
    assert installer.install(tmp_path, ["run"], {}) is False
    assert installer.install(tmp_path, ["test"], {}) is True
    assert installer.install(tmp_path, ["test"], {}) is False
    assert installer.install(tmp_path, ["run"], {}) is False
    assert pip_calls == [["--editable", "."], ["--editable", ".[test]"]]


def test_other_options_compile_anew_once(installer: ModuleType, pip_calls: list[list[str]], tmp_path: Path) -> None:
    installer.install(tmp_path, ["run"], {})
    assert installer.install(tmp_path, ["run"], {"CMAKE_ARGS": "-DGGML_CUDA=on"}) is True
    assert {"--no-cache-dir", "--force-reinstall", "--no-binary"} <= set(pip_calls[-2])
    assert installer.install(tmp_path, ["run"], {"CMAKE_ARGS": "-DGGML_CUDA=on"}) is False


def test_an_interrupted_set_up_is_taken_up_again(
    installer: ModuleType, pip_calls: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installer.install(tmp_path, ["run"], {})

    def fail(folder: Path, arguments: list[str], env: dict[str, str]) -> None:
        raise installer.SetupError("no network")

    with monkeypatch.context() as broken:
        broken.setattr(installer, "run_pip", fail)
        with pytest.raises(installer.SetupError):
            installer.install(tmp_path, ["test"], {})
    assert installer.read_record(tmp_path) is None
    assert installer.install(tmp_path, ["test"], {}) is True


def test_a_record_that_cannot_be_read_counts_as_none(installer: ModuleType, tmp_path: Path) -> None:
    assert installer.read_record(tmp_path) is None
    for text in ("", "[]", "{}", '{"python": "3.11"}', "\x00"):
        (tmp_path / installer.RECORD_NAME).write_text(text, encoding="utf-8")
        assert installer.read_record(tmp_path) is None


def test_a_folder_that_is_no_environment_is_left_alone(installer: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    with pytest.raises(installer.SetupError, match="no virtual environment"):
        installer.ensure_environment(tmp_path, "3.11")
    assert (tmp_path / "photos").exists()


def test_local_builds_stay_native(installer: ModuleType) -> None:
    env = installer.build_environment({"PYTHONPATH": "x", "A": "b"}, "")
    assert "PYTHONPATH" not in env
    assert env["A"] == "b"
    assert "GGML_NATIVE" not in env["CMAKE_ARGS"]
    assert 1 <= int(env["CMAKE_BUILD_PARALLEL_LEVEL"]) <= (os.cpu_count() or 1)


@pytest.mark.parametrize(
    ("log", "advice"),
    [
        ("ERROR: Failed building wheel for llama-cpp-python", "did not compile"),
        ("ERROR: No matching distribution found for gguf", "is the network there"),
        ("OSError: No space left on device", "the reason is above"),
    ],
)
def test_a_failure_ends_with_advice(installer: ModuleType, log: str, advice: str) -> None:
    text = installer.pip_failure("\n".join([*(f"line {i}" for i in range(100)), log]))
    assert log in text
    assert advice in text.splitlines()[-1]
    assert "line 10\n" not in text


# ---- what is seen --------------------------------------------------------------------------------------------


class Screen(io.StringIO):
    """A text stream that claims to be a terminal, or not."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        """Return what the test set."""
        return self.terminal


@pytest.fixture
def follow(installer: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Callable[[list[str], bool], str]:
    progress = sys.modules["progress"]
    monkeypatch.setattr(progress.shutil, "which", lambda _: None)

    def run(lines: list[str], terminal: bool) -> str:
        screen, now = Screen(terminal=terminal), iter(range(0, 100_000, 30))
        follower = progress.CompileProgress(screen, clock=lambda: float(next(now)))
        for line in lines:
            follower.feed(line)
        return screen.getvalue()

    return run


BUILD = [
    "  Building wheel for llama-cpp-python (pyproject.toml): started\n",
    "  [10/200] Building CXX object a.o\n",
    "  [100/200] Building CXX object b.o\n",
    "  [ 75%] Building CXX object c.o\n",
    "  Created wheel for llama-cpp-python: filename=llama\n",
    "  [1/2] Building something else\n",
]


def test_nothing_is_said_of_compiling_where_nothing_compiles(follow: Callable[[list[str], bool], str]) -> None:
    lines = ["Using cached llama_cpp_python-0.3.36-py3-none-linux_x86_64.whl\n", "  Building wheel for paceline\n"]
    assert follow(lines, False) == ""


def test_a_log_gets_the_sentence_and_a_line_a_minute(follow: Callable[[list[str], bool], str]) -> None:
    text = follow(BUILD, False)
    assert text.splitlines()[0].startswith("llama.cpp is compiled now, once")
    assert [line.split()[2] for line in text.splitlines()[1:]] == ["50%", "took"]
    assert "\r" not in text


def test_a_terminal_gets_one_line_that_moves(follow: Callable[[list[str], bool], str]) -> None:
    text = follow(BUILD, True)
    assert [part.split()[2] for part in text.split("\r")[1:]] == ["5%", "50%", "75%", "took"]
    assert text.count("\n") == 2


# ---- the commands --------------------------------------------------------------------------------------------


def fake_environment(folder: Path, **programs: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    for name in ("python", "ruff", "mypy"):
        path = folder / "bin" / name
        path.write_text(f'#!/bin/sh\necho "{name} $*"\n{programs.get(name, "")}\n', encoding="utf-8")
        path.chmod(0o755)
    return folder


def run_script(name: str, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], **environ}
    command = ["sh", str(SCRIPTS / name), *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def test_the_checks_stop_at_the_first_that_fails_and_name_it(tmp_path: Path) -> None:
    bin_folder = fake_environment(tmp_path / "env", mypy="exit 1")
    result = run_script("check.sh", "lint", "format", "types", "tests", VENV=str(bin_folder))
    assert result.returncode == 1
    assert 'The check "types" failed.' in result.stderr
    assert "ruff check" in result.stdout
    assert "pytest" not in result.stdout


def test_all_checks_pass(tmp_path: Path) -> None:
    bin_folder = fake_environment(tmp_path / "env")
    result = run_script("check.sh", "lint", "format", "types", "tests", VENV=str(bin_folder))
    assert result.returncode == 0
    assert "All checks passed" in result.stdout


@pytest.mark.parametrize(("processors", "expected"), [(1, 0), (2, 2), (64, 4)])
def test_the_suite_runs_on_all_processors_and_reports_a_failure(tmp_path: Path, processors: int, expected: int) -> None:
    (tmp_path / "getconf").write_text(f"#!/bin/sh\necho {processors}\n", encoding="utf-8")
    (tmp_path / "getconf").chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    venv = fake_environment(
        tmp_path / "env",
        python='echo "bytecode ${PYTHONDONTWRITEBYTECODE:-kept}, waits ${OMP_WAIT_POLICY:-spinning}"; exit 1',
    )
    result = run_script("check.sh", "tests", VENV=str(venv), PATH=path, PYTHONDONTWRITEBYTECODE="1")
    assert result.returncode == 1
    assert 'The check "tests" failed.' in result.stderr
    assert f"python -m pytest -q --numprocesses {expected} --dist worksteal" in result.stdout
    assert "bytecode kept" in result.stdout, "every process that a test starts would compile the program anew"
    assert f"waits {'PASSIVE' if expected else 'spinning'}" in result.stdout


def test_window_needs_a_display_and_the_terminal_none(tmp_path: Path) -> None:
    venv = str(fake_environment(tmp_path / "env"))
    assert run_script("start.sh", VENV=venv, DISPLAY=":7").stdout == "python -m app\n"
    assert run_script("start.sh", VENV=venv, QT_QPA_PLATFORM="offscreen").stdout == "python -m app\n"
    lines = run_script("start.sh", VENV=venv, QT_QPA_PLATFORM="xcb").stdout.splitlines()
    assert lines[0].startswith("No display here")
    assert lines[1:] == ["python -m app demo"]


def test_make_lists_its_commands() -> None:
    result = subprocess.run(["make", "-s", "-C", str(ROOT), "help"], capture_output=True, text=True, check=True)
    names = {line.split()[1] for line in result.stdout.splitlines() if line.startswith("  make ")}
    assert {"help", "run", "test", "test-long", "lint", "screenshots", "clean"} <= names


def test_the_scripts_are_well_formed() -> None:
    for script in sorted(SCRIPTS.glob("*.sh")):
        subprocess.run(["sh", "-n", str(script)], check=True)
    assert (ROOT / ".ci" / "run").stat().st_mode & stat.S_IXUSR


def test_the_record_says_what_it_was_made_from(installer: ModuleType) -> None:
    record = installer.wanted_record(["test"], PYPROJECT, None, {})
    assert set(asdict(record)) == {"python", "project", "extras", "llama", "cmake_args", "kernels"}
