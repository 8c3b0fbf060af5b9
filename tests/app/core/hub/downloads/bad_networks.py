"""Measures what downloads cost on a bad network, in killed processes and on full disks, and whether they end well.

    python tests/app/core/hub/downloads/bad_networks.py                  100 downloads of 200 MB: the numbers in docs
    python tests/app/core/hub/downloads/bad_networks.py --count 8 --size-mb 3  a short run

Each download has its own hub on this machine, and a seed that chooses its faults: cuts, resets, stalls, 5xx answers, a
server that ignores Range, a file that changes, kills of the process, a full disk (a tmpfs if mounting is permitted,
else a limit on the file's size). It is restarted until it succeeds, as a user would. Every run is checked: no wrong
file has the final name, and a failure is reported in one sentence. The bytes that the hub sent are counted.
"""

import argparse
import concurrent.futures
import contextlib
import hashlib
import json
import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[5]
sys.path.insert(0, str(ROOT))

from app.core.domain.errors import AppError  # noqa: E402
from app.core.domain.models import DownloadRequest, DownloadStatus  # noqa: E402
from app.core.hub.client import HubClient  # noqa: E402
from app.core.hub.downloads.download_queue import DownloadQueue  # noqa: E402
from app.core.hub.downloads.transfer import RetryPolicy  # noqa: E402
from app.core.hub.library.library import Library  # noqa: E402
from tests.app.core.hub.loopback import Content, Fault, LoopbackHub  # noqa: E402

REPO, NAME = "test/file", "m.gguf"
MAX_RUNS = 40
MAX_RATIO = 1.1
RUN_LIMIT_S = 600


@dataclass(frozen=True, slots=True)
class Plan:
    """The faults of one download; fractions are of the file's size."""

    seed: int
    size_bytes: int
    faults: tuple[tuple[str, float], ...]  # kind, and the fraction of an answer after which it happens
    refusals: int  # number of 5xx answers to HEAD requests
    kills: tuple[float, ...]  # fractions on disk at which the process is killed
    changes_at: float | None
    ignores_range: bool
    fills_at: float | None


@dataclass(slots=True)
class Result:
    """The result of one download."""

    plan: Plan
    runs: int = 0
    sent_bytes: int = 0
    is_right: bool = False
    complaints: list[str] = field(default_factory=list)

    @property
    def must_resume(self) -> bool:
        """Whether the limit on sent bytes applies to this download."""
        return self.plan.changes_at is None and not self.plan.ignores_range


def make_plan(seed: int, size_bytes: int) -> Plan:
    """Choose the faults of a download."""
    draw = random.Random(seed)  # noqa: S311 (a scenario, no secret)
    kinds = ("cut", "reset", "stall", "status")
    faults = tuple((draw.choice(kinds), draw.random()) for _ in range(draw.randint(1, 5)))
    ignores_range = draw.random() < 0.1
    return Plan(
        seed=seed,
        size_bytes=size_bytes,
        faults=faults[:2] if ignores_range else faults,
        refusals=draw.randint(0, 2),
        kills=tuple(draw.random() for _ in range(draw.randint(0, 1 if ignores_range else 3))),
        changes_at=draw.random() if draw.random() < 0.15 else None,
        ignores_range=ignores_range,
        fills_at=draw.uniform(0.1, 0.8) if draw.random() < 0.2 else None,
    )


class StressedDownload:
    """Runs one download with the faults of its plan."""

    def __init__(self, plan: Plan, contents: list[Content], place: Path, bytes_per_s: float) -> None:
        """``contents``: the file, and its later version if it changes (`loopback.Content`)."""
        self._plan = plan
        self._contents = contents
        self._place = place
        self._hub = LoopbackHub()
        self._hub.bytes_per_s = bytes_per_s
        self._hub.honours_range = not plan.ignores_range
        self._kills = sorted(plan.kills)
        self._fills_at = plan.fills_at
        self._changes_at = plan.changes_at
        self._has_small_disk = False
        self._result = Result(plan)

    def run(self) -> Result:
        """Start the download again and again until it succeeds."""
        result = self._result
        self._hub.add_file(REPO, NAME, self._contents[0])
        self._hub.faults.extend(map(self._fault, self._plan.faults))
        self._hub.refusals.extend(_status(500 + number) for number in range(self._plan.refusals))
        with self._hub, self._disk() as home:
            while result.runs < MAX_RUNS and not result.is_right:
                result.runs += 1
                self._one_run(home)
            folder = home / "models" / REPO
            names = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
            if names != [NAME]:
                result.complaints.append(f"left behind: {names}")
        result.sent_bytes = self._hub.sent(REPO, NAME)
        return result

    def _fault(self, planned: tuple[str, float]) -> Fault:
        kind, share = planned
        at = int(share * self._plan.size_bytes)
        if kind == "status":
            return _status(503)
        return Fault(**{f"{kind}_after": at}) if kind != "stall" else Fault(stall_after=at, stall_s=30)

    def _one_run(self, home: Path) -> None:
        limit = str(int(self._fills_at * self._plan.size_bytes)) if self._fills_at and not self._has_small_disk else ""
        command = [sys.executable, str(Path(__file__)), "--child", str(home), "--file-limit", limit or "0"]
        environ = {**os.environ, "HF_ENDPOINT": self._hub.url}
        child = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        killed = self._meddle(child, home)
        out, errors = child.communicate(timeout=RUN_LIMIT_S)
        filler = home / "filler"
        if filler.exists():
            filler.unlink()
        if limit:
            self._fills_at = None
        self._judge(home, "killed" if killed else out, errors, child.returncode)

    def _meddle(self, child: subprocess.Popen, home: Path) -> bool:
        """Kill the child, fill its disk or change its file when it is time. Returns whether the child was killed."""
        part = home / "models" / REPO / f"{NAME}.part"
        while child.poll() is None:
            time.sleep(0.002)
            try:
                share = part.stat().st_size / self._plan.size_bytes
            except FileNotFoundError:
                continue
            if self._changes_at is not None and share >= self._changes_at:
                self._changes_at = None
                self._hub.add_file(REPO, NAME, self._contents[1])
            if self._fills_at is not None and share >= self._fills_at and self._has_small_disk:
                self._fills_at = None
                _fill(home)
            if self._kills and share >= self._kills[0]:
                self._kills.pop(0)
                child.send_signal(signal.SIGKILL)
                return True
        return False

    def _judge(self, home: Path, out: str, errors: str, code: int) -> None:
        result, final = self._result, home / "models" / REPO / NAME
        if final.exists():
            size, digest = final.stat().st_size, _sha256(final)
            if digest not in {content.etag for content in self._contents}:
                result.complaints.append(f"a wrong file of {size} bytes under the final name")
            result.is_right = code == 0
        elif code == 0:
            result.complaints.append("it says that it is done, and there is no file")
        if code == 1:
            if out.strip().count("\n") or not out.strip().endswith(".") or errors:
                result.complaints.append(f"no sentence: {out!r} {errors[-300:]!r}")
        elif code not in (0, -signal.SIGKILL):
            result.complaints.append(f"exit {code}: {errors[-300:]!r}")

    @contextlib.contextmanager
    def _disk(self) -> Iterator[Path]:
        """A folder for this download; on a small file system if its disk is to fill and mounting is permitted."""
        home = self._place / f"{self._plan.seed}"
        home.mkdir()
        if self._plan.fills_at is not None and not os.geteuid():
            options = f"size={2 * self._plan.size_bytes + (100 << 20)}"
            mount = [_program("mount"), "-t", "tmpfs", "-o", options, "tmpfs", str(home)]
            self._has_small_disk = subprocess.run(mount, check=False, capture_output=True).returncode == 0
        try:
            yield home
        finally:
            if self._has_small_disk:
                subprocess.run([_program("umount"), str(home)], check=True)
            else:
                shutil.rmtree(home)


def _program(name: str) -> str:
    return shutil.which(name) or name


def _status(number: int) -> Fault:
    return Fault(status=number)


def _fill(folder: Path) -> None:
    """Use up all free space."""
    with contextlib.suppress(OSError), (folder / "filler").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 20))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def child(home: Path, file_limit: int) -> int:
    """Download in this process, with fewer retries than the app. On failure print one sentence and return 1."""
    if file_limit:
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))
    logging.getLogger().addHandler(logging.NullHandler())  # warnings are not shown, as in the app
    client = HubClient(timeout_s=1.0)
    library = Library(home / "models", home / "library.json")
    retry_policy = RetryPolicy(max_failures=4, first_wait_s=0.02, max_wait_s=0.1)
    downloads = DownloadQueue(client, library, home / "downloads.json", retry_policy=retry_policy)
    downloads.start()
    try:
        if not downloads.snapshot():
            downloads.add(DownloadRequest(REPO, client.details(REPO).models[0]))
    except AppError as error:
        sys.stdout.write(f"{error.message}\n")
        return 1
    for state in downloads.snapshot():
        downloads.resume(state.key)
    while True:
        (state,) = downloads.snapshot()
        if state.status in (DownloadStatus.DONE, DownloadStatus.FAILED):
            break
        time.sleep(0.005)
    downloads.close()
    if state.status is DownloadStatus.FAILED:
        sys.stdout.write(f"{state.message}\n")
    return int(state.status is DownloadStatus.FAILED)


def measure(count: int, size_bytes: int, first_seed: int = 0, jobs: int = 2, bytes_per_s: float = 0.0) -> list[Result]:
    """Run the downloads; returns one result each."""
    contents = [Content(b"GGUF" + os.urandom(size_bytes - 4), NAME) for _ in range(2)]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        plans = [make_plan(first_seed + number, size_bytes) for number in range(count)]
        stressed = [StressedDownload(plan, contents, Path(folder), bytes_per_s) for plan in plans]
        return list(pool.map(StressedDownload.run, stressed))


def summary(results: list[Result]) -> dict[str, object]:
    """The numbers over all downloads."""
    bounded = [result.sent_bytes / result.plan.size_bytes for result in results if result.must_resume]
    return {
        "downloads": len(results),
        "complete_and_right": sum(result.is_right for result in results),
        "complaints": [f"seed {result.plan.seed}: {words}" for result in results for words in result.complaints],
        "kills": sum(len(result.plan.kills) for result in results),
        "faults": sum(len(result.plan.faults) + result.plan.refusals for result in results),
        "changed": sum(result.plan.changes_at is not None for result in results),
        "disk_filled": sum(result.plan.fills_at is not None for result in results),
        "with_the_bound": len(bounded),
        "worst_ratio": max(bounded, default=0.0),
    }


def main() -> int:
    """Measure, or run as one of the measured processes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--size-mb", type=float, default=200.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--file-limit", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options.child, options.file_limit)
    results = measure(options.count, int(options.size_mb * 1e6), options.seed, options.jobs)
    figures = summary(results)
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")
    good = all(result.is_right and not result.complaints for result in results)
    return 0 if good and figures["worst_ratio"] <= MAX_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
