"""Several clients at once against our server with ``--parallel N``, with ``--parallel 1``, and llama.cpp's.

    python packaging/measure/server/batching.py --target T.gguf [--draft D.gguf] [--peer path/to/llama-server]
        [--clients 4] [--requests 24] [--rounds 4] [--max-tokens 128] [--ctx 8192] [--threads N] [--mode auto]
        [--long 6000] [--only ours-4,ours-1] [--kinds chat,editing]
        [--by-load] [--minutes M] [--json OUT]

In each round every server is started in turn, in another order each time, asked one question to warm up, then the same
requests of `assets/workloads/real` (kinds mixed, T = 0) by so many clients that each ask the next one as soon as they
have their answer, and stopped. Then a second run on the same server: while one answer is streamed, a prompt of
``--long`` tokens arrives; the times between that answer's pieces until the long prompt's first word are those of
"while a long prompt is read". A server that answers one at a time finishes the answer before: its pieces go on, and the
long prompt waits.

``--by-load`` asks our server of ``--clients`` answers at once instead, with 1, 2, 4 ... clients, each load in
``--mode`` and without drafting, in turn, behind prompts that were read before: whether drafting pays beside others,
and how much is drafted.

Tokens are those that the server counts, over the whole time with the prompts. The time to the first token is from
sending, the queue included. A piece may be several tokens, where they were drafted. It can be stopped at any time: what
was measured is printed.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from app.core.benchmark.peers.process import PeerProcess, find_program
from app.core.benchmark.prompts import BenchmarkPrompt, prompt_files, read_prompts
from app.core.domain.errors import PeerError
from app.core.paths import HOME_VARIABLE
from engine.llama.library import physical_cores

ROOT = Path(__file__).resolve().parents[3]
HOST, READY_S, ANSWER_S = "127.0.0.1", 180.0, 900.0
WORKLOADS = ROOT / "assets" / "workloads" / "real"
PIECES_BEFORE = 10  # of the streamed answer, before the long prompt is sent
STREAMED_TOKENS = 1000  # at most, of that answer
PEER = "llama-server"


@dataclass
class Answer:
    """One streamed answer: when it was asked for, and when its pieces came, in seconds."""

    asked_s: float
    pieces_s: list[float] = field(default_factory=list)
    tokens: int = 0
    prompt_tokens: int = 0
    passes: int = 0  # of the target, and tokens that were proposed for them: our server tells
    proposed: int = 0

    @property
    def first_s(self) -> float:
        """Until its first piece."""
        return (self.pieces_s[0] if self.pieces_s else time.perf_counter()) - self.asked_s

    @property
    def gaps_ms(self) -> list[float]:
        """Between its pieces."""
        return [1000 * (after - before) for before, after in zip(self.pieces_s, self.pieces_s[1:], strict=False)]


@dataclass
class Round:
    """What one server gave in one round."""

    server: str
    tokens: int
    seconds: float
    first_s: list[float]
    gaps_ms: list[float]
    busy_gaps_ms: list[float]  # while a long prompt is read
    long_first_s: float
    long_tokens: int

    @property
    def speed(self) -> float:
        """Tokens per second of all clients together."""
        return self.tokens / self.seconds


def percentile(values: Sequence[float], percent: int) -> float:
    """A percentile; NaN of nothing."""
    if len(values) < 2:
        return values[0] if values else float("nan")
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


class Client:
    """Asks one server, over a connection for each request."""

    def __init__(self, port: int) -> None:
        self._port = port

    def is_healthy(self) -> bool:
        """Whether it can be asked."""
        connection = http.client.HTTPConnection(HOST, self._port, timeout=2.0)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def count(self, text: str) -> int:
        """How many tokens a text has."""
        with self._post("/tokenize", {"content": text}) as response:
            return len(json.loads(response.read())["tokens"])

    def ask(
        self, messages: list[dict[str, str]], max_tokens: int, began: threading.Event | None = None, **fields: object
    ) -> Answer:
        """Stream an answer; ``began`` is set once `PIECES_BEFORE` pieces came."""
        body = {"messages": messages, "max_tokens": max_tokens, "temperature": 0, "stream": True, **fields}
        body["stream_options"] = {"include_usage": True}
        answer = Answer(time.perf_counter())
        try:
            self._read(answer, body, began)
        finally:
            if began is not None:
                began.set()
        return answer

    def _read(self, answer: Answer, body: dict[str, object], began: threading.Event | None) -> None:
        with self._post("/v1/chat/completions", body) as response:
            for line in response:
                if not line.startswith(b"data: {"):
                    continue
                chunk = json.loads(line[6:])
                if "error" in chunk:
                    raise PeerError(f"The server ended an answer: {chunk['error']}.")
                delta = chunk["choices"][0]["delta"] if chunk.get("choices") else {}
                if delta.get("content") or delta.get("reasoning_content"):
                    answer.pieces_s.append(time.perf_counter())
                if began is not None and len(answer.pieces_s) >= PIECES_BEFORE:
                    began.set()
                if usage := chunk.get("usage"):
                    answer.tokens, answer.prompt_tokens = usage["completion_tokens"], usage["prompt_tokens"]
                if told := chunk.get("speculation"):
                    answer.passes, answer.proposed = told["passes"], told["proposed"]

    @contextmanager
    def _post(self, path: str, body: dict[str, object]) -> Iterator[http.client.HTTPResponse]:
        connection = http.client.HTTPConnection(HOST, self._port, timeout=ANSWER_S)
        try:
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            response = connection.getresponse()
            if response.status != http.client.OK:
                raise PeerError(f"The server refused {path}: {response.status} {response.read(300)!r}.")
            yield response
        finally:
            connection.close()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server((HOST, 0)) as listener:
        return int(listener.getsockname()[1])


def command_of(server: str, options: argparse.Namespace, port: int) -> list[str]:
    """How a server is started: ``ours-N``, or llama.cpp's with as many slots and a whole context for each."""
    threads, draft = str(options.threads), options.draft
    if server == PEER:
        number, program = options.clients, find_program(PEER, options.peer)
        command = [program, "--model", options.target, "--host", HOST, "--port", str(port), "--parallel", str(number)]
        command += ["--ctx-size", str(number * options.ctx), "--threads", threads, "--threads-batch", threads]
        command += ["--cache-ram", "0", "--no-webui"]
        return [*command, *(("--model-draft", draft) if draft else ())]
    command = [sys.executable, "-m", "app", "serve", "--model", options.target, "--host", HOST, "--port", str(port)]
    command += ["--no-key", "--queue", "1000", "--ctx", str(options.ctx), "--threads", threads, "--mode", options.mode]
    command += ["--parallel", server.removeprefix("ours-")]
    return [*command, *(("--draft", draft) if draft else ())]


@contextmanager
def running(server: str, options: argparse.Namespace) -> Iterator[Client]:
    """A server that has answered a question."""
    port = free_port()
    process = PeerProcess(server, command_of(server, options, port), path=str(ROOT))
    try:
        client, until = Client(port), time.monotonic() + READY_S
        while not client.is_healthy():
            if process.has_ended or time.monotonic() > until:
                raise process.death("starting")
            time.sleep(0.1)
        client.ask([{"role": "user", "content": "Say hello."}], 16)
        yield client
    finally:
        process.end()


def mixed(prompts: Sequence[BenchmarkPrompt], number: int, seed: int) -> list[list[dict[str, str]]]:
    """So many conversations, of all kinds in turn; another seed takes others."""
    kinds: dict[str, list[BenchmarkPrompt]] = {}
    for prompt in random.Random(seed).sample(list(prompts), len(prompts)):  # noqa: S311
        kinds.setdefault(prompt.category, []).append(prompt)
    order = [kind[i] for i in range(len(prompts)) for kind in kinds.values() if i < len(kind)]
    chosen = [order[i % len(order)] for i in range(number)]
    return [[{"role": one.role, "content": one.content} for one in prompt.messages] for prompt in chosen]


def long_text(client: Client, num_tokens: int) -> str:
    """Numbered sentences of invented figures, of about so many tokens."""
    source, lines = random.Random(num_tokens), list[str]()  # noqa: S311
    while not lines or len(lines) % 20 or client.count("\n".join(lines)) < num_tokens:
        lines.append(f"{len(lines)}. Station {source.randrange(10_000)} reported {source.random():.3f} at dawn.")
    return "\n".join(lines)


def measure(server: str, options: argparse.Namespace, conversations: list[list[dict[str, str]]]) -> Round:
    """One round of one server."""
    with running(server, options) as client:
        began_s = time.perf_counter()
        with ThreadPoolExecutor(options.clients) as clients:
            answers = list(clients.map(lambda one: client.ask(one, options.max_tokens), conversations))
        seconds = time.perf_counter() - began_s
        text, began = long_text(client, options.long), threading.Event()
        with ThreadPoolExecutor(1) as streaming:
            words = [{"role": "user", "content": "Tell a long story about a lighthouse and its keeper."}]
            streamed = streaming.submit(client.ask, words, STREAMED_TOKENS, began, ignore_eos=True)
            began.wait(ANSWER_S)
            late = client.ask([{"role": "user", "content": f"{text}\nWhich station was first?"}], 8)
            other = streamed.result()
    gaps = zip(other.pieces_s, other.gaps_ms, strict=False)
    first_word_s = late.asked_s + late.first_s
    return Round(
        server=server,
        tokens=sum(answer.tokens for answer in answers),
        seconds=seconds,
        first_s=[answer.first_s for answer in answers],
        gaps_ms=[gap for answer in answers for gap in answer.gaps_ms],
        busy_gaps_ms=[gap for at_s, gap in gaps if late.asked_s <= at_s + gap / 1000 and at_s <= first_word_s],
        long_first_s=late.first_s,
        long_tokens=late.prompt_tokens,
    )


@dataclass
class Load:
    """What so many clients at once were given in one mode."""

    clients: int
    mode: str
    speed: float  # tokens a second of all together
    tokens: int
    passes: int
    proposed: int


def measure_loads(options: argparse.Namespace, prompts: Sequence[BenchmarkPrompt]) -> list[Load]:
    """Every load in both modes, as many rounds as are asked for, or there is time for."""
    loads, until = list[Load](), time.monotonic() + 60 * options.minutes
    sizes = [2**n for n in range(options.clients.bit_length())]
    with running(f"ours-{options.clients}", options) as client:
        for number in range(options.rounds):
            conversations = mixed(prompts, options.requests, number)
            for one in conversations:  # what was read once is kept: else whoever asks first pays for all
                client.ask(one, 1)
            for size in sizes:
                for mode in ((options.mode, "off"), ("off", options.mode))[number % 2]:
                    if time.monotonic() < until:
                        loads.append(_measure_load(client, options, conversations, (size, mode)))
                        print(f"round {number + 1}: {loads[-1]}", file=sys.stderr)
    return loads


def _measure_load(
    client: Client, options: argparse.Namespace, conversations: list[list[dict[str, str]]], which: tuple[int, str]
) -> Load:
    size, mode = which
    began_s = time.perf_counter()
    with ThreadPoolExecutor(size) as clients:
        fields = {"speculation": {"mode": mode}}
        answers = list(clients.map(lambda one: client.ask(one, options.max_tokens, **fields), conversations))
    seconds = time.perf_counter() - began_s
    tokens, passes, proposed = (sum(getattr(one, name) for one in answers) for name in ("tokens", "passes", "proposed"))
    return Load(size, mode, tokens / seconds, tokens, passes, proposed)


def report_loads(loads: Sequence[Load]) -> None:
    """A row for each load: speeds, their ratio round by round, tokens per pass of one answer, and drafted ones."""
    print("| clients | tokens/s, off | with drafts | ratio (rounds) | tokens per pass | drafted per pass |")
    print("|---:|---:|---:|---:|---:|---:|")
    for size in dict.fromkeys(one.clients for one in loads):
        off, on = (
            [one for one in loads if one.clients == size and (one.mode == "off") is plain] for plain in (True, False)
        )
        ratios = [a.speed / b.speed for a, b in zip(on, off, strict=False)]
        if not ratios:
            continue
        speeds = [statistics.fmean(one.speed for one in part) for part in (off, on)]
        passes = sum(one.passes for one in on)
        per_pass = [sum(getattr(one, name) for one in on) / passes for name in ("tokens", "proposed")]
        each = ", ".join(f"{ratio:.2f}" for ratio in ratios)
        print(
            f"| {size} | {speeds[0]:.1f} | {speeds[1]:.1f} | {statistics.geometric_mean(ratios):.2f} ({each}) | "
            f"{per_pass[0]:.2f} | {per_pass[1]:.2f} |"
        )


def report(rounds: Sequence[Round]) -> None:
    """A table of all rounds together, and the ratios to one answer at a time, round by round."""
    print("| server | rounds | tokens/s | first token, s: p50, p95 | between pieces, ms: p50, p95 | ", end="")
    print("while a long prompt is read, ms: p50, p95, most | its first token, s |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for server in dict.fromkeys(one.server for one in rounds):
        own = [one for one in rounds if one.server == server]
        first = [value for one in own for value in one.first_s]
        gaps, busy = [[gap for one in own for gap in values(one)] for values in (lambda r: r.gaps_ms, _busy)]
        speed = sum(one.tokens for one in own) / sum(one.seconds for one in own)
        print(
            f"| {server} | {len(own)} | {speed:.1f} | {percentile(first, 50):.2f}, {percentile(first, 95):.2f} | "
            f"{percentile(gaps, 50):.1f}, {percentile(gaps, 95):.1f} | "
            f"{percentile(busy, 50):.1f}, {percentile(busy, 95):.1f}, {max(busy, default=float('nan')):.0f} | "
            f"{statistics.median(one.long_first_s for one in own):.1f} |"
        )
    by_server = {server: [one.speed for one in rounds if one.server == server] for server in {r.server for r in rounds}}
    base = by_server.pop("ours-1", [])
    for server, speeds in sorted(by_server.items()):
        ratios = [speed / one for speed, one in zip(speeds, base, strict=False)]
        if ratios:
            each = ", ".join(f"{ratio:.2f}" for ratio in ratios)
            print(f"{server} over ours-1: {statistics.geometric_mean(ratios):.2f} (rounds: {each})")


def _busy(one: Round) -> list[float]:
    return one.busy_gaps_ms


def main() -> int:
    """Run it; 1 where a server failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", required=True)
    parser.add_argument("--draft")
    parser.add_argument("--peer", help="llama.cpp's server")
    parser.add_argument("--only", help="some of ours-N, ours-1, llama-server, with commas between")
    parser.add_argument("--mode", default="auto")
    parser.add_argument("--json", type=Path, help="every time that was measured")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no further server after so many")
    for name, value in (("clients", 4), ("requests", 24), ("rounds", 4), ("max-tokens", 128), ("ctx", 8192)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--long", type=int, default=6000)
    parser.add_argument("--by-load", action="store_true")
    parser.add_argument("--kinds", help="of the prompts, with commas between; all without it")
    parser.add_argument("--threads", type=int, default=physical_cores())
    options = parser.parse_args()
    prompts = [prompt for path in prompt_files(WORKLOADS) for prompt in read_prompts(path)]
    if options.kinds is not None:
        prompts = [prompt for prompt in prompts if prompt.category in options.kinds.split(",")]
    with tempfile.TemporaryDirectory(prefix="paceline-") as home:
        os.environ.setdefault(HOME_VARIABLE, home)  # what passes cost is measured once, and kept for the next round
        if options.by_load:
            loads = measure_loads(options, prompts)
            report_loads(loads)
            return _keep(options, loads)
        rounds, status = measure_rounds(options, prompts)
    if rounds:
        report(rounds)
    return _keep(options, rounds) or status


def measure_rounds(options: argparse.Namespace, prompts: Sequence[BenchmarkPrompt]) -> tuple[list[Round], int]:
    """What could be measured; 1 where a server failed."""
    servers = [f"ours-{options.clients}", "ours-1", *([PEER] if options.peer else ())]
    servers = [one for one in dict.fromkeys(servers) if options.only is None or one in options.only.split(",")]
    rounds, until = list[Round](), time.monotonic() + 60 * options.minutes
    try:
        for number in range(options.rounds):
            conversations = mixed(prompts, options.requests, number)
            for server in [*servers[number % len(servers) :], *servers[: number % len(servers)]]:
                if time.monotonic() < until:
                    rounds.append(measure(server, options, conversations))
                    print(f"round {number + 1}, {server}: {rounds[-1].speed:.1f} tokens/s", file=sys.stderr)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
    except PeerError as error:
        print(error, file=sys.stderr)
        return rounds, 1
    return rounds, 0


def _keep(options: argparse.Namespace, measured: Sequence[Round] | Sequence[Load]) -> int:
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(one) for one in measured]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
