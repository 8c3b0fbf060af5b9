"""Tests an installation outside of the checkout: the wheel has all packages and assets, and the command finds them.

Needs no network: the wheel is built with the installed build backend, and the new environment uses this one's
libraries.
"""

import os
import site
import subprocess
import sys
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import app
from tests.scripts import load_script

VERSION = load_script("version.py").version()
ROOT = Path(__file__).resolve().parents[1]
ASSETS = {path.relative_to(ROOT).as_posix() for path in (ROOT / "assets").rglob("*") if path.is_file()}
MODELS = ROOT / "assets" / "models"
Paceline = Callable[..., "subprocess.CompletedProcess[str]"]


def call(*command: str | Path, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PIP_"))}
    words = [str(word) for word in command]
    return subprocess.run(
        words, cwd=cwd, env={**env, **environ}, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling", reason="the build backend comes with the test extra")
    folder = tmp_path_factory.mktemp("wheel")
    result = call(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed") / "env"
    venv.create(folder, with_pip=False, symlinks=os.name == "posix")
    binaries = folder / ("Scripts" if os.name == "nt" else "bin")
    # --ignore-installed: this environment's own installation of the project does not matter.
    options = ["--no-deps", "--no-index", "--ignore-installed", "--no-compile", "--disable-pip-version-check"]
    pip = [sys.executable, "-m", "pip", "--python", binaries / "python"]
    result = call(*pip, "install", "--quiet", *options, wheel, cwd=folder)
    assert result.returncode == 0, result.stderr
    where = call(binaries / "python", "-c", "import site; print(site.getsitepackages()[0])", cwd=folder)
    borrowed = "\n".join(site.getsitepackages()) + "\n"
    (Path(where.stdout.strip()) / "borrowed.pth").write_text(borrowed, encoding="utf-8")
    return binaries


@pytest.fixture
def paceline(environment: Path, tmp_path: Path) -> Paceline:
    elsewhere = tmp_path / "an other folder"
    elsewhere.mkdir()

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        home = str(tmp_path / "home of the app")
        return call(environment / "paceline", *arguments, cwd=elsewhere, PACELINE_HOME=home)

    return run


def test_the_wheel_holds_the_rooms_and_every_asset_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    assert {name for name in names if name.startswith("assets/")} == ASSETS
    code = {
        path.relative_to(ROOT).as_posix() for room in ("app", "ui", "engine") for path in (ROOT / room).rglob("*.py")
    }
    told = {"app/_version.py"} if VERSION != app.VERSION_IN_CODE else set()
    assert {name for name in names if name.endswith(".py")} == code | told
    assert {name.split("/")[0] for name in names} == {
        "app",
        "ui",
        "engine",
        "assets",
        f"paceline-{VERSION}.dist-info",
    }
    assert f"paceline-{VERSION}.dist-info/licenses/LICENSE" in names


def test_the_command_runs_from_any_folder(paceline: Paceline) -> None:
    result = paceline("--version")
    assert (result.returncode, result.stdout) == (0, f"paceline {VERSION}\n"), result.stderr


def test_the_installed_program_uses_its_own_code_and_finds_its_assets(environment: Path, tmp_path: Path) -> None:
    code = (
        "import app, app.core.paths; folder = app.core.paths.assets_dir(); print(app.__file__); print(folder);"
        "print(*(p.relative_to(folder.parent).as_posix() for p in folder.rglob('*') if p.is_file()), sep='\\n')"
    )
    result = call(environment / "python", "-c", code, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    module, folder, *assets = result.stdout.splitlines()
    for place in (module, folder):
        assert Path(place).is_relative_to(environment.parent)
    assert set(assets) == ASSETS


@pytest.mark.skipif(not any(MODELS.glob("*.gguf")), reason="the built-in pair is not in this checkout")
def test_the_built_in_pair_works_where_it_is_installed(paceline: Paceline, environment: Path) -> None:
    where = call(
        environment / "python", "-c", "import app.core.paths; print(app.core.paths.assets_dir())", cwd=environment
    )
    models = Path(where.stdout.strip()) / "models"
    result = paceline("check", models / "paceline-tiny-target.gguf", models / "paceline-tiny-draft.gguf")
    assert result.returncode == 0, result.stderr
    result = paceline("run", "--prompt", "Hello", "--max-tokens", "4", "--temperature", "0", "--json")
    assert result.returncode == 0, result.stderr
    assert '"finish_reason"' in result.stdout


def test_a_missing_file_is_one_sentence(paceline: Paceline, tmp_path: Path) -> None:
    result = paceline("check", tmp_path / "absent.gguf", tmp_path / "absent.gguf")
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert "absent.gguf" in result.stderr
