"""The helper process that creates a draft from a model's layers and measures it, since loading models may crash."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.sandbox.probe import ask_child
from engine.sentences import from_json, to_json
from engine.storage.atomic import write_atomically

if TYPE_CHECKING:
    from engine.tuning.self_draft import Progress, SelfDraft

PROGRESS_FILE = "progress.json"
_LIMIT_S = 12 * 3600.0  # long, since the user sees the progress and can stop


@dataclass(frozen=True, slots=True)
class SelfDraftPlan:
    """Arguments of `make_in_helper`.

    Attributes:
        target: the model.
        folder: destination of the copies.
        cache_dir: folder with verdicts on this machine's kernels.
        sample: a small model to test the kernels.
        layers: layers to leave out; empty: several choices are tried.
    """

    target: Path
    folder: Path
    cache_dir: Path
    sample: Path
    layers: Sequence[int] = ()


def main(words: list[str]) -> dict[str, Any]:
    """The helper. ``words``: the paths of a `SelfDraftPlan`, then the layers."""
    from engine.sandbox.machine_check import file_inspector  # noqa: PLC0415  (loads llama.cpp)
    from engine.tuning.self_draft import make_self_draft  # noqa: PLC0415

    target, folder, cache_dir, sample = map(Path, words[:4])
    layers = [int(word) for word in words[4:]]
    file_inspector(cache_dir, sample)(target, lambda: False)
    shown = [("", -1)]

    def progress(what: str, fraction: float) -> None:
        now = (what, int(fraction * 100))
        if now != shown[0]:  # at most one report per percent
            shown[0] = now
            write_atomically(folder / PROGRESS_FILE, json.dumps([to_json(what), fraction]).encode())

    folder.mkdir(parents=True, exist_ok=True)
    found = make_self_draft(target, folder, [layers] if layers else (), progress)
    return {"drafts": [{**asdict(one), "path": str(one.path)} for one in found]}


def make_in_helper(
    plan: SelfDraftPlan, progress: Progress, should_stop: Callable[[], bool] = lambda: False
) -> tuple[SelfDraft, ...]:
    """Run `engine.tuning.self_draft.make_self_draft` in a helper; if the helper ends early, its files are deleted.

    Raises:
        EngineError: as for `make_self_draft`; or the helper crashed or was stopped.
    """
    from engine.tuning.self_draft import SelfDraft  # noqa: PLC0415  (with NumPy and llama.cpp)

    folder = plan.folder
    before = set(folder.iterdir()) if folder.is_dir() else set()
    is_made = False

    def look() -> bool:
        with suppress(OSError, ValueError):
            what, fraction = json.loads((folder / PROGRESS_FILE).read_bytes())
            progress(from_json(what), fraction)
        return should_stop()

    try:
        paths = [plan.target, folder, plan.cache_dir, plan.sample]
        answer = ask_child("self-draft", paths, _LIMIT_S, look, list(map(str, plan.layers)))
        is_made = True
    finally:
        for file in set(folder.iterdir()) - before if folder.is_dir() else ():
            if not is_made or file.name == PROGRESS_FILE:
                file.unlink(missing_ok=True)
    return tuple(
        SelfDraft(**{**one, "path": Path(one["path"]), "left_out": tuple(one["left_out"])}) for one in answer["drafts"]
    )
