"""Readable names for licence identifiers of the hub and of GGUF files."""

from __future__ import annotations

import re

# From https://huggingface.co/docs/hub/repositories-licenses; unknown identifiers stay as they are.
_NAMES = {
    "mit": "MIT",
    "isc": "ISC",
    "ms-pl": "MS-PL",
    "bsd": "BSD",
    "bsd-2-clause": "BSD 2-Clause",
    "bsd-3-clause": "BSD 3-Clause",
    "openrail": "OpenRAIL",
    "openrail++": "OpenRAIL++",
    "bigscience-openrail-m": "BigScience OpenRAIL-M",
    "bigcode-openrail-m": "BigCode OpenRAIL-M",
    "creativeml-openrail-m": "CreativeML OpenRAIL-M",
    "cc": "CC",
    "unlicense": "Unlicense",
    "wtfpl": "WTFPL",
    "gemma": "Gemma",
    "unknown": "Unknown",
    "other": "Other",
}
_APACHE = re.compile(r"apache-(\d[\d.]*)")
_LLAMA = re.compile(r"llama(\d[\d.]*)")
_LETTERS = re.compile(r"(cc0|cc-by(?:-nc)?(?:-sa|-nd)?|a?gpl|lgpl|mpl|epl|eupl|artistic|afl|osl)-(\d[\d.]*)")


def licence_name(identifier: str) -> str:
    """``apache-2.0`` becomes "Apache 2.0"."""
    known = identifier.strip().lower()
    if known in _NAMES:
        return _NAMES[known]
    if found := _APACHE.fullmatch(known):
        return f"Apache {found[1]}"
    if found := _LLAMA.fullmatch(known):
        return f"Llama {found[1]}"
    if found := _LETTERS.fullmatch(known):
        letters = found[1].capitalize() if found[1] == "artistic" else found[1].upper().replace("CC-", "CC ", 1)
        return f"{letters} {found[2]}"
    return identifier
