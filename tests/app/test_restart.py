"""Another language by real clicks: the app saves, closes, and opens again on the same chat with the unsent text."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.restart import CHAT_VARIABLE, chat_to_open
from tests.app.fakes import Desk, open_desk

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 90


@pytest.mark.timeout(2 * LIMIT_S)
def test_another_language_by_restarting_keeps_the_unsent_text(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.app.restarted_app"],
        cwd=ROOT,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {"new": "Neuer Chat", "text": "not sent yet"}


def test_the_chat_that_was_open_is_opened_and_the_word_counts_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    first = desk.store.create_conversation("First")
    desk.store.create_conversation("Second")
    desk.close()
    monkeypatch.setenv(CHAT_VARIABLE, str(first))
    again = open_desk()
    assert again.controller.conversations.current_id == first
    assert chat_to_open() is None
    again.close()


@pytest.mark.parametrize(("handed", "opened"), [("0", None), ("99", "latest"), ("nonsense", "latest")])
def test_what_cannot_be_opened_gives_way_to_the_latest(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, handed: str, opened: str | None
) -> None:
    latest = desk.store.create_conversation("Only")
    desk.close()
    monkeypatch.setenv(CHAT_VARIABLE, handed)
    again = open_desk()
    assert again.controller.conversations.current_id == (latest if opened else None)
    again.close()
