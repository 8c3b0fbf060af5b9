"""Finds GGUF files of other programs on this disk. Read-only; depth and number are limited.

Knows the documented folders of the Hugging Face cache, LM Studio, Jan and llama.cpp.
"""

import os
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path

from app.core.domain.models import Offer
from app.core.hub.file_names import all_shards, is_gguf, kind_of, model_name, quantization_of, shard_of

MAX_DEPTH = 6
MAX_ENTRIES = 20_000
MAX_OFFERS = 2000
MAGIC = b"GGUF"
_EXCLUDED_MOUNTS = frozenset(map(Path, ("/proc", "/sys", "/dev", "/run")))  # virtual file systems


def known_places(environ: Mapping[str, str], home: Path, platform: str = sys.platform) -> tuple[tuple[str, Path], ...]:
    """Names of programs and their folders, which need not exist."""
    caches, data = _system_folders(environ, home, platform)
    hf_home = _path(environ, "HF_HOME", Path(environ.get("XDG_CACHE_HOME") or home / ".cache") / "huggingface")
    hub_cache = _path(environ, "HF_HUB_CACHE", _path(environ, "HUGGINGFACE_HUB_CACHE", hf_home / "hub"))
    return (
        ("Hugging Face cache", hub_cache),
        ("LM Studio", home / ".lmstudio" / "models"),
        ("LM Studio", home / ".cache" / "lm-studio" / "models"),
        ("Jan", data / "Jan" / "data" / "llamacpp" / "models"),
        ("Jan", data / "Jan" / "data" / "models"),
        ("Jan", home / "jan" / "models"),
        ("llama.cpp", _path(environ, "LLAMA_CACHE", caches / "llama.cpp")),
    )


def offers_in(program: str, folder: Path, *, follows_links: bool = True) -> Iterator[Offer]:
    """The models below a folder, each once. ``follows_links``: of folders; links to files are always followed."""
    seen: set[Path] = set()
    num_files = 0
    for num_folders, (_place, entries) in enumerate(walk(folder, MAX_DEPTH, follows_links=follows_links)):
        for entry in entries or ():
            if is_folder(entry):
                continue
            num_files += 1
            if max(num_files, num_folders) > MAX_ENTRIES:
                return
            offer = offer_of(program, Path(entry.path))
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


def walk(
    folder: Path, max_depth: int = 1000, *, follows_links: bool = True
) -> Iterator[tuple[Path, list[os.DirEntry[str]] | None]]:
    """The folders below a folder with their entries by name (None: unreadable); each is visited once.

    Links are followed last, so that a limit does not cut off the program's own files.
    """
    known: set[tuple[int, int]] = set()
    waiting, links = [(folder, 0)], deque[tuple[Path, int]]()
    while waiting or links:
        place, depth = waiting.pop() if waiting else links.popleft()
        if _is_known_folder(place, known):
            continue
        try:
            with os.scandir(place) as listed:
                entries = sorted(listed, key=lambda entry: entry.name)
        except OSError:
            yield place, None
            continue
        yield place, entries
        below = [entry for entry in entries if depth < max_depth and is_folder(entry)]
        waiting += [(Path(entry.path), depth + 1) for entry in reversed(below) if not entry.is_symlink()]
        if follows_links:
            links += [(Path(entry.path), depth + 1) for entry in below if entry.is_symlink()]


def is_folder(entry: os.DirEntry[str]) -> bool:
    """True for a folder or a link to a folder."""
    try:
        return entry.is_dir()
    except OSError:  # for example a link to itself
        return False


def _is_known_folder(folder: Path, known: set[tuple[int, int]]) -> bool:
    """True if a folder is virtual, or was visited before (same device and inode): ends circles of links."""
    try:
        facts = folder.stat()
    except OSError:
        return False
    identity = (facts.st_dev, facts.st_ino)
    if identity in known or folder.resolve() in _EXCLUDED_MOUNTS:
        return True
    known.add(identity)
    return False


def _system_folders(environ: Mapping[str, str], home: Path, platform: str) -> tuple[Path, Path]:
    """The system's folders for caches and data."""
    if platform == "win32":
        return (
            _path(environ, "LOCALAPPDATA", home / "AppData" / "Local"),
            _path(environ, "APPDATA", home / "AppData" / "Roaming"),
        )
    if platform == "darwin":
        return home / "Library" / "Caches", home / "Library" / "Application Support"
    return _path(environ, "XDG_CACHE_HOME", home / ".cache"), _path(environ, "XDG_DATA_HOME", home / ".local" / "share")


def _path(environ: Mapping[str, str], name: str, default: Path) -> Path:
    value = environ.get(name, "")
    return Path(value).expanduser() if value else default
