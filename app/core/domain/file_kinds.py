"""Derives a file's kind, and the language for its code fence, from its name."""

import re
from pathlib import PurePath

from app.core.domain.attachments import AttachmentKind

MAX_NAME_CHARS = 120
_LANGUAGES = {
    "asm": "asm", "bash": "bash", "bat": "bat", "c": "c", "cc": "cpp", "cfg": "ini", "cmake": "cmake", "conf": "",
    "cpp": "cpp", "cs": "csharp", "css": "css", "cxx": "cpp", "dart": "dart", "diff": "diff", "el": "lisp",
    "erl": "erlang", "ex": "elixir", "exs": "elixir", "f90": "fortran", "fs": "fsharp", "go": "go", "gradle": "groovy",
    "groovy": "groovy", "h": "c", "hpp": "cpp", "hs": "haskell", "htm": "html", "html": "html", "ini": "ini",
    "ipynb": "json", "java": "java", "jl": "julia", "js": "javascript", "json": "json", "jsonl": "json",
    "jsx": "jsx", "kt": "kotlin", "lisp": "lisp", "lua": "lua", "m": "matlab", "ml": "ocaml", "nix": "nix",
    "patch": "diff", "php": "php", "pl": "perl", "proto": "protobuf", "ps1": "powershell", "py": "python",
    "pyi": "python", "r": "r", "rb": "ruby", "rs": "rust", "scala": "scala", "sh": "bash", "sql": "sql",
    "svelte": "html", "swift": "swift", "tex": "latex", "tf": "hcl", "toml": "toml", "ts": "typescript",
    "tsx": "tsx", "vb": "vbnet", "vue": "html", "xml": "xml", "yaml": "yaml", "yml": "yaml", "zig": "zig",
    "zsh": "bash",
}  # fmt: skip
_LANGUAGES_BY_NAME = {"makefile": "makefile", "dockerfile": "dockerfile", "cmakelists.txt": "cmake"}
_KINDS = {
    "md": AttachmentKind.MARKDOWN,
    "markdown": AttachmentKind.MARKDOWN,
    "csv": AttachmentKind.CSV,
    "tsv": AttachmentKind.CSV,
    "pdf": AttachmentKind.PDF,
    **dict.fromkeys(("docx", "pptx", "xlsx", "epub", "eml"), AttachmentKind.DOCUMENT),
    **dict.fromkeys(("png", "jpg", "jpeg", "webp", "gif"), AttachmentKind.PICTURE),
}
_FENCES = {AttachmentKind.MARKDOWN: "markdown", AttachmentKind.CSV: "csv"}


def file_extension(name: str) -> str:
    """The part after the last dot, in lower case; empty without a dot."""
    return PurePath(name).suffix[1:].lower()


def kind_of(name: str) -> AttachmentKind:
    """The kind of a file by its name; plain text for unknown names."""
    suffix = file_extension(name)
    if suffix in _KINDS:
        return _KINDS[suffix]
    return AttachmentKind.CODE if suffix in _LANGUAGES or name.lower() in _LANGUAGES_BY_NAME else AttachmentKind.TEXT


def language_of(name: str, kind: AttachmentKind) -> str:
    """The language name for a code fence; empty if the language has no common name."""
    if kind is AttachmentKind.CODE:
        return _LANGUAGES_BY_NAME.get(name.lower(), _LANGUAGES.get(file_extension(name), ""))
    return "tsv" if file_extension(name) == "tsv" else _FENCES.get(kind, "")


def shown_name(name: str) -> str:
    """Shorten a file's name to one line that can be shown and stored; its ending stays."""
    printable = "".join(char if char.isprintable() else " " for char in name.encode("utf-8", "replace").decode())
    line = re.sub(r"\s+", " ", printable).strip() or "file"
    if len(line) <= MAX_NAME_CHARS:
        return line
    tail = line[-20:]
    return f"{line[: MAX_NAME_CHARS - len(tail) - 1]}…{tail}"
