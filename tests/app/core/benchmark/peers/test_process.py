"""A peer's process exits with Paceline, however Paceline exits."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from app.core.benchmark.peers.process import PeerProcess
from app.core.domain.errors import PeerError

ROOT = Path(__file__).resolve().parents[5]
KILLED = """
import os, signal, sys
from app.core.benchmark.peers.process import PeerProcess
peer = PeerProcess("sleeper", [sys.executable, "-c", "import time; time.sleep(600)"])
print(peer.process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_peer_is_ended_in_good_order() -> None:
    peer = PeerProcess("sleeper", [sys.executable, "-c", "import time; time.sleep(600)"])
    assert not peer.has_ended
    peer.end()
    assert peer.has_ended


def test_a_peer_that_will_not_end_is_ended_by_force(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.core.benchmark.peers.process.END_S", 0.3)
    deaf = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(600)"
    )
    peer = PeerProcess("sleeper", [sys.executable, "-c", deaf])
    while peer.last_line() != "deaf":
        time.sleep(0.01)
    peer.end()
    assert peer.has_ended


def test_a_program_that_cannot_be_started_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(PeerError, match=f"sleeper could not be started from {tmp_path}: Permission denied"):
        PeerProcess("sleeper", [str(tmp_path)])


def test_a_peer_does_not_outlive_a_kill() -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux ends a process with the one that has started it")
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", KILLED], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL
    until = time.monotonic() + 30
    while is_running(int(done.stdout)) and time.monotonic() < until:
        time.sleep(0.02)
    assert not is_running(int(done.stdout))


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE  # there may be no parent to reap it
    except psutil.NoSuchProcess:
        return False
