"""Tests Ollama's store: names and weights from manifests; damage is reported, and nothing is written."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from app.core.domain.models import Offer
from app.core.hub.library.library import Library
from app.core.hub.library.ollama import SkippedModel, models_in, stores
from app.core.hub.records import Origin
from tests.engine.gguf_factory import tiny_llama

GGUF = tiny_llama().to_bytes()
LAYER = "application/vnd.ollama.image."


def blob(store: Path, data: bytes) -> dict[str, Any]:
    """Store a blob; returns its manifest entry."""
    digest = hashlib.sha256(data).hexdigest()
    (store / "blobs").mkdir(parents=True, exist_ok=True)
    (store / "blobs" / f"sha256-{digest}").write_bytes(data)
    return {"digest": f"sha256:{digest}", "size": len(data)}


def manifest(store: Path, name: str, content: object) -> Path:
    path = store / "manifests" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def model(store: Path, name: str, data: bytes = GGUF, **changes: object) -> dict[str, Any]:
    """A regular model as Ollama stores it."""
    weights = {"mediaType": LAYER + "model", **blob(store, data)} | changes
    content = {"schemaVersion": 2, "layers": [weights, {"mediaType": LAYER + "license", "size": 1}]}
    manifest(store, name, content)
    return content


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path / "ollama"))
    return tmp_path / "ollama"


def test_names_and_weights(store: Path) -> None:
    model(store, "registry.ollama.ai/library/llama3.2/3b")
    model(store, "registry.ollama.ai/someone/tuned/latest", GGUF + b"1")
    model(store, "hf.co/bartowski/Llama-3.2-1B-GGUF/Q4_K_M", GGUF + b"2")
    found = {one.name: one for one in models_in(store) if isinstance(one, Offer)}
    assert set(found) == {"llama3.2:3b", "someone/tuned:latest", "hf.co/bartowski/Llama-3.2-1B-GGUF:Q4_K_M"}
    offer = found["llama3.2:3b"]
    assert (offer.size_bytes, offer.found_in) == (len(GGUF), "Ollama")
    assert found["hf.co/bartowski/Llama-3.2-1B-GGUF:Q4_K_M"].quantization == "Q4_K_M"
    assert offer.files[0].read_bytes() == GGUF


def test_it_is_used_where_it_lies_under_its_own_name(store: Path, tmp_path: Path) -> None:
    model(store, "registry.ollama.ai/library/llama3.2/3b")
    before = {path: path.stat().st_mtime_ns for path in store.rglob("*")}
    library = Library(tmp_path / "models", tmp_path / "library.json")
    offers, skipped = library.find_offers()
    assert ([one.name for one in offers], skipped) == (["llama3.2:3b"], ())
    added = library.add(offers[0].files[0])
    assert (added.name, added.origin) == ("llama3.2:3b", Origin.IN_PLACE)
    assert library.find("llama3.2:3b").path == offers[0].files[0]
    assert library.find_offers()[0] == ()
    library.remove("llama3.2:3b")
    assert {path: path.stat().st_mtime_ns for path in store.rglob("*")} == before


def test_linked_manifests_are_read_as_ollama_reads_them(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model(tmp_path / "disk", "registry.ollama.ai/library/far/3b", GGUF + b"1")
    model(store, "registry.ollama.ai/someone/near/latest")
    for path in (tmp_path / "disk" / "blobs").iterdir():
        path.rename(store / "blobs" / path.name)
    hosts = store / "manifests" / "registry.ollama.ai"
    (hosts / "library").symlink_to(tmp_path / "disk" / "manifests" / "registry.ollama.ai" / "library")
    for number in range(8):  # each refers back to all
        (hosts / f"circle{number}").symlink_to(hosts)
    assert {one.name for one in models_in(store)} >= {"far:3b", "someone/near:latest"}
    monkeypatch.setattr("app.core.hub.library.ollama.MAX_FOLDERS", 0)
    assert list(models_in(store)) == []


BROKEN = {
    "no-layers": {"schemaVersion": 2},
    "a-list": [],
    "layers-are-words": {"layers": ["a", 7, None]},
    "no-json": "{",
    "deep": "[" * 100_000,
    "huge": '{"layers": "' + "x" * (1 << 20) + '"}',
    "elsewhere": {"layers": [{"mediaType": LAYER + "tensor", "digest": "sha256:" + "0" * 64}]},
    "climbing": {"layers": [{"mediaType": LAYER + "model", "digest": "sha256:../../../etc/passwd", "size": 1}]},
    "no-digest": {"layers": [{"mediaType": LAYER + "model", "digest": 7, "size": 1}]},
    "gone": {"layers": [{"mediaType": LAYER + "model", "digest": "sha256:" + "0" * 64, "size": 1}]},
    "two": {"layers": [{"mediaType": LAYER + "model", "digest": "sha256:" + "0" * 64, "size": 1}] * 2},
}


def test_what_is_broken_is_reported_with_a_reason_and_the_rest_goes_on(store: Path) -> None:
    for name, content in BROKEN.items():
        manifest(store, f"registry.ollama.ai/library/{name}/latest", content)
    model(store, "registry.ollama.ai/library/cut/latest", size=len(GGUF) + 1)
    model(store, "registry.ollama.ai/library/page/latest", b"<html>")
    content = model(store, "registry.ollama.ai/library/adapted/latest", GGUF + b"a")
    content["layers"].append({"mediaType": LAYER + "adapter"})
    manifest(store, "registry.ollama.ai/library/adapted/latest", content)
    model(store, "registry.ollama.ai/library/good/latest")
    (store / "manifests" / "registry.ollama.ai" / "library" / "folder" / "latest").mkdir(parents=True)
    found = list(models_in(store))
    assert [one.name for one in found if isinstance(one, Offer)] == ["good:latest"]
    skipped = {one.name.partition(":")[0]: one.reason for one in found if isinstance(one, SkippedModel)}
    assert set(skipped) == {*BROKEN, "cut", "page", "adapted"}
    assert all(reason.endswith(".") for reason in skipped.values())
    assert "not complete" in skipped["cut"]
    assert "adapter" in skipped["adapted"]


def test_places(tmp_path: Path) -> None:
    assert stores({}, tmp_path, "linux") == (tmp_path / ".ollama/models", Path("/usr/share/ollama/.ollama/models"))
    assert stores({"OLLAMA_MODELS": "/m"}, tmp_path, "win32") == (Path("/m"), tmp_path / ".ollama/models")


@pytest.mark.timeout(60)
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_a_pipe_among_manifests_does_not_block_and_their_number_is_bounded(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        model(store, f"registry.ollama.ai/library/{name}/latest")
    pipe = store / "manifests" / "registry.ollama.ai" / "library" / "pipe"
    pipe.mkdir()
    os.mkfifo(pipe / "latest")
    (skipped,) = (one for one in models_in(store) if isinstance(one, SkippedModel))
    assert (skipped.name, skipped.reason) == ("pipe:latest", "Its manifest is not a file.")
    monkeypatch.setattr("app.core.hub.library.ollama.MAX_MANIFESTS", 2)
    assert [one.name for one in models_in(store)] == ["a:latest", "b:latest"]
