"""What is judged of a pair: where it is refused, what its target takes alone."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from app.hub_pairs import PairJudge
from app.paths import builtin_draft, builtin_target
from app.settings import Settings
from tests.engine.gguf_factory import tiny_llama
from ui.hub_records import Match, ModelRef, PairView


def judged(folder: Path, draft: Path | None) -> PairView:
    shelf = SimpleNamespace(path_of=lambda ref: ref.path, library=SimpleNamespace(folder=folder))
    judge = PairJudge(shelf, Settings)  # type: ignore[arg-type]
    target = ModelRef(path=str(builtin_target()))
    return judge.judge(target, ModelRef(path=str(draft)) if draft else None, lambda: False)


def test_a_refused_pair_tells_what_the_target_takes_alone(tmp_path: Path) -> None:
    refused = judged(tmp_path, tiny_llama(n_ff=32).write(tmp_path / "other.gguf"))
    alone, pair = judged(tmp_path, None), judged(tmp_path, builtin_draft())
    assert (refused.match, alone.match, pair.match) == (Match.NO, Match.UNCHECKED, Match.YES)
    assert refused.draft is not None
    assert refused.match_words
    assert refused.fit is not None
    assert alone.fit is not None
    assert pair.fit is not None
    assert refused.fit.parts == alone.fit.parts
    assert all(part.draft_bytes is None for part in refused.fit.parts)
    assert any(part.draft_bytes for part in pair.fit.parts)
    assert (refused.note, alone.note) == ("", "")
    assert pair.note
