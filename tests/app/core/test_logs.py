"""Logs say where an error occurred and never contain chat text; tokens are masked; Qt's messages are logged, too."""

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import qWarning

from app.core.logs import LOG_NAME, MAX_BYTES, NUM_OLD_FILES, Logs, describe, redact
from app.startup.window import log_qt_messages, stop_logging_qt_messages

CANARY = "my secret diary entry"
TOKEN = "hf_" + "AbCdEf" * 6


@pytest.fixture
def crashes() -> list[str]:
    return []


@pytest.fixture
def logs(tmp_path: Path, crashes: list[str]) -> Iterator[Logs]:
    running = Logs(tmp_path / "logs", crashes.append)
    running.start()
    yield running
    running.stop()


def everything(logs: Logs) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in logs.file.parent.iterdir())


def fail_with_a_chat() -> None:
    raise ValueError(CANARY)


def test_an_uncaught_exception_is_logged_without_what_it_quotes(logs: Logs, crashes: list[str]) -> None:
    try:
        fail_with_a_chat()
    except ValueError:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
    text = everything(logs)
    assert "fail_with_a_chat" in text
    assert "ValueError (its message is not logged)" in text
    assert CANARY not in text
    assert crashes == ["ValueError"]


def test_chained_exceptions_are_all_there_and_all_silent(logs: Logs) -> None:
    try:
        try:
            fail_with_a_chat()
        except ValueError as error:
            raise OSError(28, "No space left on device") from error
    except OSError:
        logging.getLogger("test").exception("saving failed")
    text = everything(logs)
    assert "No space left on device" in text
    assert "fail_with_a_chat" in text
    assert CANARY not in text


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_exception_of_a_thread_is_logged(logs: Logs, crashes: list[str]) -> None:
    hook = threading.excepthook
    thread = threading.Thread(target=fail_with_a_chat)
    thread.start()
    thread.join()
    assert threading.excepthook == hook
    assert "fail_with_a_chat" in everything(logs)
    assert CANARY not in everything(logs)
    assert crashes == ["ValueError"]


@pytest.mark.parametrize(
    "text",
    [
        f"token {TOKEN} end",
        f"Authorization: Bearer {TOKEN}",
        "authorization: bearer abc.def",
        f"?token={TOKEN}",
        f"key sk-proj-{TOKEN}",
    ],
)
def test_tokens_are_blotted_out(logs: Logs, text: str) -> None:
    logging.getLogger("test").warning("said: %s", text)
    assert TOKEN not in everything(logs)
    assert "abc.def" not in everything(logs)
    assert "[redacted]" in redact(text)


def test_a_token_in_a_speaking_exception_is_blotted_out(logs: Logs) -> None:
    def fail_with_a_token() -> None:
        raise OSError(5, "cannot reach", f"https://example.org/?token={TOKEN}")

    try:
        fail_with_a_token()
    except OSError:
        logging.getLogger("test").exception("download")
    assert "cannot reach" in everything(logs)
    assert TOKEN not in everything(logs)


def test_what_qt_says_is_logged(logs: Logs) -> None:
    log_qt_messages()
    try:
        qWarning("a word of Qt")
    finally:
        stop_logging_qt_messages()
    assert "WARNING MainThread qt: a word of Qt" in everything(logs)


def test_the_log_rotates(logs: Logs) -> None:
    log = logging.getLogger("test")
    for _ in range(80):
        log.info("x" * 100_000)
    files = list(logs.file.parent.glob("paceline.log*"))
    assert len(files) == NUM_OLD_FILES + 1
    assert all(path.stat().st_size <= MAX_BYTES for path in files)


def test_a_native_crash_leaves_its_frames(tmp_path: Path) -> None:
    code = (
        "import faulthandler, sys; from pathlib import Path; from app.core.logs import Logs\n"
        "Logs(Path(sys.argv[1])).start(); faulthandler._sigabrt()"
    )
    root = Path(__file__).resolve().parents[4]
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=root, capture_output=True, check=False)
    assert done.returncode != 0
    assert "Fatal Python error: Aborted" in (tmp_path / "crash.log").read_text(encoding="utf-8")


def test_without_a_folder_the_app_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blocked = tmp_path / "logs"
    blocked.write_text("a file where the folder should be")
    logs = Logs(blocked)
    logs.start()
    logging.getLogger("test").error("still here")
    logs.stop()
    assert "still here" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a file that is always full")
def test_a_full_disk_is_reported_once_and_stops_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / LOG_NAME).symlink_to("/dev/full")
    logs = Logs(tmp_path)
    logs.start()
    for number in range(3):
        logging.getLogger("test").info("record %d", number)
    logs.stop()
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "the log cannot be written: No space left on device" in told


def test_stopping_gives_the_hooks_back(tmp_path: Path) -> None:
    before = (sys.excepthook, threading.excepthook, list(logging.getLogger().handlers))
    logs = Logs(tmp_path / "logs")
    logs.start()
    assert sys.excepthook is not before[0]
    logs.stop()
    assert (sys.excepthook, threading.excepthook, list(logging.getLogger().handlers)) == before


def test_an_interrupt_is_no_crash(logs: Logs, crashes: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert crashes == []


def test_only_exceptions_that_cannot_quote_speak() -> None:
    assert describe(KeyError(CANARY)) == "KeyError (its message is not logged)"
    assert os.strerror(2) in describe(FileNotFoundError(2, os.strerror(2), "x"))
