"""Only one window uses a set of folders; a crash does not prevent the next start."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.core.paths import find_paths
from app.startup.single_instance import ACTIVATION, SingleInstance

ROOT = Path(__file__).resolve().parents[3]
HOLD = """
import sys, time
from pathlib import Path
from PySide6.QtCore import QCoreApplication, QTimer
from app.startup.single_instance import SingleInstance
application = QCoreApplication([])
instance = SingleInstance(Path(sys.argv[1]))
instance.raise_requested.connect(lambda token: print("raised" + token, flush=True))
instance.file_requested.connect(lambda path: print("open", path, flush=True))
taken = instance.acquire()
if sys.argv[2] == "late":
    QTimer.singleShot(400, instance.accept_others)
else:
    instance.accept_others()
print(taken, flush=True)
time.sleep(60) if sys.argv[2] == "hang" else application.exec()
"""


@contextmanager
def first_window(lock: Path, how: str = "answer") -> Iterator[subprocess.Popen[bytes]]:
    """Another process that holds the lock; what it is asked for is in its output."""
    child = subprocess.Popen([sys.executable, "-c", HOLD, str(lock), how], cwd=ROOT, stdout=subprocess.PIPE)
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"True\n"
        yield child
        child.kill()


def read_lines(child: subprocess.Popen[bytes], number: int) -> list[str]:
    assert child.stdout is not None
    return [child.stdout.readline().decode().strip() for _ in range(number)]


def test_a_second_start_hands_over_its_activation_token_and_its_file(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ACTIVATION, "abc")
    model = tmp_path / "a model ü.gguf"
    model.touch()
    with first_window(tmp_path / "lock") as child:
        assert not SingleInstance(tmp_path / "lock", file=str(tmp_path / "gone.gguf")).acquire()
        assert read_lines(child, 2) == ["raised", "raisedabc"]  # no file, since there is none
        assert not SingleInstance(tmp_path / "lock", file=str(model)).acquire()
        assert read_lines(child, 3) == ["raised", "raisedabc", f"open {model}"]


@pytest.mark.parametrize("how", ["answer", "late", "hang"])
def test_a_second_start_raises_the_first_unless_that_hangs(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    if how == "hang":
        monkeypatch.setattr("app.startup.single_instance.ANSWER_MS", 100)
    with first_window(tmp_path / "lock", how) as child:
        second = SingleInstance(tmp_path / "lock")
        assert not second.acquire()
        assert second.other_answered is (how != "hang")
        assert how == "hang" or read_lines(child, 1) == ["raised"]


def test_a_second_start_by_another_way_to_the_folder_raises_the_first(qtbot: QtBot, tmp_path: Path) -> None:
    """A home folder behind a link: terminal and desktop may use different paths."""
    (tmp_path / "real").mkdir()
    try:
        (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    except OSError:
        pytest.skip("this system lets nobody make a link")
    with first_window(tmp_path / "real" / "lock"):
        second = SingleInstance(tmp_path / "link" / "lock")
        assert not second.acquire()
        assert second.other_answered


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is a word of POSIX")
def test_the_lock_of_a_killed_one_is_taken_over(qtbot: QtBot, tmp_path: Path) -> None:
    with first_window(tmp_path / "lock"):
        pass  # it is killed
    second = SingleInstance(tmp_path / "lock")
    assert second.acquire()
    second.release()


def test_a_lock_with_a_reused_process_number_is_taken_over(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.startup.single_instance.ANSWER_MS", 100)
    lock = tmp_path / "lock"
    first = SingleInstance(lock)
    assert first.acquire()
    said = lock.read_text(encoding="utf-8").splitlines()
    first.release()
    said[0] = str(os.getppid())
    lock.write_text("\n".join(said) + "\n", encoding="utf-8")
    second = SingleInstance(lock)
    assert second.acquire()
    second.release()


def test_releasing_lets_the_next_one_in(qtbot: QtBot, tmp_path: Path) -> None:
    for _ in range(3):
        instance = SingleInstance(tmp_path / "lock")
        assert instance.acquire()
        instance.release()


def test_a_second_window_says_so_and_ends_well(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.app.scripted_app"]
    first = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert first.stdout is not None
    try:
        assert any(b"asked" in line for line in first.stdout)  # its answer may begin before
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, timeout=60)
        assert b"already open" in done.stderr
        assert done.returncode == 0
        time.sleep(0.1)
        assert first.poll() is None
    finally:
        first.kill()
        first.communicate()
    assert find_paths().chats_file.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="a named pipe of Windows is no file with permissions")
def test_nobody_else_on_the_machine_can_knock(tmp_path: Path) -> None:
    instance = SingleInstance(tmp_path / "lock")
    assert instance.acquire()
    instance.accept_others()
    assert instance._server is not None
    socket = Path(instance._server.fullServerName())
    try:
        assert socket.is_socket()
        assert socket.stat().st_mode & 0o077 == 0
    finally:
        instance.release()
