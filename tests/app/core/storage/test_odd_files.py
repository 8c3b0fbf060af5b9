"""Small files with content that no version writes never prevent a start and never fill memory."""

import json
import os
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.domain.settings.layers import PRESET_KEYS, valid_values
from app.core.domain.settings.table import FIELD_BY_KEY, value_problem
from app.core.hub.client import details_of, summary_of
from app.core.hub.downloads.download_queue import QueueFile
from app.core.hub.library.library import Library
from app.core.storage.chats.backups import backup_is_due, backups_in, rotate
from app.core.storage.settings_file import read_settings, write_settings
from app.core.storage.toml_file import TomlFile
from engine.storage.cost_store import FILE_NAME as COSTS
from engine.storage.cost_store import CostStore
from ui.text.formatting import size

HUGE = 10**400
DEEP = "[" * 100_000
ODD = st.sampled_from([HUGE, -HUGE, -1, 0, 1e999, float("nan"), None, True, "", "9" * 400, [], {}, [[]], {"1": HUGE}])
SHARED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize(
    "text", ["x = " + "9" * 5000, "x = [" * 100_000, "a.a = 1\n" * 2,
    "x = '" + "y" * 17_000_000 + "'"], ids=["digits", "open", "twice", "huge"],
)  # fmt: skip
def test_settings_that_cannot_be_are_set_aside_and_new_ones_are_saved(tmp_path: Path, text: str) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(text)
    loaded = read_settings(file)
    assert loaded.problem is not None
    assert [kept.read_text() for kept in tmp_path.glob("settings.broken-*.toml")] == [text]
    write_settings(file, loaded.settings)
    assert read_settings(file).problem is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.timeout(60)
def test_settings_that_are_no_ordinary_file_are_reported_and_left(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    os.mkfifo(file)
    loaded = read_settings(file)
    assert loaded.problem is not None
    assert "not a regular file" in loaded.problem.message
    assert file.is_fifo()


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
def test_settings_behind_a_link_stay_there(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "dotfiles" / "mine.toml").write_text("[sampling]\ntop_k = 3\n")
    link = tmp_path / "settings.toml"
    link.symlink_to(tmp_path / "dotfiles" / "mine.toml")
    write_settings(link, read_settings(link).settings.changed({"top_k": 4})[0])
    assert link.is_symlink()
    assert "top_k = 4" in (tmp_path / "dotfiles" / "mine.toml").read_text()
    assert sorted(each.name for each in (tmp_path / "dotfiles").iterdir()) == ["mine.toml"]


@given(values=st.dictionaries(st.sampled_from(sorted(PRESET_KEYS)), ODD | st.text(), min_size=1))
def test_absurd_values_of_presets_are_left_out(values: dict[str, Any]) -> None:
    """Any content is possible: TOML has neither null nor such numbers, but other parsers may."""
    valid = valid_values(values, PRESET_KEYS)
    assert all(value_problem(FIELD_BY_KEY[key], value) == "" for key, value in valid.items())


def test_half_a_character_is_saved_as_a_question_mark(tmp_path: Path) -> None:
    file = TomlFile(tmp_path / "prompts.toml", "prompts", "none")
    file.write({"text": "a\ud800b"})
    assert file.read().document == {"text": "a?b"}


@SHARED
@given(odd=ODD, key=st.sampled_from(["1", "-3", "0", "9" * 400, "x"]))
def test_odd_costs_are_none(tmp_path: Path, odd: object, key: str) -> None:
    for bands in ({"1024": {"1": 1.0, key: odd}}, {key: {"1": 1.0}}, odd):
        (tmp_path / COSTS).write_text(json.dumps({"format": 1, "costs": {"k": {"threads": 2, "bands": bands}}}))
        kept = CostStore(tmp_path).get("k")
        assert kept is None or all(0 < num < 2**31 for points in kept.bands.values() for num in points)


@pytest.mark.parametrize("text", [DEEP, "9" * 5000, '{"format": 1, "reports": {"k": ' + DEEP, "\udcff" * 10])
def test_costs_that_are_no_json_are_none(tmp_path: Path, text: str) -> None:
    (tmp_path / COSTS).write_text(text, errors="surrogateescape")
    assert CostStore(tmp_path).get("k") is None


FIELDS = ["downloads", "likes", "lastModified", "gguf", "siblings", "tags", "cardData", "gated", "sha"]
DATES = st.sampled_from(["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "1500-01-01", "2026-01-01"])


@SHARED
@given(field=st.sampled_from(FIELDS), odd=ODD | DATES)
def test_odd_fields_of_a_hub_are_left_out(field: str, odd: object) -> None:
    siblings = [{"rfilename": "a.gguf", "size": odd, "lfs": {"size": odd, "sha256": odd}}]
    answer = {"id": "owner/name", "siblings": siblings, "gguf": {"total": odd, "context_length": odd}, field: odd}
    summary = summary_of(answer)
    assert summary is not None
    if summary.updated is not None:
        summary.updated.astimezone()
    details = details_of(answer, "owner/name")
    assert all(model.size_bytes is None or size(model.size_bytes) for model in details.models)


@SHARED
@given(field=st.sampled_from(["size_bytes", "added", "last_used", "files", "name", "draft"]), odd=ODD | DATES)
def test_an_odd_index_of_the_library_can_be_shown(tmp_path: Path, field: str, odd: object) -> None:
    base: dict[str, Any] = {"name": "m", "files": ["/no/" + "x" * 5000 + ".gguf"], "is_downloaded": False}
    (tmp_path / "library.json").write_text(json.dumps({"version": 1, "models": [{**base, field: odd}]}))
    for model in Library(tmp_path / "models", tmp_path / "library.json").models():
        assert size(model.size_bytes)
        for moment in (model.added, model.last_used):
            assert moment is None or moment.astimezone()


def test_an_odd_queue_is_left_out(tmp_path: Path) -> None:
    file = {"path": "x.gguf", "size_bytes": HUGE, "sha256": ""}
    row = {"repo_id": "a/b", "revision": "main", "name": "n", "quantization": "q", "files": [file], "draft_of": ""}
    rows = [{**row, "licence": "", "status": "paused"}]
    (tmp_path / "downloads.json").write_text(json.dumps({"version": 1, "downloads": rows}))
    queue = QueueFile(tmp_path / "downloads.json")
    assert queue.open() == ()
    queue.close()


def test_copies_that_a_person_renamed_are_left_alone(tmp_path: Path) -> None:
    ours = tmp_path / "chats-daily-20261121-061206-000000.db"
    others = [tmp_path / "chats-daily-20261121-061206-000000 (copy).db", tmp_path / "chats-daily-old.db"]
    for path in (ours, *others):
        path.write_bytes(b"")
    today = datetime(2026, 11, 21)  # noqa: DTZ001
    rotate(tmp_path, today)
    assert backups_in(tmp_path) == [ours]
    assert all(path.exists() for path in others)
    assert not backup_is_due(tmp_path, today)
