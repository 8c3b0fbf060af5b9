"""`paceline models pairs`: lists drafts for a target, or the recommended pairs, as text or JSON."""

import argparse
from contextlib import closing

from app.cli.models.names import library_path
from app.cli.output import print_json
from app.core.domain.models import DraftCandidate, Drafting
from app.core.hub.client import HubClient
from app.core.hub.library.library import open_library
from app.core.hub.pairs.catalog import CATALOG_FILE, CatalogPair, read_catalog
from app.core.hub.pairs.draft_finder import DraftSearch, find_drafts
from app.core.hub.remote_header import read_local_header
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
        if options.json:
            print_json({"pairs": catalog})
        else:
            _print_catalog(catalog)
        return 0
    target = read_local_header(library_path(options.target))
    with closing(HubClient()) as client:
        library = open_library(find_paths()).models()
        search = find_drafts(target, library, catalog, None if options.offline else client)
    if options.json:
        print_json({"target": target.path, "drafts": search.rows, "words": search.words})
    else:
        _print_search(search)
    return 0


def _print_search(search: DraftSearch) -> None:
    for candidate in search.matching:
        share = "" if candidate.cost_share is None else f", {candidate.cost_share:.0%} of the target's cost"
        words = "" if candidate.coverage is None else f". {vocabulary_sentence(candidate.coverage)}"
        words = f". It is a head made for such a model ({candidate.head})." if candidate.head else words
        print(f"{candidate.name}  ({_where(candidate)}, {_size(candidate.size_bytes)}{share}){words}")
    if search.matching:
        print()
    for candidate in search.unchecked:
        print(f"not checked: {candidate.name} ({_where(candidate)}): {candidate.reason}")
    for candidate in search.rejected:
        print(f"not suitable: {candidate.name} ({_where(candidate)}): {candidate.reason}")
    print(search.words)


def _print_catalog(catalog: tuple[CatalogPair, ...]) -> None:
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
    print("\nSizes are approximate. `paceline models pairs TARGET` looks for drafts for one model.")


def _where(candidate: DraftCandidate) -> str:
    place = str(candidate.place)
    return f"{place}: {candidate.repo_id}" if candidate.repo_id else place


def _size(num_bytes: int | None) -> str:
    return "size not known" if num_bytes is None else f"{num_bytes / 1e9:.2f} GB"
