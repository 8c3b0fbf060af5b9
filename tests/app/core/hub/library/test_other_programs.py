"""Tests models of other programs: Ollama's manifests, folders, links in circles; nothing is written."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from app.core.hub.library.library import Library
from app.core.hub.library.other_programs import offers_in
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


def ollama_names(store: Path) -> list[str]:
    return [one.name for one in offers_in("", store)]


def test_names_and_weights(store: Path) -> None:
    model(store, "registry.ollama.ai/library/llama3.2/3b")
    model(store, "registry.ollama.ai/someone/tuned/latest", GGUF + b"1")
    model(store, "hf.co/bartowski/Llama-3.2-1B-GGUF/Q4_K_M", GGUF + b"2")
    found = {one.name: one for one in offers_in("", store)}
    assert set(found) == {"llama3.2:3b", "someone/tuned:latest", "hf.co/bartowski/Llama-3.2-1B-GGUF:Q4_K_M"}
    offer = found["llama3.2:3b"]
    assert (offer.size_bytes, offer.found_in) == (len(GGUF), "Ollama")
    assert found["hf.co/bartowski/Llama-3.2-1B-GGUF:Q4_K_M"].quantization == "Q4_K_M"
    assert offer.files[0].read_bytes() == GGUF


def test_it_is_used_where_it_lies_under_its_own_name(store: Path, tmp_path: Path) -> None:
    model(store, "registry.ollama.ai/library/llama3.2/3b")
    before = {path: path.stat().st_mtime_ns for path in store.rglob("*")}
    library = Library(tmp_path / "models", tmp_path / "library.json")
    (offer,) = library.find_offers()
    added = library.add(offer.files[0])
    assert (added.name, added.origin) == ("llama3.2:3b", Origin.IN_PLACE)
    assert library.find("llama3.2:3b").path == offer.files[0]
    assert library.find_offers() == ()
    library.remove("llama3.2:3b")
    assert {path: path.stat().st_mtime_ns for path in store.rglob("*")} == before


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


@pytest.mark.timeout(60)
def test_what_is_broken_is_left_out_and_the_rest_goes_on(store: Path) -> None:
    for name, content in BROKEN.items():
        manifest(store, f"registry.ollama.ai/library/{name}/latest", content)
    model(store, "registry.ollama.ai/library/cut/latest", size=len(GGUF) + 1)
    model(store, "registry.ollama.ai/library/page/latest", b"<html>")
    content = model(store, "registry.ollama.ai/library/adapted/latest", GGUF + b"a")
    content["layers"].append({"mediaType": LAYER + "adapter"})
    manifest(store, "registry.ollama.ai/library/adapted/latest", content)
    model(store, "registry.ollama.ai/library/good/latest")
    (store / "manifests" / "registry.ollama.ai" / "library" / "folder" / "latest").mkdir(parents=True)
    if hasattr(os, "mkfifo"):  # reading it would block
        pipe = store / "manifests" / "registry.ollama.ai" / "library" / "pipe"
        pipe.mkdir()
        os.mkfifo(pipe / "latest")
    assert ollama_names(store) == ["good:latest"]


GGUF_FILE = b"GGUF" + bytes(60)


def put(path: Path, data: bytes = GGUF_FILE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_models_at_any_depth_and_ollamas_store_among_them(tmp_path: Path) -> None:
    put(tmp_path / "a" / "b" / "c" / "d" / "e" / "f" / "g" / "h" / "deep.gguf")
    put(tmp_path / "page.gguf", b"<html>")
    put(tmp_path / "half-00001-of-00002.gguf")
    put(tmp_path / "UPPER-Q4_0.GGUF")
    model(tmp_path / "o" / "models", "registry.ollama.ai/library/llama3.2/3b")
    offers = {offer.name: offer.found_in for offer in offers_in("", tmp_path)}
    assert set(offers) == {"deep", "UPPER-Q4_0", "llama3.2:3b"}
    assert offers["UPPER-Q4_0"] == str(tmp_path)


def test_circles_end_and_the_number_of_files_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "disk" / "m.gguf")
    inside = tmp_path / "inside"
    inside.mkdir()
    for name in ("one", "two"):
        (inside / name).symlink_to(tmp_path / "disk")
    (tmp_path / "disk" / "up").symlink_to(tmp_path)
    (inside / "self").symlink_to(inside / "self")
    assert [offer.name for offer in offers_in("", inside)] == ["m"]
    assert list(offers_in("", inside, lambda: True)) == []
    for number in range(60):
        put(tmp_path / "many" / f"{number:02d}.txt", b"")
    put(tmp_path / "many" / "z.gguf")
    monkeypatch.setattr("app.core.hub.library.other_programs.MAX_FILES", 20)
    assert list(offers_in("", tmp_path / "many")) == []
