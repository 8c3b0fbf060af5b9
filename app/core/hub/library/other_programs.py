"""Finds models of other programs on this disk: the Hugging Face cache, LM Studio, Ollama, or any folder. Read-only.

Ollama's manifests name models, its blobs are their GGUF files. A manifest is JSON at
``manifests/HOST/NAMESPACE/MODEL/TAG``; its layer of the type ``application/vnd.ollama.image.model`` names the weights
by digest, which are in ``blobs/sha256-DIGEST`` (https://github.com/ollama/ollama/blob/main/server/images.go). A
manifest is untrusted: its names and numbers are checked before they become a path.
"""

import json
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from app.core.domain.models import Offer
from app.core.hub.file_names import MAGIC, all_shards, is_gguf, kind_of, model_name, quantization_of, shard_of

MAX_DEPTH = 12
MAX_FILES = 200_000
MAX_OFFERS = 2000
MAX_MANIFEST_BYTES = 1 << 20
OLLAMA = "Ollama"
_EXCLUDED_MOUNTS = frozenset(("/proc", "/sys", "/dev", "/run"))  # virtual file systems
_WEIGHTS, _ADAPTER = "application/vnd.ollama.image.model", "application/vnd.ollama.image.adapter"
_HOST, _NAMESPACE = "registry.ollama.ai", "library"  # defaults, which Ollama omits from a name
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._:-]{0,127}")
_DIGEST = re.compile(r"sha256[:-]([0-9a-f]{64})")
log = logging.getLogger(__name__)


def known_places(environ: Mapping[str, str], home: Path, platform: str = sys.platform) -> tuple[tuple[str, Path], ...]:
    """Names of programs and their folders, which need not exist."""
    hf_home = _path(environ, "HF_HOME", Path(environ.get("XDG_CACHE_HOME") or home / ".cache") / "huggingface")
    places = [
        ("Hugging Face cache", _path(environ, "HF_HUB_CACHE", hf_home / "hub")),
        ("LM Studio", home / ".lmstudio" / "models"),
        ("LM Studio", home / ".cache" / "lm-studio" / "models"),
        (OLLAMA, _path(environ, "OLLAMA_MODELS", home / ".ollama" / "models")),
    ]
    if platform == "linux":  # the folder of the service that Ollama's installer creates
        places.append((OLLAMA, Path("/usr/share/ollama/.ollama/models")))
    return tuple(places)


def offers_in(
    program: str, folder: Path, should_stop: Callable[[], bool] = lambda: False, *, follows_links: bool = True
) -> Iterator[Offer]:
    """The models below a folder, each once. ``follows_links``: of folders; links to files are always followed."""
    seen: set[Path] = set()
    for path in islice(_files(folder, follows_links=follows_links), MAX_FILES):
        if should_stop():
            return
        found = _ollama_models(path) if path.is_dir() else (offer_of(program or str(path.parent), path),)
        for offer in found:
            if offer is not None and (real := offer.files[0].resolve()) not in seen:
                seen.add(real)
                yield offer


def offer_of(program: str, path: Path) -> Offer | None:
    """The model of a file; None for other files, for an incomplete model, and for shards after the first."""
    shard = shard_of(path.name)
    if not is_gguf(path.name) or (shard is not None and shard[1] != 1) or not is_model_file(path):
        return None
    files = all_shards(path)
    try:
        if not all(file.is_file() for file in files):
            return None
        size = sum(file.stat().st_size for file in files)
    except OSError:  # the file was deleted meanwhile
        return None
    return Offer(model_name(path.name), files, kind_of(path.name), program, quantization_of(path.name), size)


def is_model_file(path: Path) -> bool:
    """True if a file is readable and begins with the GGUF magic."""
    try:
        if not path.is_file():  # reading a pipe would block
            return False
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def name_of_blob(path: Path) -> str:
    """Ollama's name for the model of this blob; empty if the file is in no store."""
    store = path.parent.parent
    if path.parent.name != "blobs" or not _is_store(store):
        return ""
    return next((model.name for model in _ollama_models(store) if model.files[0].name == path.name), "")


def _files(folder: Path, *, follows_links: bool) -> Iterator[Path]:
    """The files below a folder, and the stores of Ollama; each folder once, so circles of links end."""
    known: set[tuple[int, int]] = set()
    for place, folders, names in os.walk(folder, followlinks=follows_links):
        try:
            facts = Path(place).stat()
        except OSError:  # it was deleted meanwhile
            continue
        identity = (facts.st_dev, facts.st_ino)
        is_deep = len(Path(place).relative_to(folder).parts) >= MAX_DEPTH
        if identity in known or place in _EXCLUDED_MOUNTS:
            folders.clear()
            continue
        known.add(identity)
        if _is_store(Path(place)):
            folders.clear()
            yield Path(place)
        folders[:] = [] if is_deep else sorted(folders)
        yield from (Path(place, name) for name in sorted(names))


# ---- Ollama ------------------------------------------------------------------------------------------------------


def _is_store(folder: Path) -> bool:
    return (folder / "manifests").is_dir() and (folder / "blobs").is_dir()


def _ollama_models(store: Path) -> Iterator[Offer]:
    """The usable models in a store."""
    for path in sorted(islice((store / "manifests").glob("*/*/*/*"), MAX_OFFERS)):
        parts = path.relative_to(store / "manifests").parts
        if not all(map(_NAME.fullmatch, parts)):
            continue
        host, namespace, model, tag = parts
        owner = "" if namespace == _NAMESPACE and host == _HOST else f"{namespace}/"
        name = f"{'' if host == _HOST else host + '/'}{owner}{model}:{tag}"
        try:
            blob, size = _weights(_read_json(path), store / "blobs")
        except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
            log.info("%s of Ollama cannot be used: %s", name, error)
        else:
            yield Offer(name, (blob,), kind_of(name), OLLAMA, quantization_of(name.replace(":", "-")), size)


def _weights(manifest: Any, blobs: Path) -> tuple[Path, int]:  # noqa: ANN401 (whatever the file holds)
    """The file of the weights and its size; raises an error if they are not one complete GGUF file."""
    layers = {layer["mediaType"]: layer for layer in manifest["layers"]}
    num_weights = sum(layer["mediaType"] == _WEIGHTS for layer in manifest["layers"])
    if num_weights != 1 or _ADAPTER in layers:
        raise ValueError("it needs an adapter, or its weights are not in one file")
    digest = _DIGEST.fullmatch(layers[_WEIGHTS]["digest"])
    if digest is None:
        raise ValueError("its manifest gives no digest")
    blob = blobs / f"sha256-{digest[1]}"
    size = blob.stat().st_size
    if layers[_WEIGHTS]["size"] != size or not is_model_file(blob):
        raise ValueError("its weights are not complete, or no GGUF file")
    return blob, size


def _read_json(path: Path) -> Any:  # noqa: ANN401 (JSON)
    if not path.is_file():  # reading a pipe would block
        raise ValueError("its manifest is not a file")
    with path.open("rb") as file:
        return json.loads(file.read(MAX_MANIFEST_BYTES))  # truncates a larger file, which makes it invalid


def _path(environ: Mapping[str, str], name: str, default: Path) -> Path:
    value = environ.get(name, "")
    return Path(value).expanduser() if value else default
