"""`paceline models pairs`: lists drafts for a target, or the recommended pairs, as text or JSON."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from app.core.domain.models import DraftCandidate, Drafting
from app.core.hub.client import HubClient
from app.core.hub.library.library import Library, open_library
from app.core.hub.pairs.catalog import CATALOG_FILE, CatalogModel, CatalogPair, read_catalog
from app.core.hub.pairs.draft_finder import DraftSearch, DraftSources, find_drafts
from app.core.hub.remote_header import KnownModel, read_local_header
from app.core.paths import assets_dir, find_paths
from engine.drafters.translation.comparison import vocabulary_sentence

_NO_DRAFT_FILE = {
    Drafting.HEADS_INSIDE: "none needed: next-token layers (MTP) in the target's own file",
    Drafting.TEXT: "none: text that repeats is drafted",
}


def command(options: argparse.Namespace) -> int:
    """Print the drafts for a target, or the recommended pairs; returns 0, or 1 after printing the error."""
    catalog = read_catalog(assets_dir() / CATALOG_FILE)
    if options.target is None:
        _print_catalog(catalog, as_json=options.json)
        return 0
    library = open_library(find_paths())
    target = _target(options.target, library)
    with closing(HubClient()) as client:
        sources = DraftSources(library.models(), catalog, None if options.offline else client)
        search = find_drafts(target, sources)
    if options.json:
        print(json.dumps(_as_dict(target, search), ensure_ascii=False))
    else:
        _print_search(search)
    return 0


def _target(name: str, library: Library) -> KnownModel:
    """The model that ``name`` means: a file or a library name."""
    path = Path(name).expanduser()
    return read_local_header(path if path.is_file() else library.find(name).path)


def _print_search(search: DraftSearch) -> None:
    for candidate in search.matching:
        share = "" if candidate.cost_share is None else f", {candidate.cost_share:.0%} of the target's cost"
        words = "" if candidate.coverage is None else f". {vocabulary_sentence(candidate.coverage)}"
        words = f". It is a head made for such a model ({candidate.head})." if candidate.head else words
        print(f"{candidate.name}  ({_where(candidate)}, {_size(candidate.size_bytes)}{share}){words}")
    others = search.unchecked or search.rejected
    if search.matching and others:
        print()
    for candidate in search.unchecked:
        print(f"not checked: {candidate.name} ({_where(candidate)}): {candidate.reason}")
    for candidate in search.rejected:
        print(f"not suitable: {candidate.name} ({_where(candidate)}): {candidate.reason}")
    if search.matching or others:
        print()
    print(search.words)


def _print_catalog(catalog: tuple[CatalogPair, ...], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"pairs": [_pair(pair) for pair in catalog]}, ensure_ascii=False))
        return
    for pair in catalog:
        print(f"{pair.name}  ({pair.machine}, {_size(pair.size_bytes)})")
        print(f"  good for {pair.good_for}")
        print(f"  target {pair.target.repo} {pair.target.file}, licence {pair.target.licence}")
        if pair.draft is None:
            print(f"  draft  {_NO_DRAFT_FILE[pair.drafting]}")
        else:
            role = "head " if pair.drafting is Drafting.SIDE_FILE else "draft"
            print(f"  {role}  {pair.draft.repo} {pair.draft.file}, licence {pair.draft.licence}")
        if pair.speedup:
            low, high = pair.speedup.low, pair.speedup.high
            times = f"{low:g}" if low == high else f"{low:g} to {high:g}"
            print(f"  {times} times as fast elsewhere: {pair.speedup.measured_on} ({pair.speedup.source})")
    sys.stdout.write("\nSizes are approximate. `paceline models pairs TARGET` looks for drafts for one model.\n")


def _where(candidate: DraftCandidate) -> str:
    place = str(candidate.place)
    return f"{place}: {candidate.repo_id}" if candidate.repo_id else place


def _size(num_bytes: int | None) -> str:
    return "size not known" if num_bytes is None else f"{num_bytes / 1e9:.2f} GB"


def _as_dict(target: KnownModel, search: DraftSearch) -> dict[str, Any]:
    return {
        "target": str(target.path),
        "matching": [_candidate(candidate) for candidate in search.matching],
        "rejected": [_candidate(candidate) for candidate in search.rejected],
        "unchecked": [_candidate(candidate) for candidate in search.unchecked],
        "words": search.words,
    }


def _candidate(candidate: DraftCandidate) -> dict[str, Any]:
    return {
        "name": candidate.name,
        "place": candidate.place.value,
        "repo": candidate.repo_id or None,
        "file": candidate.file or None,
        "path": str(candidate.path) if candidate.path else None,
        "quantization": candidate.quantization or None,
        "size_bytes": candidate.size_bytes,
        "cost_share": candidate.cost_share,
        "reason": None if candidate.matches else candidate.reason,
        "speaks": candidate.coverage,
        "head": candidate.head or None,
    }


def _pair(pair: CatalogPair) -> dict[str, Any]:
    def model(half: CatalogModel) -> dict[str, Any]:
        names = ("repo", "file", "quantization", "licence", "size_bytes")
        return {name: getattr(half, name) for name in names}

    speedup = pair.speedup
    return {
        "key": pair.key,
        "name": pair.name,
        "machine": pair.machine.value,
        "good_for": pair.good_for,
        "drafting": pair.drafting.value,
        "target": model(pair.target),
        "draft": model(pair.draft) if pair.draft else None,
        "speedup": [speedup.low, speedup.high] if speedup else None,
        "speedup_source": speedup.source if speedup else None,
        "speedup_measured_on": speedup.measured_on if speedup else None,
        "verified": pair.verified,
    }
