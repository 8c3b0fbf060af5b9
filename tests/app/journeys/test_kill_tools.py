"""SIGKILL of the whole app during a turn with tools: no call is lost, and none is run twice.

The long form kills forty times.
"""

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageState, MessageView
from app.core.domain.tools.calls import CallStatus
from tests.app.fakes import open_app
from tests.app.scripted_tools_app import CALLS, QUESTION, result_of
from tests.long_form import rounds
from ui.transcript.cards.tool_card import ToolCard

NUM_KILLS = rounds(4, 40)
ROOT = Path(__file__).resolve().parents[3]


def run_and_kill(seconds: float, written: Path, error_file: Path) -> None:
    """Start the app, let it call its tool for ``seconds`` after the first question, kill it."""
    with error_file.open("wb") as errors:
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.app.scripted_tools_app", str(written)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
    assert child.stdout is not None
    line = child.stdout.readline()
    while line and b"asked" not in line:
        line = child.stdout.readline()
    assert line, error_file.read_text(encoding="utf-8")
    time.sleep(seconds)
    child.kill()
    child.stdout.read()
    child.stdout.close()
    child.wait()


def numbers_of(views: list[MessageView]) -> list[str]:
    return [view.call.arguments.split('"')[3] for view in views if view.call is not None]


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is a word of POSIX")
@pytest.mark.timeout(120 + 60 * NUM_KILLS)
def test_a_kill_in_a_turn_with_tools_loses_no_call_and_repeats_none(qtbot: QtBot, tmp_path: Path) -> None:
    rng = random.Random()  # noqa: S311 (moments, not secrets)
    written = tmp_path / "written"
    written.touch()
    ends: Counter[str] = Counter()
    num_questions = 0
    for number in range(NUM_KILLS):
        run_and_kill(rng.uniform(0.05, 1.5), written, tmp_path / "errors")
        done = written.read_text("utf-8").split()
        harness = open_app()
        assert harness.window.problems == []
        views = [view for row in harness.store.conversations() for view in harness.store.messages(row.id)]
        calls = [view for view in views if view.call is not None]
        numbers = numbers_of(calls)
        # Nothing is run twice; calls that have run, or may have, are stored in the order in which they were called.
        assert len(set(done)) == len(done)
        statuses = {one: view.call.status for one, view in zip(numbers, calls, strict=True) if view.call is not None}
        assert len(statuses) == len(numbers)
        assert [one for one in numbers if one in done] == done
        for one, view in zip(numbers, calls, strict=True):
            assert statuses[one] in (CallStatus.DONE, CallStatus.UNKNOWN, CallStatus.STOPPED)
            assert (one in done) or statuses[one] is not CallStatus.DONE
            assert not (one in done and statuses[one] is CallStatus.STOPPED)  # a call that ran is never called stopped
            assert view.text == (result_of(one) if statuses[one] is CallStatus.DONE else "")
        kinds = Counter(statuses.values())
        assert kinds[CallStatus.UNKNOWN] <= number + 1  # the call that was running at the kill
        assert kinds[CallStatus.STOPPED] <= CALLS * (number + 1)
        assert all(view.state is not MessageState.STREAMING for view in views)
        assert {view.text for view in views if view.role == "user"} == {QUESTION}
        assert sum(view.role == "user" for view in views) > num_questions
        num_questions = sum(view.role == "user" for view in views)
        last = harness.window.shown[-1][1][-1]
        ends[last.call.status.value if last.call is not None else f"{last.role} {last.state.value}"] += 1
        at_end = harness.window.shown[-1][1][-CALLS - 1 :]  # older messages may be built only when scrolled to
        if any(view.call is not None and view.call.status is CallStatus.UNKNOWN for view in at_end):
            qtbot.waitUntil(lambda page=harness.window.transcript: not page.is_building)
            card = harness.window.transcript.last_card(
                lambda view: view.call is not None and view.call.status is CallStatus.UNKNOWN
            )
            assert isinstance(card, ToolCard)
            assert card.repeat_button is not None
            assert "may have had an effect" in card.note.text()
        qtbot.wait(100)
        harness.close()
        assert written.read_text("utf-8").split() == done  # nothing continues by itself
    assert done  # otherwise nothing was tested
    unknown = kinds[CallStatus.UNKNOWN]
    sys.stderr.write(f"{NUM_KILLS} kills, {len(done)} calls run, {unknown} of them unknown; last was: {dict(ends)}\n")
