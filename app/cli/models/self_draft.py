"""`paceline models self-draft`: makes a draft from the model itself, and keeps it only if it measures faster."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from app.cli.output import ProgressLine
from app.core.hub.library.library import open_library
from app.core.paths import builtin_target, find_paths
from engine.sandbox.self_draft_child import SelfDraftPlan, make_in_helper
from engine.tuning.self_draft import SelfDraft


def command(options: argparse.Namespace) -> int:
    """Make and measure copies; exit code 0 if one is faster, otherwise 1 after printing the measurements."""
    paths, lines = find_paths(), ProgressLine()
    try:
        target = Path(options.target).expanduser()
        target = target if target.is_file() else open_library(paths).find(options.target).path
        plan = SelfDraftPlan(target, paths.self_drafts, paths.cache, builtin_target(), options.layers)
        found = make_in_helper(plan, lines.show)
    finally:
        lines.end()
    best = found[0]
    if options.json:
        print(json.dumps({"target": str(target), "tried": [_as_dict(one) for one in found]}, ensure_ascii=False))
        return 0 if best.pays else 1
    for one in found:
        print(one.words)
    if best.pays:
        print(f"The draft is {best.path}")
        print(f"paceline run --model {target} --draft {best.path} --prompt Hello")
        return 0
    print("No copy was kept. A smaller model of the same family, or text that repeats (suffix), is the better draft.")
    return 1


def _as_dict(one: SelfDraft) -> dict[str, object]:
    return {
        "path": str(one.path) if one.path.exists() else None,
        "layers": one.n_layer,
        "left_out": list(one.left_out),
        "agreement": round(one.agreement, 4),
        "share_of_a_pass": round(one.share, 4),
        "tokens": one.num_tokens,
        "pays": one.pays,
    }
