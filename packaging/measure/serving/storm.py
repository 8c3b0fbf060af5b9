"""A storm on the window's local server: clients that behave in every way, while the window's own chat goes on.

    QT_QPA_PLATFORM=offscreen python packaging/measure/serving/storm.py [--minutes 20] [--clients 8] [--requests 500]

The real window with the built-in pair runs in a process of its own, and asks in its own chat, too. It ends after the
minutes and at least so many requests. Looked for: answers that are another question's, statuses other than promised,
chats that got no answer or waited long, memory and open files that grow, errors in the log, an end that is not clean.
Exits with 1 where one was found.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

import psutil  # noqa: E402
from stormy_clients import KINDS, OF_A_MODEL, Question, StormyClient, Tally, Where, ask, questions  # noqa: E402

ALONE = 2  # times that each is asked before the storm: near ties give more than one answer
PATIENCE_S = 600.0
SAMPLE_S = 2.0
WARM_UP_SHARE = 0.25  # of the time, in which caches fill
GROWTH_SHARE, GROWTH_BYTES = 0.05, 24 << 20  # that are not called flat any more
WINDOW = Path(__file__).with_name("stormy_window.py")


# ---- the storm ----------------------------------------------------------------------------------------------------


@dataclass
class Window:
    """The process, and what it said."""

    process: subprocess.Popen[str]
    home: Path
    port: int
    chats: list[dict[str, object]] = field(default_factory=list)
    samples: list[tuple[float, int, int, int]] = field(default_factory=list)  # second, bytes, files, threads

    @property
    def key(self) -> str:
        """Of its server."""
        return (self.home / "config" / "api-key").read_text("utf-8").strip()

    def listen(self) -> None:
        """Read what it says until it ends."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.chats.append(json.loads(line))

    def say(self, word: str) -> None:
        """Tell it something."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()

    def sample(self, at: float) -> None:
        """Note what it takes now."""
        known = psutil.Process(self.process.pid)
        self.samples.append((at, known.memory_info().rss, known.num_fds(), known.num_threads()))


def opened(home: Path, seed: int) -> Window:
    """Start the window, and wait until its server answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
    command = [sys.executable, str(WINDOW), str(port), str(seed)]
    environment = {**os.environ, "PACELINE_HOME": str(home), "QT_QPA_PLATFORM": "offscreen"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen(command, env=environment, text=True, **pipes)  # type: ignore[call-overload]
    window = Window(process, home, port)
    threading.Thread(target=window.listen, daemon=True).start()
    ends = time.monotonic() + PATIENCE_S
    while True:
        try:
            ask(port, window.key, "Hello")
        except (OSError, RuntimeError) as error:
            if time.monotonic() > ends or process.poll() is not None:
                raise RuntimeError(f"the window does not answer: {error}") from error
            time.sleep(0.5)
        else:
            return window


def known_answers(window: Window, seed: int) -> list[Question]:
    """Ask each question alone, so that its answers are known."""
    texts = questions(seed)
    found: dict[str, set[str]] = {text: set() for text in texts}
    for _ in range(ALONE):
        for text in texts:
            found[text].add(ask(window.port, window.key, text))
    return [Question(text, tuple(sorted(answers))) for text, answers in found.items()]


def blow(window: Window, asked: Sequence[Question], options: argparse.Namespace) -> Tally:
    """Let all clients go for the time."""
    tally, began = Tally(), time.monotonic()
    ends = began + options.minutes * 60.0
    over = threading.Event()
    where = Where(window.port, window.key)
    clients = [
        StormyClient(
            where, asked, tally, options.seed * 1000 + number, lambda: not over.is_set(), kinds=(*KINDS, *OF_A_MODEL)
        )
        for number in range(options.clients)
    ]
    for client in clients:
        client.start()
    while window.process.poll() is None:
        window.sample(time.monotonic() - began)
        time.sleep(SAMPLE_S)
        if time.monotonic() > ends and sum(tally.kinds.values()) >= options.requests:
            break
    over.set()
    for client in clients:
        client.join(PATIENCE_S)
        if client.is_alive():
            tally.fault(f"{client.name} hangs")
    return tally


def growth(samples: Sequence[tuple[float, int, int, int]], place: int) -> tuple[float, float]:
    """The median of a figure after the warm-up, and at the end."""
    warm = samples[int(len(samples) * WARM_UP_SHARE) :]
    part = max(1, len(warm) // 5)
    first, last = warm[:part], warm[-part:]
    return statistics.median(one[place] for one in first), statistics.median(one[place] for one in last)


def ended(window: Window, tally: Tally) -> None:
    """Close it, and look at how it ended."""
    began = time.monotonic()
    if window.process.poll() is None:
        window.say("end")
        try:
            window.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            window.process.kill()
            tally.fault("the window did not close")
    print(f"closed in {time.monotonic() - began:.1f} s, exit code {window.process.returncode}")
    if window.process.returncode != 0:
        tally.fault(f"the window ended with code {window.process.returncode}")
    for file in sorted((window.home / "logs").glob("*.log*")):
        for line in file.read_text("utf-8", "replace").splitlines():
            if any(word in line for word in (" ERROR ", " CRITICAL ", "Fatal Python", "Traceback")):
                tally.fault(f"{file.name}: {line}")
    with socket.create_server(("127.0.0.1", window.port)):
        pass


def check_chats(window: Window, asked: Sequence[Question], tally: Tally) -> None:
    """The window's own answers are its own, and each came."""
    by_words = {question.words: question for question in asked}
    for chat in window.chats:
        if chat["state"] != "complete":
            tally.fault(f"the window's own answer is {chat['state']}")
        tally.judge(by_words[str(chat["asked"])], str(chat["text"]), asked, cut=False)
    waits = sorted(float(str(chat["seconds"])) for chat in window.chats)
    if not waits:
        tally.fault("the window's own chat had no answer")
        return
    print(
        f"window's own chat: {len(waits)} answers; seconds to the end p50 {statistics.median(waits):.2f}, "
        f"p95 {waits[int(len(waits) * 0.95)]:.2f}, most {waits[-1]:.2f}"
    )


def report(window: Window, tally: Tally) -> None:
    """Print what happened."""
    print(f"{sum(tally.kinds.values())} requests: {dict(sorted(tally.kinds.items()))}")
    print(f"statuses: {dict(sorted(tally.statuses.items()))}")
    print(f"answers: {tally.num_right} as known, {tally.num_other} other (near ties)")
    if tally.waits_s:
        waits = sorted(tally.waits_s)
        print(f"whole answers: seconds p50 {statistics.median(waits):.2f}, p95 {waits[int(len(waits) * 0.95)]:.2f}")
    for name, place, unit in (("memory", 1, 2**20), ("files", 2, 1), ("threads", 3, 1)):
        first, last = growth(window.samples, place)
        most = max(one[place] for one in window.samples)
        print(f"{name}: {first / unit:.1f} after the warm-up, {last / unit:.1f} at the end, {most / unit:.1f} at most")
    minutes = range(int(window.samples[-1][0] / 60.0) + 1)
    by_minute = [[one[1] for one in window.samples if int(one[0] / 60.0) == minute] for minute in minutes]
    print(f"memory by minute: {' '.join(f'{statistics.median(some) / 2**20:.0f}' for some in by_minute if some)}")
    first, last = growth(window.samples, 1)
    if last - first > max(GROWTH_SHARE * first, GROWTH_BYTES):
        tally.fault(f"memory grew from {first / 2**20:.0f} to {last / 2**20:.0f} MiB")
    files = growth(window.samples, 2)
    if files[1] > files[0] + 40:  # connections come and go
        tally.fault(f"open files grew from {files[0]:.0f} to {files[1]:.0f}")


def main() -> int:
    """Blow, and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--requests", type=int, default=500, help="at least so many")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        window = opened(Path(home), options.seed)
        try:
            asked = known_answers(window, options.seed)
            window.say("chat")
            tally = blow(window, asked, options)
            ended(window, tally)
        finally:
            window.process.kill()
        check_chats(window, asked, tally)
    report(window, tally)
    for text in tally.faults[:50]:
        print(f"FAULT {text}")
    print(f"{len(tally.faults)} faults")
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())
