"""Tests the library: listed, found, paired and removed files, and files that are never touched."""

import contextlib
import json
import multiprocessing
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import filelock
import pytest

from app.core.domain.models import DownloadRequest, FileKind, RepoFile, RepoModel
from app.core.hub.errors import LibraryError
from app.core.hub.library.library import Library
from app.core.hub.library.other_programs import known_places
from app.core.hub.records import Origin
from app.core.hub.remote_header import read_local_header
from engine.errors import ModelNotFoundError

GGUF = b"GGUF" + b"\0" * 96


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "person")
    for name in ("HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "LLAMA_CACHE", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return Library(tmp_path / "models", tmp_path / "data" / "library.json")


def request(name: str, *paths: str, repo_id: str = "a/b") -> DownloadRequest:
    return DownloadRequest(repo_id, RepoModel(name, FileKind.MODEL, tuple(map(RepoFile, paths))), licence="mit")


def put(path: Path, data: bytes = GGUF) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_downloaded_models_are_listed_found_and_removed(library: Library) -> None:
    put(library.path_for("a/b", "x/m-Q4_0-00001-of-00002.gguf"))
    put(library.path_for("a/b", "x/m-Q4_0-00002-of-00002.gguf"))
    put(library.path_for("a/b", "x/m-Q4_0-00002-of-00002.gguf").with_suffix(".gguf.part"), b"1234")
    library.add_downloaded(request("m-Q4_0", "x/m-Q4_0-00001-of-00002.gguf", "x/m-Q4_0-00002-of-00002.gguf"))
    (model,) = library.models()
    assert (model.name, model.size_bytes, model.quantization, model.licence) == ("m-Q4_0", 200, "Q4_0", "mit")
    assert (model.repo_id, model.origin, model.missing) == ("a/b", Origin.DOWNLOADED, False)
    for name in ("m-Q4_0", "M-q4_0", "m-Q4_0.gguf", "m-Q4_0-00001-of-00002.gguf", "a/b/m-Q4_0", str(model.path)):
        assert library.find(name) == model
    assert library.remove("m-Q4_0") == 204
    assert library.models() == ()
    assert [path.name for path in library.folder.iterdir()] == []
    with pytest.raises(LibraryError, match="no model"):
        library.remove("m-Q4_0")


def test_a_file_in_place_is_only_forgotten(library: Library, tmp_path: Path) -> None:
    mine = put(tmp_path / "mine" / "big-Q8_0.gguf")
    model = library.add(mine)
    assert (model.origin, model.path, model.name) == (Origin.IN_PLACE, mine, "big-Q8_0")
    assert library.add(mine) == model
    assert len(library.models()) == 1
    assert library.remove("big-Q8_0") == 0
    assert mine.read_bytes() == GGUF
    assert library.models() == ()


def test_what_is_no_model_is_refused(library: Library, tmp_path: Path) -> None:
    for path, words in (
        (put(tmp_path / "a.gguf", b"<html>"), "not a GGUF file"),
        (tmp_path / "none.gguf", "does not exist"),
        (put(tmp_path / "m-00001-of-00002.gguf"), "00002-of-00002.gguf does not exist"),
        (tmp_path, "is not a regular file"),
    ):
        with pytest.raises(LibraryError, match=words):
            library.add(path)
    assert library.models() == ()


@pytest.mark.timeout(60)
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_a_pipe_among_the_models_is_not_waited_for(library: Library, tmp_path: Path) -> None:
    put(library.folder / "a" / "b" / "good.gguf")
    os.mkfifo(library.folder / "a" / "b" / "pipe.gguf")
    assert [model.name for model in library.models()] == ["good"]
    with pytest.raises(LibraryError, match="not a regular file"):
        library.add(library.folder / "a" / "b" / "pipe.gguf")
    with pytest.raises(ModelNotFoundError, match="not a regular file"):
        read_local_header(library.folder / "a" / "b" / "pipe.gguf")


def test_a_vanished_model_is_shown_as_missing(library: Library, tmp_path: Path) -> None:
    mine = put(tmp_path / "mine.gguf")
    library.add(mine)
    mine.unlink()
    (model,) = library.models()
    assert (model.missing, model.size_bytes) == (True, 100)
    put(mine)
    assert not library.models()[0].missing


ODD = (b"caf\xe9-Q4_0.gguf", b"caf\xe8-Q4_0.gguf", b"two\nlines.gguf", b"plain.gguf")


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such names")
def test_undecodable_file_names_are_listed_and_do_not_hide_others(library: Library, tmp_path: Path) -> None:
    """In the folder or added in place; the index survives, and no name breaks a table or a server's answer."""
    files = [tmp_path / os.fsdecode(name) for name in ODD[:1]]
    files += [library.folder / os.fsdecode(name) for name in ODD[1:]]
    try:
        for file in files:
            put(file)
    except OSError:
        pytest.skip("this file system has no such names")
    library.add(files[0])
    for _ in range(2):
        models = {model.name: model for model in library.models()}
        assert list(models) == ["caf\ufffd-Q4_0", "caf\ufffd-Q4_0 (2)", "plain", "two\ufffdlines"]
        assert {model.path for model in models.values()} == set(files)
        assert not any(model.missing for model in models.values())
        json.dumps(list(models), ensure_ascii=False).encode()
    assert library.find("two\ufffdlines").path == files[2]
    library.set_draft("plain", "caf\ufffd-Q4_0")
    assert library.find("plain").draft == "caf\ufffd-Q4_0"


def test_files_put_there_by_hand_and_a_lost_index(library: Library, tmp_path: Path) -> None:
    put(library.folder / "loose.gguf")
    put(library.folder / "owner" / "repo-GGUF" / "m-Q6_K.gguf")
    put(library.folder / "owner" / "repo-GGUF" / "half.gguf.part")
    put(library.folder / "owner" / "repo-GGUF" / "s-00001-of-00002.gguf")
    assert [(model.name, model.repo_id) for model in library.models()] == [("loose", ""), ("m-Q6_K", "owner/repo-GGUF")]
    (tmp_path / "data" / "library.json").write_text("{damaged")
    assert [model.name for model in library.models()] == ["loose", "m-Q6_K"]
    assert (tmp_path / "data" / "library.json.damaged").read_text() == "{damaged"


def test_names_are_unique(library: Library, tmp_path: Path) -> None:
    for owner in ("a/x", "b/x"):
        put(library.path_for(owner, "m.gguf"))
        library.add_downloaded(request("m", "m.gguf", repo_id=owner))
        library.add_downloaded(request("m", "m.gguf", repo_id=owner))
    library.add(put(tmp_path / "m.gguf"))
    assert [model.name for model in library.models()] == ["m", "m (2)", "m (b)"]
    assert library.find("b/x/m.gguf").name == "m (b)"
    with pytest.raises(LibraryError, match="matches several models"):
        library.find("m.gguf")


def test_pairs_and_last_use(library: Library, tmp_path: Path) -> None:
    target, draft = library.add(put(tmp_path / "t.gguf")), library.add(put(tmp_path / "d.gguf"))
    library.set_draft("t", "d")
    assert library.find("t").draft == "d"
    with pytest.raises(LibraryError, match="itself"):
        library.set_draft("t", "t")
    with pytest.raises(LibraryError, match="no model"):
        library.set_draft("t", "nothing")
    moment = datetime(2026, 11, 20, 12, tzinfo=UTC)
    library.mark_used(target.path, moment)
    library.mark_used(tmp_path / "other.gguf", moment)
    assert (library.find("t").last_used, library.find("d").last_used) == (moment, None)
    library.remove(draft.name)
    assert library.find("t").draft == ""


def test_an_edited_index_cannot_delete_anything_else(library: Library, tmp_path: Path) -> None:
    precious = put(tmp_path / "precious.gguf")
    put(library.folder / "notes.txt", b"words")
    index = tmp_path / "data" / "library.json"
    index.parent.mkdir()
    names = ["../precious.gguf", str(precious), "notes.txt", "..\\precious.gguf", "link/precious.gguf"]
    (library.folder / "link").symlink_to(tmp_path)
    entries = [{"name": f"n{at}", "files": [name], "is_downloaded": True} for at, name in enumerate(names)]
    index.write_text(json.dumps({"models": [*entries, 7, {"name": 3}, {"name": "x", "files": [[]]}]}))
    assert [model.name for model in library.models()] == ["n2"], "the others are outside the folder"
    for at in range(len(names)):
        with contextlib.suppress(LibraryError):
            library.remove(f"n{at}")
    assert precious.read_bytes() == GGUF
    assert (library.folder / "notes.txt").read_bytes() == b"words"


def test_a_link_in_the_library_is_removed_and_not_what_it_leads_to(library: Library, tmp_path: Path) -> None:
    mine = put(tmp_path / "mine.gguf")
    library.folder.mkdir()
    (library.folder / "linked.gguf").symlink_to(mine)
    for model in library.models():
        try:
            library.remove(model.name)
        except LibraryError:
            continue
    assert mine.read_bytes() == GGUF


def test_offers_of_other_programs(library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "person"
    places = dict.fromkeys(program for program, _ in known_places({}, home, "linux"))
    assert list(places) == ["Hugging Face cache", "LM Studio", "Ollama"]
    cache = home / ".cache" / "huggingface" / "hub" / "models--o--r"
    blob = put(cache / "blobs" / "abc", GGUF + b"1")
    snapshot = cache / "snapshots" / ("c" * 40)
    snapshot.mkdir(parents=True)
    (snapshot / "cached-Q4_0.gguf").symlink_to(blob)
    put(home / ".lmstudio" / "models" / "o" / "r" / "lm-00001-of-00002.gguf")
    put(home / ".lmstudio" / "models" / "o" / "r" / "lm-00002-of-00002.gguf")
    put(home / ".lmstudio" / "models" / "o" / "r" / "mmproj-F16.gguf")
    put(home / ".lmstudio" / "models" / "error-page.gguf", b"<html>")
    offers = {offer.name: offer for offer in library.find_offers()}
    assert {name: offer.found_in for name, offer in offers.items()} == {
        "cached-Q4_0": "Hugging Face cache",
        "lm": "LM Studio",
        "mmproj-F16": "LM Studio",
    }
    assert (offers["lm"].size_bytes, len(offers["lm"].files)) == (200, 2)
    assert offers["mmproj-F16"].kind is FileKind.MMPROJ
    library.add(offers["cached-Q4_0"].files[0])
    assert "cached-Q4_0" not in {offer.name for offer in library.find_offers()}
    monkeypatch.setenv("HF_HOME", str(tmp_path / "elsewhere"))
    shutil.copytree(cache, tmp_path / "elsewhere" / "hub" / "models--o--s", symlinks=False)
    assert "Hugging Face cache" in {offer.found_in for offer in library.find_offers()}


def _add_many(folder: Path, index: Path, files: list[Path]) -> None:
    library = Library(folder, index)
    for file in files:
        library.add(file)


def test_two_processes_lose_nothing_of_each_other(library: Library, tmp_path: Path) -> None:
    files = [put(tmp_path / f"m{number}.gguf") for number in range(20)]
    context = multiprocessing.get_context("spawn")
    index = tmp_path / "data" / "library.json"
    workers = [context.Process(target=_add_many, args=(library.folder, index, files[at::2])) for at in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert len(library.models()) == 20


def test_an_index_that_another_holds_or_no_disk_takes_is_one_sentence(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, index = put(tmp_path / "mine.gguf"), tmp_path / "data" / "library.json"
    index.parent.mkdir()
    monkeypatch.setattr("app.core.hub.library.library.LOCK_WAIT_S", 0.05)
    with (
        filelock.FileLock(index.with_name("library.json.lock")),
        pytest.raises(LibraryError, match="Another Paceline is using the library's index"),
    ):
        library.add(mine)
    assert library.add(mine).name == "mine"
    other = Library(tmp_path / "models", mine / "library.json")  # a file in place of its folder
    with pytest.raises(LibraryError, match=r"library\.json could not be written: "):
        other.add(mine)
    assert other.models() == ()


def test_a_model_that_cannot_be_deleted_stays_in_the_list(library: Library) -> None:
    file = put(library.path_for("a/b", "m.gguf"))
    library.add_downloaded(request("m", "m.gguf"))
    file.unlink()
    file.mkdir()  # a folder as created by a program that unpacks there
    with pytest.raises(LibraryError, match=r"m\.gguf could not be deleted: "):
        library.remove("m")
    assert [(model.name, model.missing) for model in library.models()] == [("m", True)]


def test_a_link_out_of_the_library_is_not_the_librarys(library: Library, tmp_path: Path) -> None:
    put(tmp_path / "disk" / "mine.gguf")
    library.folder.mkdir(parents=True)
    (library.folder / "linked").symlink_to(tmp_path / "disk")
    assert library.models() == ()
