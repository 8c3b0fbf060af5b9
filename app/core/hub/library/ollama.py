"""Finds Ollama's models on this disk: manifests name models, blobs are their GGUF files. Read-only.

A manifest is JSON at ``manifests/HOST/NAMESPACE/MODEL/TAG``; its layer of the type
``application/vnd.ollama.image.model`` names the weights by digest, which are in ``blobs/sha256-DIGEST``
(https://github.com/ollama/ollama/blob/main/server/images.go). A manifest is untrusted: its names and numbers are
checked before they become a path.
"""

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from app.core.domain.models import Offer, SkippedModel
from app.core.hub.file_names import kind_of, quantization_of
from app.core.hub.library.other_folders import is_model_file
from engine.sentences import i18n

PROGRAM = "Ollama"
MAX_MANIFESTS = 2000
MAX_FOLDERS = 20_000
MAX_MANIFEST_BYTES = 1 << 20
MODEL_LAYER = "application/vnd.ollama.image.model"
ADAPTER_LAYER = "application/vnd.ollama.image.adapter"
TENSOR_LAYER = "application/vnd.ollama.image.tensor"
_HOST, _NAMESPACE = "registry.ollama.ai", "library"  # defaults, which Ollama omits from a name
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._:-]{0,127}")
_DIGEST = re.compile(r"sha256[:-]([0-9a-f]{64})")


class _UnusableError(Exception):
    """The manifest has no usable model."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason  # a translatable sentence


def stores(environ: Mapping[str, str], home: Path, platform: str = sys.platform) -> tuple[Path, ...]:
    """Folders that may contain Ollama's models, first the folder of its environment variable; they need not exist."""
    places = [Path(environ["OLLAMA_MODELS"]).expanduser()] if environ.get("OLLAMA_MODELS") else []
    places.append(home / ".ollama" / "models")
    if platform == "linux":  # the folder of the service that Ollama's installer creates
        places.append(Path("/usr/share/ollama/.ollama/models"))
    return tuple(dict.fromkeys(places))


def is_store(folder: Path) -> bool:
    """True if a folder has the layout of Ollama's store."""
    return (folder / "manifests").is_dir() and (folder / "blobs").is_dir()


def models_in(store: Path) -> Iterator[Offer | SkippedModel]:
    """The models in a store; for unusable models the reason."""
    blobs = store / "blobs"
    for path, parts in _manifests(store / "manifests"):
        host, namespace, model, tag = parts
        owner = "" if namespace == _NAMESPACE and host == _HOST else f"{namespace}/"
        name = f"{'' if host == _HOST else host + '/'}{owner}{model}:{tag}"
        try:
            blob, size = _weights(_read_json(path), blobs)
            yield Offer(name, (blob,), kind_of(name), PROGRAM, quantization_of(name.replace(":", "-")), size)
        except _UnusableError as error:
            yield SkippedModel(name, error.reason)


def name_of_blob(path: Path) -> str:
    """Ollama's name for the model of this blob; empty if the file is in no store."""
    store = path.parent.parent
    if path.parent.name != "blobs" or not is_store(store):
        return ""
    found = (model.name for model in models_in(store) if isinstance(model, Offer) and model.files[0].name == path.name)
    return next(found, "")


def _manifests(folder: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """The files exactly four levels deep, sorted by name; unreadable folders are skipped."""
    num_seen = 0
    # Follow links like Ollama. Circular links end at the fixed depth; `MAX_FOLDERS` limits the folders that they lead
    # to.
    for place, folders, names in islice(os.walk(folder, followlinks=True), MAX_FOLDERS):
        folders.sort()
        depth = len(Path(place).relative_to(folder).parts)
        if depth == 3:
            folders.clear()
            for name in sorted(names):
                parts = (*Path(place).relative_to(folder).parts, name)
                if all(_NAME.fullmatch(part) for part in parts):
                    num_seen += 1
                    if num_seen > MAX_MANIFESTS:
                        return
                    yield Path(place, name), parts


def _weights(manifest: Any, blobs: Path) -> tuple[Path, int]:  # noqa: ANN401 (whatever the file holds)
    layers = manifest.get("layers") if isinstance(manifest, dict) else None
    if not isinstance(layers, list):
        raise _UnusableError(i18n("Its manifest lists no layers."))
    kinds = [layer.get("mediaType") for layer in layers if isinstance(layer, dict)]
    weights = [layer for layer in layers if isinstance(layer, dict) and layer.get("mediaType") == MODEL_LAYER]
    if TENSOR_LAYER in kinds or (not weights and kinds):
        raise _UnusableError(i18n("Its weights are not stored as a GGUF file, or it runs elsewhere."))
    if len(weights) != 1:
        raise _UnusableError(i18n("Its weights lie in several files; one is needed."))
    if ADAPTER_LAYER in kinds:
        raise _UnusableError(i18n("It needs an adapter, which Paceline does not load."))
    reported = weights[0].get("digest")
    digest = _DIGEST.fullmatch(reported) if isinstance(reported, str) else None
    if digest is None:
        raise _UnusableError(i18n("Its manifest gives no SHA-256 digest of its weights."))
    blob = blobs / f"sha256-{digest[1]}"
    try:
        size = blob.stat().st_size
    except OSError as error:
        reason = error.strerror or error
        raise _UnusableError(i18n("Its weights cannot be read: {reason}.", reason=reason)) from error
    if weights[0].get("size") != size:
        raise _UnusableError(i18n("Its weights are not complete: pull it again with Ollama."))
    if not is_model_file(blob):
        raise _UnusableError(i18n("Its weights are not a GGUF file, or may not be read."))
    return blob, size


def _read_json(path: Path) -> Any:  # noqa: ANN401 (JSON)
    try:
        if not path.is_file():
            raise _UnusableError(i18n("Its manifest is not a file."))
        with path.open("rb") as file:
            text = file.read(MAX_MANIFEST_BYTES + 1)
        if len(text) > MAX_MANIFEST_BYTES:
            raise _UnusableError(i18n("Its manifest is too long to be one."))
        return json.loads(text)
    except OSError as error:
        raise _UnusableError(i18n("Its manifest cannot be read: {reason}.", reason=error.strerror or error)) from error
    except (ValueError, RecursionError) as error:
        raise _UnusableError(i18n("Its manifest is damaged.")) from error
