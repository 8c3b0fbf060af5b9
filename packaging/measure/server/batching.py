"""Compares our server with ``--parallel N``, ours with ``--parallel 1``, and llama.cpp's, with concurrent clients.

    python packaging/measure/server/batching.py --target T.gguf [--draft D.gguf] [--peer path/to/llama-server]
        [--clients 4] [--requests 24] [--rounds 4] [--max-tokens 128] [--ctx 8192] [--threads N] [--long 6000]

Each round starts every server, in another order each time, with a question to warm up. Then ``--clients`` clients send
the same requests of `assets/workloads/real` (kinds mixed, T = 0); each client sends the next one after its last answer.
Finally a prompt of ``--long`` tokens arrives while an answer is streamed; the times between that answer's pieces until
the long prompt's first word are reported as "while a long prompt is read". With one answer at a time the long prompt
waits instead.

Speeds are the server's token counts over the whole time including prompts. The time to the first token includes the
queue. A piece may have several drafted tokens. A stopped run prints the results so far.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from app.core.benchmark.peers import ENGINE, HOST, PeerProcess, free_ports
from app.core.benchmark.prompts import BenchmarkPrompt, prompt_files, read_prompts
from app.core.domain.errors import PeerError
from app.core.paths import HOME_VARIABLE
from engine.llama.library import physical_cores

ROOT = Path(__file__).resolve().parents[3]
READY_S, ANSWER_S = 180.0, 900.0
PIECES_BEFORE = 10  # pieces of the streamed answer before the long prompt is sent
STREAMED_TOKENS = 1000  # most tokens of the streamed answer
Conversation = list[dict[str, str]]


@dataclass
class Answer:
    """Times of a streamed answer in seconds: of the request and of each piece."""

    asked_s: float
    pieces_s: list[float] = field(default_factory=list)
    tokens: int = 0

    @property
    def first_s(self) -> float:
        """Seconds until the first piece."""
        return (self.pieces_s[0] if self.pieces_s else time.perf_counter()) - self.asked_s

    def gaps_ms(self, after_s: float = 0.0, until_s: float = float("inf")) -> list[float]:
        """Milliseconds between pieces, for gaps that overlap a period."""
        pairs = zip(self.pieces_s, self.pieces_s[1:], strict=False)
        return [1000 * (end - begin) for begin, end in pairs if after_s <= end and begin <= until_s]


@dataclass
class Round:
    """Results of a server in a round."""

    server: str
    answers: list[Answer]
    seconds: float
    busy_gaps_ms: list[float]  # milliseconds between pieces while a long prompt is read
    long_first_s: float

    @property
    def speed(self) -> float:
        """Total tokens per second of all clients."""
        return sum(one.tokens for one in self.answers) / self.seconds


@contextmanager
def asked(port: int, path: str, body: object = None) -> Iterator[http.client.HTTPResponse]:
    """Send a request on a new connection; yields the response."""
    connection = http.client.HTTPConnection(HOST, port, timeout=ANSWER_S)
    try:
        connection.request(
            "GET" if body is None else "POST", path, json.dumps(body), {"Content-Type": "application/json"}
        )
        response = connection.getresponse()
        if response.status != http.client.OK:
            raise PeerError(f"The server refused {path}: {response.status} {response.read(300)!r}.")
        yield response
    finally:
        connection.close()


def ask(port: int, messages: Conversation, max_tokens: int, began: threading.Event | None = None) -> Answer:
    """Stream an answer. ``began`` is set after `PIECES_BEFORE` pieces; if given, the end token is ignored."""
    body = {"messages": messages, "max_tokens": max_tokens, "temperature": 0, "stream": True}
    body |= {"stream_options": {"include_usage": True}, "ignore_eos": began is not None}
    answer = Answer(time.perf_counter())
    try:
        with asked(port, "/v1/chat/completions", body) as response:
            for line in response:
                chunk = json.loads(line[6:]) if line.startswith(b"data: {") else {}
                if "error" in chunk:
                    raise PeerError(f"The server ended an answer: {chunk['error']}.")
                delta = chunk["choices"][0]["delta"] if chunk.get("choices") else {}
                if delta.get("content") or delta.get("reasoning_content"):
                    answer.pieces_s.append(time.perf_counter())
                if began is not None and len(answer.pieces_s) >= PIECES_BEFORE:
                    began.set()
                if usage := chunk.get("usage"):
                    answer.tokens = usage["completion_tokens"]
    finally:
        if began is not None:
            began.set()
    return answer


def command_of(server: str, options: argparse.Namespace, port: int) -> list[str]:
    """Command of a server: ``ours-N``, or llama.cpp's with the same number of slots and a whole context for each."""
    threads, number = str(options.threads), options.clients
    if server == ENGINE:
        command = [options.peer, "--cache-ram", "0", "--no-webui", "--threads-batch", threads]
        command += ["--parallel", str(number), "--ctx-size", str(number * options.ctx)]
    else:
        command = [sys.executable, "-m", "app", "serve", "--no-key", "--queue", "1000", "--ctx", str(options.ctx)]
        command += ["--parallel", server.removeprefix("ours-")]
    command += ["--model", options.target, "--host", HOST, "--port", str(port), "--threads", threads]
    return [*command, *(("--model-draft" if server == ENGINE else "--draft", options.draft) if options.draft else ())]


@contextmanager
def running(server: str, options: argparse.Namespace) -> Iterator[int]:
    """Start a server and wait for its first answer; yields its port."""
    (port,) = free_ports(1)
    process = PeerProcess(server, command_of(server, options, port))
    try:
        until, is_ready = time.monotonic() + READY_S, False
        while not is_ready:
            if process.has_ended or time.monotonic() > until:
                raise process.error("it was not ready in time.")
            try:
                with asked(port, "/health"):
                    is_ready = True
            except (OSError, http.client.HTTPException, PeerError):
                time.sleep(0.1)
        ask(port, [{"role": "user", "content": "Say hello."}], 16)
        yield port
    finally:
        process.end()


def mixed(prompts: Sequence[BenchmarkPrompt], number: int, seed: int) -> list[Conversation]:
    """Select ``number`` conversations of alternating kinds by a seed."""
    kinds: dict[str, list[BenchmarkPrompt]] = {}
    for prompt in random.Random(seed).sample(list(prompts), len(prompts)):  # noqa: S311
        kinds.setdefault(prompt.category, []).append(prompt)
    order = [kind[i] for i in range(len(prompts)) for kind in kinds.values() if i < len(kind)]
    chosen = [order[i % len(order)] for i in range(number)]
    return [[{"role": one.role, "content": one.content} for one in prompt.messages] for prompt in chosen]


def long_text(port: int, num_tokens: int) -> str:
    """Numbered sentences with invented numbers, of about ``num_tokens`` tokens."""
    source, lines, count = random.Random(num_tokens), list[str](), 0  # noqa: S311
    while count < num_tokens:
        for number in range(len(lines), len(lines) + 20):
            lines.append(f"{number}. Station {source.randrange(10_000)} reported {source.random():.3f} at dawn.")
        with asked(port, "/tokenize", {"content": "\n".join(lines)}) as response:
            count = len(json.loads(response.read())["tokens"])
    return "\n".join(lines)


def measure(server: str, options: argparse.Namespace, conversations: list[Conversation]) -> Round:
    """Measure a server for one round."""
    with running(server, options) as port:
        began_s = time.perf_counter()
        with ThreadPoolExecutor(options.clients) as clients:
            answers = list(clients.map(lambda one: ask(port, one, options.max_tokens), conversations))
        seconds = time.perf_counter() - began_s
        text, began = long_text(port, options.long), threading.Event()
        with ThreadPoolExecutor(1) as streaming:
            words = [{"role": "user", "content": "Tell a long story about a lighthouse and its keeper."}]
            streamed = streaming.submit(ask, port, words, STREAMED_TOKENS, began)
            began.wait(ANSWER_S)
            late = ask(port, [{"role": "user", "content": f"{text}\nWhich station was first?"}], 8)
            busy_gaps_ms = streamed.result().gaps_ms(late.asked_s, late.asked_s + late.first_s)
        return Round(server, answers, seconds, busy_gaps_ms, late.first_s)


def spread(values: Sequence[float], digits: int) -> str:
    """The median and the 95th percentile."""
    if len(values) < 2:
        return "-"
    parts = statistics.quantiles(values, n=100, method="inclusive")
    return f"{parts[49]:.{digits}f}, {parts[94]:.{digits}f}"


def report(rounds: Sequence[Round]) -> None:
    """Print a table of all rounds together, and for each round the ratios to one answer at a time."""
    print("| server | rounds | tokens/s | first token, s: p50, p95 | between pieces, ms: p50, p95 | ", end="")
    print("while a long prompt is read, ms: p50, p95, most | its first token, s |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    by_server = {name: [one for one in rounds if one.server == name] for name in sorted({r.server for r in rounds})}
    for server, own in by_server.items():
        answers = [answer for one in own for answer in one.answers]
        busy = [gap for one in own for gap in one.busy_gaps_ms]
        speed = sum(answer.tokens for answer in answers) / sum(one.seconds for one in own)
        gaps = [gap for answer in answers for gap in answer.gaps_ms()]
        print(
            f"| {server} | {len(own)} | {speed:.1f} | {spread([answer.first_s for answer in answers], 2)} | "
            f"{spread(gaps, 1)} | {spread(busy, 1)}, {max(busy, default=float('nan')):.0f} | "
            f"{statistics.median(one.long_first_s for one in own):.1f} |"
        )
    base = by_server.pop("ours-1", [])
    for server, own in by_server.items():
        if ratios := [one.speed / other.speed for one, other in zip(own, base, strict=False)]:
            each = ", ".join(f"{ratio:.2f}" for ratio in ratios)
            print(f"{server} over ours-1: {statistics.geometric_mean(ratios):.2f} (rounds: {each})")


def main() -> int:
    """Run all rounds; return 1 if a server failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", required=True)
    parser.add_argument("--draft")
    parser.add_argument("--peer", help="llama.cpp's server")
    for name, value in (("clients", 4), ("requests", 24), ("rounds", 4), ("max-tokens", 128), ("ctx", 8192)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--long", type=int, default=6000)
    parser.add_argument("--threads", type=int, default=physical_cores())
    options = parser.parse_args()
    prompts = [prompt for path in prompt_files(ROOT / "assets/workloads/real") for prompt in read_prompts(path)]
    servers = [f"ours-{options.clients}", "ours-1", *([ENGINE] if options.peer else ())]
    rounds, status = list[Round](), 0
    with tempfile.TemporaryDirectory(prefix="paceline-") as home:
        os.environ.setdefault(HOME_VARIABLE, home)  # keeps measured costs for the next round
        try:
            for number in range(options.rounds):
                conversations, first = mixed(prompts, options.requests, number), number % len(servers)
                for server in [*servers[first:], *servers[:first]]:
                    rounds.append(measure(server, options, conversations))
                    print(f"round {number + 1}, {server}: {rounds[-1].speed:.1f} tokens/s", file=sys.stderr)
        except KeyboardInterrupt:
            print("stopped", file=sys.stderr)
        except PeerError as error:
            print(error, file=sys.stderr)
            status = 1
    report(rounds)
    return status


if __name__ == "__main__":
    sys.exit(main())
