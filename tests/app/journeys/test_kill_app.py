"""SIGKILL or SIGABRT during an answer: the next start shows everything except at most the last half second.

The long form kills forty times.
"""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageState
from tests.app.fakes import open_app
from tests.app.scripted_app import ANSWER, OTHER_QUESTION, QUESTION
from tests.long_form import rounds

NUM_KILLS = rounds(3, 40)
MAX_LOSS_S = 0.5
MOST_LOSS_S = 2.0  # maximum loss if other tests keep the app from running for a while
ROOT = Path(__file__).resolve().parents[3]


Piece = tuple[float, str, int]  # time of arrival, text, number of the request


def run_and_kill(
    seconds: float, error_file: Path, answer: str = "words", how: signal.Signals = signal.SIGKILL
) -> tuple[list[Piece], float]:
    """Start the app, let it answer for ``seconds``, kill it; returns each piece of text, and the time of the kill."""
    with error_file.open("wb") as errors:
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.app.scripted_app", answer], cwd=ROOT, stdout=subprocess.PIPE, stderr=errors
        )
    assert child.stdout is not None
    lines = [child.stdout.readline()]
    while lines[-1] and b"asked" not in lines[-1]:
        lines.append(child.stdout.readline())
    assert lines[-1], error_file.read_text(encoding="utf-8")
    time.sleep(seconds)
    killed_at_s = time.monotonic()
    child.send_signal(how)
    lines += child.stdout.read().split(b"\n")
    child.stdout.close()
    child.wait()
    events = [json.loads(line) for line in lines if line.strip().endswith(b"}")]
    return [(event["at_s"], event["text"], event["number"]) for event in events if "text" in event], killed_at_s


def lost_since(pieces: list[Piece], text: str, killed_at_s: float) -> float:
    """The time of the first piece that the stored text lacks."""
    num_chars = 0
    for at_s, piece, _number in pieces:
        num_chars += len(piece)
        if num_chars > len(text):
            return at_s
    return killed_at_s


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is a word of POSIX")
@pytest.mark.timeout(300 + 60 * NUM_KILLS)
def test_a_kill_while_streaming_loses_at_most_half_a_second(qtbot: QtBot, tmp_path: Path) -> None:
    rng = random.Random()  # noqa: S311 (moments, not secrets)
    all_losses_s: list[float] = []
    for number in range(3 * NUM_KILLS):
        how = signal.SIGABRT if number % 2 else signal.SIGKILL  # a failed assertion of llama.cpp raises SIGABRT
        pieces, killed_at_s = run_and_kill(rng.uniform(0.1, 3.0), tmp_path / "errors", how=how)
        harness = open_app()
        assert harness.window.problems == []
        shown, num_rows = harness.window.shown[-1][1], len(harness.rows())
        harness.close()
        assert [view.text for view in shown if view.role == "user"] == [QUESTION]
        assert shown[-1].state is MessageState.INTERRUPTED
        text = shown[-1].text
        assert ANSWER.startswith(text)
        assert sum(span.num_chars for span in shown[-1].spans) == len(text)
        all_losses_s.append(killed_at_s - lost_since(pieces, text, killed_at_s))
        assert num_rows == number + 1
        losses_s = all_losses_s[-NUM_KILLS:]
        is_good = sorted(losses_s)[len(losses_s) // 2] <= MAX_LOSS_S and max(losses_s) <= MOST_LOSS_S
        if number + 1 >= NUM_KILLS and is_good:  # a busy machine can only increase a loss
            break
    sys.stderr.write(f"lost at {NUM_KILLS} kills: mean {sum(losses_s) / NUM_KILLS:.3f} s, most {max(losses_s):.3f} s\n")
    assert sorted(losses_s)[NUM_KILLS // 2] <= MAX_LOSS_S
    assert max(losses_s) <= MOST_LOSS_S


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is a word of POSIX")
def test_a_kill_loses_no_more_of_a_chat_that_is_answered_out_of_sight(qtbot: QtBot, tmp_path: Path) -> None:
    for _ in range(NUM_KILLS):
        pieces, killed_at_s = run_and_kill(1.5, tmp_path / "errors", "two")
        numbers = sorted({number for _at_s, _text, number in pieces})
        assert len(numbers) == 2, "both were answered at the same time"
        harness = open_app()
        rows = sorted(harness.store.conversations(), key=lambda row: row.id)[-2:]
        ends = [harness.store.messages(row.id)[-1] for row in rows]
        harness.close()
        assert [row.title for row in rows] == [QUESTION, OTHER_QUESTION]
        assert {view.state for view in ends} == {MessageState.INTERRUPTED}
        losses_s = []
        for number, view in zip(numbers, ends, strict=True):
            assert ANSWER.startswith(view.text)
            own = [piece for piece in pieces if piece[2] == number]
            losses_s.append(killed_at_s - lost_since(own, view.text, killed_at_s))
        if max(losses_s) <= MAX_LOSS_S:  # a busy machine can only increase a loss
            break
    assert max(losses_s) <= MOST_LOSS_S


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is a word of POSIX")
@pytest.mark.parametrize("answer", ["reasoning", "reasoned"])
def test_a_kill_leaves_how_long_an_answer_reasoned(answer: str, qtbot: QtBot, tmp_path: Path) -> None:
    pieces, _killed_at_s = run_and_kill(1.5, tmp_path / "errors", answer)
    harness = open_app()
    view = harness.window.shown[-1][1][-1]
    card = harness.window.transcript.last_answer()
    assert card is not None
    assert card.reasoning is not None
    heading = card.reasoning.heading
    harness.close()
    assert view.state is MessageState.INTERRUPTED
    assert view.text.startswith("<think>")
    assert ("</think>" in view.text) is (answer == "reasoned")
    assert view.thinking_ms is not None
    reasoning = view.text.partition("</think>")[0]
    num_chars, ended_at_s = 0, pieces[0][0]
    for at_s, piece, _number in pieces:
        ended_at_s = at_s if num_chars < len(reasoning) else ended_at_s
        num_chars += len(piece)
    assert view.thinking_ms > 0
    # Measured when the engine sent the text; on a busy machine the window may have been late.
    assert view.thinking_ms <= (ended_at_s - pieces[0][0] + MAX_LOSS_S) * 1000
    assert heading.startswith("Thought for")
