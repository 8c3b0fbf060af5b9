"""Checks assets/catalog.toml against a live hub: existence and headers of files.

    python packaging/catalog.py [KEY ...] [--json OUT]

No weights are downloaded: headers are fetched by ranges, and a pair's vocabularies are compared on stubs. Exit code 0
if every entry was confirmed. The output of --json can be committed; `verified = true` also needs a load.
"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from app.core.domain.models import Drafting, RepoFile
from app.core.hub.client import HubClient
from app.core.hub.errors import HubError
from app.core.hub.pairs.assessment import check_draft
from app.core.hub.pairs.catalog import CATALOG_FILE, CatalogPair, check, read_catalog
from app.core.hub.remote_header import KnownModel, read_remote_header
from app.core.paths import assets_dir
from engine.errors import EngineError
from engine.gguf.head_files import has_next_token_layers, head_method


@dataclass(frozen=True, slots=True)
class Verification:
    """The result for an entry. ``drafts_as_listed`` is None if it could not be checked. ``files``: on the hub."""

    key: str
    sentence: str
    is_as_listed: bool
    drafts_as_listed: bool | None
    files: tuple[RepoFile, ...]

    @property
    def is_confirmed(self) -> bool:
        """Whether the hub has the entry's files as listed, and the draft fits."""
        return self.is_as_listed and self.drafts_as_listed is True


def verify(pair: CatalogPair, client: HubClient) -> Verification:
    """Query the hub for an entry's files, then read the headers of existing files."""
    entry = check(pair, client)
    sentences, as_listed = [entry.sentence], None
    found = [one for one in zip(pair.models, (entry.target, entry.draft), strict=False) if one[1] is not None]
    try:
        known = [read_remote_header(client, one.repo, model, may_be_head=one is pair.draft) for one, model in found]
        if len(known) == len(pair.models):
            reason = why_not(pair.drafting, *known)
            as_listed = not reason
            sentences.append(reason)
    except (HubError, EngineError) as error:
        sentences.append(error.message)
    files = tuple(file for _, model in found for file in model.files)
    return Verification(pair.key, " ".join(filter(None, sentences)), len(found) == len(pair.models), as_listed, files)


def why_not(drafting: Drafting, target: KnownModel, draft: KnownModel | None = None) -> str:
    """Why an entry's draft does not work as listed; empty if it does."""
    if draft is None:
        missing = drafting is Drafting.HEADS_INSIDE and not has_next_token_layers(target.header)
        return f"{target.name} has no next-token layers (MTP), though the list says so." if missing else ""
    is_head = bool(head_method(draft.header))
    if is_head and drafting is not Drafting.SIDE_FILE:
        return f"{draft.name} is a head, not a draft model as listed."
    if not is_head and drafting is Drafting.SIDE_FILE:
        return f"{draft.name} is not a head, though the list says so."
    verdict = check_draft(target, draft)
    if verdict.matches and verdict.coverage is not None:
        return f"{draft.name} has another vocabulary than its target."
    return verdict.reason


def main(words: list[str] | None = None) -> int:
    """Print differences by entry, and write JSON if requested."""
    parser = argparse.ArgumentParser(description="Hold the recommended models against the hub.")
    parser.add_argument("keys", nargs="*", metavar="KEY", help="entries; default: all")
    parser.add_argument("--json", type=Path, metavar="OUT", help="also write what was found")
    options = parser.parse_args(words)
    pairs = read_catalog(assets_dir() / CATALOG_FILE)
    if unknown := set(options.keys) - {pair.key for pair in pairs}:
        parser.error(f"no entry {min(unknown)}; there are {', '.join(pair.key for pair in pairs)}")
    found = []
    with closing(HubClient()) as client:
        for pair in pairs:
            if not options.keys or pair.key in options.keys:
                found.append(verify(pair, client))
                words = f"{pair.key}: {'ok' if found[-1].is_confirmed else 'not confirmed'}. {found[-1].sentence}"
                print(words.rstrip())
    num_confirmed = sum(one.is_confirmed for one in found)
    print(f"\n{num_confirmed} of {len(found)} confirmed.")
    if options.json:
        entries = [{**asdict(one), "is_confirmed": one.is_confirmed} for one in found]
        result = {"hub": client.endpoint, "checked_on": datetime.now(UTC).date().isoformat(), "entries": entries}
        options.json.write_text(json.dumps(result, ensure_ascii=False, indent=2) + "\n", "utf-8")
    return 0 if num_confirmed == len(found) else 1


if __name__ == "__main__":
    sys.exit(main())
