"""Measures the server with one, two and four clients at once, plain and with speculation.

    python packaging/measure/serving/clients.py --model T.gguf --draft D.gguf --prompts assets/workloads/real \
        [--clients 1,2,4] [--modes off,auto] [--rounds 5] [--requests 12] [--max-tokens 128] [--json OUT]

`paceline serve` runs in a process of its own. In each round every number of clients asks the same ``--requests``
prompts in every mode, back to back and in turned order; each client asks its share of them, one after the other. Every
request begins with words of its own, so that nothing of it is cached. Reported for each: tokens per second of all
clients together, how long a client waits for its turn (to the first text, without the time that its own prompt took),
the 95th percentile of the time between two pieces of text as they reach the client, for each token of the later one,
and the ratio of the tokens per second to those of the first mode, a geometric mean over rounds with its 95% interval.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from app.benchmark.prompts import prompt_files, read_prompts  # noqa: E402
from app.paths import builtin_draft, builtin_target  # noqa: E402
from engine.records import Message  # noqa: E402

KEY = "a-key-of-this-measurement"
TIMEOUT_S = 600.0
STUDENT_T = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}  # 97.5%, by rounds
BETWEEN = 1.96


@dataclass(frozen=True)
class Request:
    """What one request took, as its client saw it; ``gaps_ms`` are of each token of each piece but the first."""

    tokens: int
    wait_s: float
    seconds: float
    gaps_ms: tuple[float, ...]


@dataclass(frozen=True)
class Slice:
    """Some clients at once in one mode: all their requests, and the time from the first to the last."""

    clients: int
    mode: str
    round: int
    seconds: float
    requests: tuple[Request, ...]

    @property
    def tokens_per_second(self) -> float:
        """Of all clients together."""
        return sum(request.tokens for request in self.requests) / self.seconds


@dataclass(frozen=True)
class Row:
    """One line of the report."""

    clients: int
    mode: str
    tokens_per_second: float
    wait_s_p50: float
    wait_s_p95: float
    inter_token_ms_p50: float
    inter_token_ms_p95: float
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None


@dataclass
class Bench:
    """The server, and what is asked of it."""

    port: int
    prompts: Sequence[tuple[Message, ...]]
    max_tokens: int
    num_asked: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def slice(self, clients: int, mode: str, number: int, each: int) -> Slice:
        """Let so many clients ask at once."""
        found: list[Request] = []

        def ask_all(client: int) -> None:
            for turn in range(each):
                prompt = self.prompts[((number * clients + client) * each + turn) % len(self.prompts)]
                request = self._ask(prompt, mode)
                with self.lock:
                    found.append(request)

        threads = [threading.Thread(target=ask_all, args=(client,)) for client in range(clients)]
        began = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if len(found) != clients * each:
            raise RuntimeError(f"{clients * each - len(found)} requests failed")
        return Slice(clients, mode, number, time.perf_counter() - began, tuple(found))

    def _ask(self, prompt: Sequence[Message], mode: str) -> Request:
        with self.lock:
            self.num_asked += 1
            own = f"Request {self.num_asked}."
        messages = [{"role": message.role, "content": message.content} for message in prompt]
        messages[0] = {**messages[0], "content": f"{own} {messages[0]['content']}"}
        body = {"messages": messages, "temperature": 0, "max_tokens": self.max_tokens, "stream": True}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)
        began = time.perf_counter()
        connection.request(
            "POST",
            "/v1/chat/completions",
            json.dumps({**body, "speculation": {"mode": mode}}),
            {"Authorization": f"Bearer {KEY}"},
        )
        response = connection.getresponse()
        if response.status != 200:
            raise RuntimeError(f"{response.status}: {response.read(300)!r}")
        pieces, timings = _pieces(response)
        connection.close()
        ended = time.perf_counter()
        num_chars = sum(chars for _, chars in pieces) or 1
        tokens = int(timings["predicted_n"])
        gaps = tuple(
            (at - before) * 1000.0 / max(1.0, chars * tokens / num_chars)
            for (before, _), (at, chars) in itertools.pairwise(pieces)
        )
        first = pieces[0][0] if pieces else ended
        return Request(tokens, max(0.0, first - began - timings["prompt_ms"] / 1000.0), ended - began, gaps)


def _pieces(response: http.client.HTTPResponse) -> tuple[list[tuple[float, int]], dict[str, float]]:
    """When each piece of text came and how many characters it has; the server's own times."""
    pieces: list[tuple[float, int]] = []
    timings: dict[str, float] = {}
    for line in response:
        if not line.startswith(b"data: {"):
            continue
        chunk = json.loads(line.removeprefix(b"data: "))
        if "error" in chunk:
            raise RuntimeError(chunk["error"]["message"])
        if text := chunk["choices"][0]["delta"].get("content"):
            pieces.append((time.perf_counter(), len(text)))
        timings = chunk.get("timings", timings)
    return pieces, timings


@contextmanager
def serving(options: argparse.Namespace) -> Iterator[int]:
    """Run the server; give its port."""
    words = ["--port", "0", "--model", options.model, *(["--draft", options.draft] if options.draft else [])]
    words += ["--threads", str(options.threads)] if options.threads else []
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "PACELINE_HOME": home, "PACELINE_API_KEY": KEY}
        command = [sys.executable, "-m", "app", "serve", *words]
        with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            try:
                for line in process.stderr:
                    if found := re.search(r"at http://127\.0\.0\.1:(\d+)/v1", line):
                        break
                else:
                    raise RuntimeError("the server did not start")
                threading.Thread(target=process.stderr.read, daemon=True).start()
                yield int(found[1])
            finally:
                process.terminate()


def rows_of(slices: Sequence[Slice]) -> list[Row]:
    """One row for each number of clients and mode; ratios to the mode that came first."""
    kinds = list(dict.fromkeys((one.clients, one.mode) for one in slices))
    first_mode = slices[0].mode
    rows = []
    for clients, mode in sorted(kinds, key=lambda kind: kind[0]):
        own = [one for one in slices if (one.clients, one.mode) == (clients, mode)]
        requests = [request for one in own for request in one.requests]
        waits = [request.wait_s for request in requests]
        gaps = [gap for request in requests for gap in request.gaps_ms] or [math.nan]
        speed = sum(request.tokens for request in requests) / sum(one.seconds for one in own)
        plain = {one.round: one for one in slices if (one.clients, one.mode) == (clients, first_mode)}
        ratios = [math.log(one.tokens_per_second / plain[one.round].tokens_per_second) for one in own]
        ratio = _interval(ratios) if mode != first_mode else (None, None, None)
        figures = (*np.percentile(waits, (50, 95)), *np.percentile(gaps, (50, 95)))
        rows.append(Row(clients, mode, speed, *map(float, figures), *ratio))
    return rows


def _interval(logs: Sequence[float]) -> tuple[float, float | None, float | None]:
    """A geometric mean, and its 95% interval where there are rounds enough."""
    mean = statistics.mean(logs)
    if len(logs) < min(STUDENT_T):
        return math.exp(mean), None, None
    half = STUDENT_T.get(len(logs), BETWEEN) * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def show(rows: Sequence[Row]) -> None:
    """Print them as a table in Markdown."""
    print("| clients | mode | tok/s, all | wait p50, s | wait p95, s | token p50, ms | p95, ms | over the first |")
    print("|---|---|---|---|---|---|---|---|")
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        if row.ratio_low is not None:
            ratio += f" ({row.ratio_low:.2f}-{row.ratio_high:.2f})"
        waits = f"{row.wait_s_p50:.2f} | {row.wait_s_p95:.2f}"
        tokens = f"{row.inter_token_ms_p50:.1f} | {row.inter_token_ms_p95:.1f}"
        print(f"| {row.clients} | {row.mode} | {row.tokens_per_second:.1f} | {waits} | {tokens} | {ratio} |")


def main() -> int:
    """Measure, and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=str(builtin_target()))
    parser.add_argument("--draft", default="")
    parser.add_argument("--prompts", type=Path, default=ROOT / "assets" / "workloads")
    parser.add_argument("--clients", default="1,2,4")
    parser.add_argument("--modes", default="off,auto")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=12, help="of all clients together, in each mode of a round")
    parser.add_argument("--max-tokens", type=int, default=128)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.model == str(builtin_target()) and not options.draft:
        options.draft = str(builtin_draft())
    prompts = [prompt.messages for file in prompt_files(options.prompts) for prompt in read_prompts(file)]
    modes, numbers = options.modes.split(","), [int(word) for word in options.clients.split(",")]
    prompts = prompts[:: max(1, len(prompts) // (options.requests * options.rounds))]  # some of each kind
    slices = []
    with serving(options) as port:
        bench = Bench(port, prompts, options.max_tokens)
        for mode in modes:
            bench.slice(1, mode, 0, 1)  # what passes cost is measured, and the memory touched
        time.sleep(5.0)
        for number in range(options.rounds):
            for clients in numbers:
                for mode in modes if number % 2 == 0 else reversed(modes):
                    slices.append(bench.slice(clients, mode, number, max(1, options.requests // clients)))
                    speed = f"{slices[-1].tokens_per_second:.1f} tok/s"
                    print(f"round {number + 1}, {clients} clients, {mode}: {speed}", flush=True)
    slices.sort(key=lambda one: modes.index(one.mode))
    rows = rows_of(slices)
    show(rows)
    if options.json:
        document = {"rows": [asdict(row) for row in rows], "slices": [asdict(one) for one in slices]}
        options.json.write_text(json.dumps(document, indent=1), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
