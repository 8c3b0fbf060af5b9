"""`paceline models verify-catalog`: the recommended models held against the hub, for people and as a file to commit."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import app
from app.cli.output import INTERRUPTED, fail, notify
from app.core.domain.errors import AppError
from app.core.hub.client import HubClient
from app.core.hub.pairs.catalog import CATALOG_FILE, CatalogError, CatalogPair, EntryStatus, read_catalog
from app.core.hub.pairs.verification import Verification, verify
from app.core.paths import assets_dir
from engine.errors import EngineError
from engine.records import Problem

FORMAT = 1


def command(options: argparse.Namespace) -> int:
    """Print what differs; exit code 0 where every entry was confirmed, 1 where one was not or the hub is not there."""
    try:
        pairs = _chosen(options.keys)
        with closing(HubClient()) as client:
            found = [_verified(pair, client) for pair in pairs]
            endpoint = client.endpoint
        if options.json is not None:
            _write(Path(options.json), endpoint, found)
    except KeyboardInterrupt:
        print("\npaceline: Stopped.", file=sys.stderr)
        return INTERRUPTED
    except (AppError, EngineError) as error:
        return fail(error.problem, as_json=False)
    except CatalogError as error:
        return fail(Problem("The catalog cannot be read", f"{error}.", "Reinstall Paceline."), as_json=False)
    except OSError as error:
        problem = Problem("The disk refused", f"{options.json}: {error.strerror or error}.", "Choose another file.")
        return fail(problem, as_json=False)
    num_confirmed = sum(one.is_confirmed for one in found)
    print(f"\n{num_confirmed} of {len(found)} confirmed.")
    return 0 if num_confirmed == len(found) else 1


def _chosen(keys: list[str]) -> list[CatalogPair]:
    """The entries that were asked for, or all.

    Raises:
        AppError: there is none of this key.
    """
    pairs = read_catalog(assets_dir() / CATALOG_FILE)
    unknown = sorted(set(keys) - {pair.key for pair in pairs})
    if unknown:
        raise AppError(f"The catalog has no entry {unknown[0]}.", f"It has {', '.join(pair.key for pair in pairs)}.")
    return [pair for pair in pairs if not keys or pair.key in keys]


def _verified(pair: CatalogPair, client: HubClient) -> Verification:
    found = verify(pair, client)
    mark = "ok" if found.is_confirmed else "not confirmed" if found.status is EntryStatus.THERE else found.status.value
    print(f"{pair.key}: {mark}. {found.sentence}", flush=True)
    return found


def _write(path: Path, endpoint: str, found: list[Verification]) -> None:
    """One JSON object, in an order that does not change, so that two results can be compared line by line."""
    result: dict[str, Any] = {
        "format": FORMAT,
        "hub": endpoint,
        "checked_on": datetime.now(UTC).date().isoformat(),
        "version": app.__version__,
        "entries": [{**asdict(one), "is_confirmed": one.is_confirmed} for one in found],
    }
    path.write_text(json.dumps(result, ensure_ascii=False, indent=2) + "\n", "utf-8")
    notify(f"Written to {path}.")
