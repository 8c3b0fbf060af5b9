"""`paceline models self-draft`: makes a draft from the model itself, and keeps it only if it measures faster."""

import argparse
from contextlib import closing

from app.cli.models.names import library_path
from app.cli.output import ProgressLine, print_json
from app.core.paths import builtin_target, find_paths
from engine.sandbox.self_draft_child import SelfDraftPlan, make_in_helper


def command(options: argparse.Namespace) -> int:
    """Make and measure copies; exit code 0 if one is faster, otherwise 1 after printing the measurements."""
    paths, target = find_paths(), library_path(options.target)
    with closing(ProgressLine()) as progress:
        plan = SelfDraftPlan(target, paths.self_drafts, paths.cache, builtin_target(), options.layers)
        found = make_in_helper(plan, progress.show)
    best = found[0]
    draft = str(best.path) if best.pays else None
    if options.json:
        print_json({"target": target, "draft": draft, "tried": found})
    else:
        for one in found:
            print(one.words)
        if draft is None:
            advice = "A smaller model of the same family, or text that repeats (suffix), is the better draft."
            print(f"No copy was kept. {advice}")
        else:
            print(f"The draft is {draft}\npaceline run --model {target} --draft {draft} --prompt Hello")
    return int(draft is None)
