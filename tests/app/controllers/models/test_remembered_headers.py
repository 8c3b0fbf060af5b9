"""Read headers are cached up to a number of bytes; the oldest are dropped first."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from app.controllers.models import pair_judge as hub_pairs
from app.controllers.models.pair_judge import MAX_HEADER_BYTES, PairJudge
from app.core.domain.models import ModelRef
from app.core.domain.settings.values import Settings
from tests.app.controllers.models.test_pair_judge import NO_DEVICES


def test_headers_are_remembered_by_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def read_header(path: Path, **_more: object) -> SimpleNamespace:
        read.append(path.name)
        return SimpleNamespace(header=SimpleNamespace(data_offset=MAX_HEADER_BYTES // 2))

    monkeypatch.setattr(hub_pairs, "read_local_header", read_header)
    judge = PairJudge(SimpleNamespace(path_of=lambda ref: ref.path), Settings, NO_DEVICES)  # type: ignore[arg-type]
    for name in ("one", "two", "two", "one", "three", "two", "one"):
        judge.known(ModelRef(path=f"/{name}"), lambda: False, may_be_head=True)
    assert read == ["one", "two", "three", "one"]
