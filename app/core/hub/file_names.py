"""Reads facts from names of GGUF files, and checks which names may become paths.

The conventions are llama.cpp's: gguf-split's names of shards, and its quantizer's names of quantizations.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from app.core.domain.model_name import printable
from app.core.domain.models import FileKind, RepoFile, RepoModel
from app.core.hub.errors import (
    UnsafeNameError,
)
from engine.sentences import i18n

MAX_NAME_CHARS = 200  # limit of a path component: file systems allow 255 bytes, and ".part" is appended
MAX_PATH_CHARS = 600
MAX_SHARDS = 999
GGUF = ".gguf"
MAGIC = b"GGUF"  # the first bytes of a file

_SHARD = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<total>\d{5})\.gguf", re.IGNORECASE)
_QUANTIZATION = re.compile(
    r"(?:^|[-._/ ])"
    r"((?:UD-)?(?:I?Q[1-8](?:_(?:K|[01]|XXS|XS|S|M|L|XL|NL|P|[48]_[48]))*"
    r"|TQ[12]_0|MXFP4(?:_MOE)?|NVFP4|BF16|F16|F32|FP16|FP32))"
    r"(?=$|[-._/ ])",
    re.IGNORECASE,
)
# The first match counts: a drafter's projector is a projector, and an EAGLE head is of the kind EAGLE.
_KINDS: tuple[tuple[FileKind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(rf"(?:^|[-._/ ])(?:{words})(?=$|[-._/ ])", re.IGNORECASE))
    for kind, words in (
        (FileKind.IMATRIX, r"i-?matrix"),
        (FileKind.MMPROJ, r"mm-?proj(?:ector)?|[\w-]*mmproj[\w-]*"),
        # llama.cpp's names of side files. A model with "-MTP-" in the middle of its name contains the heads itself.
        (FileKind.MTP, r"(?-i:mtp(?=-))|nextn|mtp-?heads?|gemma-?4[\w.-]*-assistant"),
        (FileKind.EAGLE, r"eagle-?[123]?(?:\.\d)?"),
        (FileKind.DFLASH, r"d-?flash2?|d-?spark"),
        (FileKind.ADAPTER, r"q?lora|adapter"),
        (FileKind.VOCAB, r"ggml-vocab|vocab(?:-only)?"),
        (FileKind.DRAFT, r"draft(?:er)?|spec(?:ulator)?|assistant-draft"),
    )
)
# Windows' device names, also with an extension ("nul.gguf"). Refused on every system, so that a library folder can be
# moved to Windows.
_RESERVED = {"con", "prn", "aux", "nul", "conin$", "conout$"} | {
    f"{device}{number}" for device in ("com", "lpt") for number in "0123456789\u00b9\u00b2\u00b3"
}
_FORBIDDEN = set('<>:"|?*\\')
_REPO_PART = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?")


def is_gguf(name: str) -> bool:
    return name.lower().endswith(GGUF)


def shard_of(name: str) -> tuple[str, int, int] | None:
    """Stem, number (from 1) and total in a shard's name; None if it is no shard."""
    match = _SHARD.fullmatch(name)
    if match is None:
        return None
    number, total = int(match["number"]), int(match["total"])
    return (match["stem"], number, total) if 1 <= number <= total <= MAX_SHARDS else None


def model_name(path: str) -> str:
    """A model's name for display: the file name without folders, shard number and ".gguf"."""
    name = printable(path.rsplit("/", 1)[-1])
    shard = shard_of(name)
    if shard is not None:
        return shard[0]
    return name[: -len(GGUF)] if is_gguf(name) else name


def quantization_of(path: str) -> str:
    """The quantization ("Q4_K_M") in a file's name, or else in its folder's name; empty if neither has one."""
    for text in (model_name(path), path.rpartition("/")[0]):
        found = _QUANTIZATION.findall(text)
        if found:
            return str(found[-1]).upper().replace("FP16", "F16").replace("FP32", "F32")
    return ""


def kind_of(path: str) -> FileKind:
    """The kind of a GGUF file by its name. The header is more reliable."""
    name = model_name(path)
    return next((kind for kind, pattern in _KINDS if pattern.search(name)), FileKind.MODEL)


def group_models(files: Iterable[RepoFile]) -> tuple[RepoModel, ...]:
    """Group GGUF files into models, each with its shards in order; other files are left out."""
    singles: list[RepoModel] = []
    shards: dict[tuple[str, int], dict[int, RepoFile]] = {}
    for file in files:
        if not is_gguf(file.path):
            continue
        folder, slash, name = file.path.rpartition("/")
        shard = shard_of(name)
        if shard is None:
            singles.append(_model(file.path, (file,)))
        else:
            shards.setdefault((folder + slash + shard[0], shard[2]), {})[shard[1]] = file
    for (stem, total), parts in shards.items():
        ordered = tuple(parts[number] for number in sorted(parts))
        singles.append(_model(stem + GGUF, ordered, total - len(parts)))
    return tuple(sorted(singles, key=lambda model: (model.kind is not FileKind.MODEL, model.files[0].path.lower())))


def _model(path: str, files: tuple[RepoFile, ...], missing_shards: int = 0) -> RepoModel:
    return RepoModel(model_name(path), kind_of(path), files, quantization_of(path), missing_shards)


def all_shards(path: Path) -> tuple[Path, ...]:
    """All files of a model, by the name of any of its shards. The files need not exist."""
    shard = shard_of(path.name)
    if shard is None:
        return (path,)
    stem, _, total = shard
    return tuple(path.with_name(f"{stem}-{number:05d}-of-{total:05d}{path.suffix}") for number in range(1, total + 1))


# ---- names that become paths -------------------------------------------------------------------------------------


def check_repo_id(repo_id: str) -> str:
    """Check and return a repository id "owner/name".

    Raises:
        UnsafeNameError: the id is invalid.
    """
    parts = repo_id.split("/")
    if len(parts) != 2 or not all(_REPO_PART.fullmatch(part) and ".." not in part for part in parts):
        raise UnsafeNameError(
            i18n("{repo_id} is not a repository of the form owner/name.", repo_id=short(repo_id)), "Check the spelling."
        )
    return repo_id


def safe_parts(path: str) -> tuple[str, ...]:
    """Split a path in a repository into components that are valid on every system.

    Raises:
        UnsafeNameError: a component is unsafe: "..", a root, a drive, a device, a control character.
    """
    parts = PurePosixPath(path).parts if path and len(path) <= MAX_PATH_CHARS else ()
    if not parts or "/".join(parts) != path:
        raise UnsafeNameError(i18n("The file name {path} is not a plain relative path.", path=short(path)))
    for part in parts:
        reason = _complaint(part)
        if reason:
            raise UnsafeNameError(i18n("The file name {path} {reason}.", path=short(path), reason=reason))
    return parts


def path_inside(folder: Path, parts: Sequence[str]) -> Path:
    """The path of ``parts`` below ``folder``, after resolving existing links.

    Raises:
        UnsafeNameError: a link on the way leads out of the folder.
    """
    path = folder.joinpath(*parts)
    root = folder.resolve()
    if not path.resolve().is_relative_to(root):
        raise UnsafeNameError(
            i18n("{path} would lie outside the library folder, through a link.", path=short("/".join(parts)))
        )
    return path


def _complaint(part: str) -> str:
    if part in (".", ".."):
        return i18n("leads to another folder")
    if len(part.encode("utf-8", "replace")) > MAX_NAME_CHARS:
        return i18n("is too long")
    if any(char in _FORBIDDEN or not char.isprintable() for char in part):
        return i18n("contains characters that do not belong in a name")
    if part != part.strip(" .") or part.startswith(("-", "~")):
        return i18n("begins or ends with a character that some systems drop or interpret differently")
    if part.partition(".")[0].rstrip().lower() in _RESERVED:
        return i18n("is the name of a device on Windows")
    return ""


def short(text: str) -> str:
    """Quote an untrusted text in a message: shortened, without control characters."""
    shown = printable(text[:80])
    return f"\N{LEFT DOUBLE QUOTATION MARK}{shown}{'…' if len(text) > 80 else ''}\N{RIGHT DOUBLE QUOTATION MARK}"


LOCKS = ".locks"  # folder of lock files, never deleted: else two processes could hold the same lock
