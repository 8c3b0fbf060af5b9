"""Clients of a local server that behave well, misbehave or disconnect; each checks its own result.

Uses only HTTP and the documented behaviour of the server.
"""

import contextlib
import http.client
import json
import random
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

TIMEOUT_S = 120.0
CHAT, COMPLETIONS, RESPONSES = "/v1/chat/completions", "/v1/completions", "/v1/responses"
MODES = ("off", "ngram", "suffix", "draft", "auto")
BIG = 8 * 2**20 + 1
LEAST_SHARED = 12  # a common prefix of this length identifies an answer
# Frequency of each kind of request, in percent.
KINDS = {
    "whole": 28,
    "stream": 24,
    "response": 10,
    "leave_stream": 10,
    "leave_whole": 6,
    "slow_reader": 4,
    "bad_json": 6,
    "bad_fields": 4,
    "oversized": 3,
    "wrong_key": 4,
    "foreign_origin": 3,
    "foreign_host": 2,
    "cut_body": 2,
    "garbage": 2,
    "look_around": 4,
}
OF_A_MODEL = {"schema": 6}  # a kind that only a real model supports
BAD_JSON = (b"", b"{", b"[]", b"null", b'{"messages": NaN}', b"\xff\xfe", b'{"a":' * 5000, b"[" * 200_000)
BAD_FIELDS: tuple[dict[str, object], ...] = (
    {"messages": []},
    {"messages": "hello"},
    {"messages": [{"role": "nobody", "content": "x"}]},
    {"messages": [{"role": "user", "content": 7}]},
    {"messages": [{"role": "user", "content": "x"}], "temperature": -1},
    {"messages": [{"role": "user", "content": "x"}], "temperature": 1e999},
    {"messages": [{"role": "user", "content": "x"}], "max_tokens": "many"},
    {"messages": [{"role": "user", "content": "x"}], "stream": "yes"},
    {"messages": [{"role": "user", "content": "x"}], "n": 0},
)


NOUNS = ("river", "stone", "lamp", "boat", "apple", "bell", "gate", "cup", "moon", "tree", "fox", "bear", "hill", "sea")
COLOURS = ("red", "green", "blue", "white", "black", "silver", "old", "quiet", "paper", "winter", "iron", "tall")
NUM_QUESTIONS = 40


def questions(seed: int) -> list[str]:
    """Questions with different nouns, so that each answer can be matched with its question."""
    dice = random.Random(seed)  # noqa: S311  (no secret)
    found: dict[str, None] = {}
    while len(found) < NUM_QUESTIONS:
        things = [f"{dice.choice(COLOURS)} {noun}" for noun in dice.sample(NOUNS, 4)]
        found[f"Repeat this list: {', '.join(things)}."] = None
    return list(found)


@dataclass(frozen=True)
class Question:
    """A question and all valid answers at temperature 0; near ties allow several."""

    words: str
    answers: tuple[str, ...]


@dataclass
class Tally:
    """Counts of results, from any thread."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    kinds: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)  # violations
    num_right: int = 0
    num_other: int = 0  # answers that match no question
    waits_s: list[float] = field(default_factory=list)  # time to the end of each complete answer

    def note(self, kind: str, status: int | None = None) -> None:
        """Count a finished request of this kind."""
        with self.lock:
            self.kinds[kind] += 1
            if status is not None:
                self.statuses[status] += 1

    def fault(self, text: str) -> None:
        """Record a violation."""
        with self.lock:
            self.faults.append(text)

    def judge(self, question: Question, text: str, others: Sequence[Question], *, cut: bool) -> None:
        """Check that an answer belongs to its question."""
        own = max(shared(text, answer, cut=cut) for answer in question.answers)
        if own == len(text) and (cut or text in question.answers):
            with self.lock:
                self.num_right += 1
            return
        best = max((max(shared(text, a, cut=cut) for a in other.answers), other.words) for other in others)
        if best[0] >= LEAST_SHARED and best[0] > own and best[1] != question.words:
            self.fault(f"mixed up: {question.words!r} was answered with {text!r}, which is for {best[1]!r}")
            return
        with self.lock:
            self.num_other += 1


def shared(text: str, answer: str, *, cut: bool) -> int:
    """Length of the common prefix of two texts; the whole length if the text is a prefix of the answer."""
    if text == answer or (cut and answer.startswith(text)):
        return len(text)
    return next(
        (at for at, (a, b) in enumerate(zip(text, answer, strict=False)) if a != b), min(len(text), len(answer))
    )


@dataclass(frozen=True)
class Where:
    """Address and key of the server."""

    port: int
    key: str


class StormyClient(threading.Thread):
    """One client: sends one request after another until stopped."""

    def __init__(
        self,
        where: Where,
        questions: Sequence[Question],
        tally: Tally,
        seed: int,
        goes_on: Callable[[], bool],
        *,
        kinds: Iterable[str] = KINDS,
    ) -> None:
        super().__init__(name=f"client {seed}", daemon=True)
        self._port, self._key = where.port, where.key
        self._questions, self._tally = questions, tally
        self._dice = random.Random(seed)  # noqa: S311  (no secret)
        self._goes_on = goes_on
        self._kinds = tuple(kinds)

    def run(self) -> None:
        weights = [{**KINDS, **OF_A_MODEL}[kind] for kind in self._kinds]
        while self._goes_on():
            kind = self._dice.choices(self._kinds, weights)[0]
            try:
                getattr(self, f"_{kind}")()
            except TimeoutError:
                self._tally.fault(f"{kind}: nothing came for {TIMEOUT_S:.0f} s")
            except (OSError, http.client.HTTPException) as error:
                if self._goes_on():
                    self._tally.fault(f"{kind}: {type(error).__name__}: {error}")
            time.sleep(self._dice.random() * 0.03)

    # ---- well-behaved ---------------------------------------------------------------------------------------------

    def _request(self) -> tuple[Question, dict[str, object], bool]:
        question = self._dice.choice(self._questions)
        cut = self._dice.random() < 0.3
        body: dict[str, object] = {"messages": [{"role": "user", "content": question.words}], "temperature": 0}
        if self._dice.random() < 0.7:
            body["speculation"] = {"mode": self._dice.choice(MODES)}
        if cut:
            body["max_tokens"] = self._dice.randint(1, 12)
        return question, body, cut

    def _whole(self) -> None:
        question, body, cut = self._request()
        began = time.monotonic()
        status, raw = self._post(CHAT, json.dumps(body).encode())
        self._tally.note("whole", status)
        if status == 200:
            with self._tally.lock:
                self._tally.waits_s.append(time.monotonic() - began)
            answer = json.loads(raw)
            self._tally.judge(question, answer["choices"][0]["message"]["content"], self._questions, cut=cut)
            most = body.get("max_tokens")
            if isinstance(most, int) and answer["usage"]["completion_tokens"] > most:
                self._tally.fault(f"whole: {answer['usage']['completion_tokens']} tokens of {most}")
        else:
            self._expect("whole", status, (429,))

    def _stream(self) -> None:
        question, body, cut = self._request()
        with self._connected() as connection:
            connection.request("POST", CHAT, json.dumps({**body, "stream": True}), self._headers())
            response = connection.getresponse()
            self._tally.note("stream", response.status)
            if response.status != 200:
                self._expect("stream", response.status, (429,))
                return
            events = [line for line in response.read().split(b"\n\n") if line.startswith(b"data: ")]
        chunks = [json.loads(event.removeprefix(b"data: ")) for event in events[:-1]]
        if events[-1] != b"data: [DONE]" or any("error" in chunk for chunk in chunks):
            self._tally.fault(f"stream: ended with {events[-1]!r}")
            return
        if len({chunk["id"] for chunk in chunks}) != 1:
            self._tally.fault("stream: chunks of several answers in one")
        text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
        self._tally.judge(question, text, self._questions, cut=cut)

    def _response(self) -> None:
        """Request a streamed answer of the Responses API."""
        question, body, cut = self._request()
        asked = {"input": question.words, "temperature": 0, "stream": True}
        asked |= {name: body[name] for name in ("speculation",) if name in body}
        asked |= {"max_output_tokens": body["max_tokens"]} if cut else {}
        status, raw = self._post(RESPONSES, json.dumps(asked).encode())
        self._tally.note("response", status)
        if status != 200:
            self._expect("response", status, (429,))
            return
        events = [
            json.loads(event.partition(b"\ndata: ")[2]) for event in raw.split(b"\n\n") if event and event[:1] != b":"
        ]
        last = events[-1]
        if last["type"] not in ("response.completed", "response.incomplete"):
            self._tally.fault(f"response: ended with {last['type']}")
            return
        if [event["sequence_number"] for event in events] != list(range(len(events))):
            self._tally.fault("response: events of several answers in one")
        text = "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
        if text != last["response"]["output"][0]["content"][0]["text"]:
            self._tally.fault("response: its events tell another text")
        self._tally.judge(question, text, self._questions, cut=cut)

    def _schema(self) -> None:
        """Request an answer with a schema that no other client uses."""
        _, body, _ = self._request()
        number = self._dice.randrange(10**6)
        properties = {f"p{number}": {"enum": ["yes", "no"]}, "n": {"type": "integer", "minimum": 0, "maximum": number}}
        schema = {"type": "object", "properties": properties, "required": list(properties)}
        form = {"type": "json_schema", "json_schema": {"name": "it", "schema": schema}}
        status, raw = self._post(CHAT, json.dumps({**body, "max_tokens": 100, "response_format": form}).encode())
        self._tally.note("schema", status)
        if status != 200:
            self._expect("schema", status, (429,))
            return
        choice = json.loads(raw)["choices"][0]
        if choice["finish_reason"] == "stop":
            value = json.loads(choice["message"]["content"])
            if value.keys() != properties.keys() or not 0 <= value["n"] <= number:
                self._tally.fault(f"schema: {value} is not by {schema}")

    def _look_around(self) -> None:
        path, key = self._dice.choice((("/health", None), ("/v1/models", self._key), ("/api/tags", self._key)))
        with self._connected() as connection:
            connection.request("GET", path, headers=self._headers(key) if key else {})
            response = connection.getresponse()
            response.read()
        self._tally.note("look_around", response.status)
        self._expect(path, response.status, (200,))

    # ---- clients that disconnect or are slow ------------------------------------------------------------------------

    def _leave_stream(self) -> None:
        self._leave({"stream": True}, "leave_stream")

    def _leave_whole(self) -> None:
        self._leave({}, "leave_whole")

    def _leave(self, more: dict[str, object], kind: str) -> None:
        _, body, _ = self._request()
        with self._plain_socket() as link:
            link.sendall(self._raw(json.dumps({**body, **more}).encode()))
            link.settimeout(self._dice.random() ** 3)
            with contextlib.suppress(TimeoutError):
                for _ in range(self._dice.randint(0, 5)):
                    if not link.recv(200):
                        break
            if self._dice.random() < 0.5:  # reset the connection instead of closing it
                link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._tally.note(kind)

    def _slow_reader(self) -> None:
        _, body, _ = self._request()
        with self._plain_socket() as link:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            link.sendall(self._raw(json.dumps({**body, "stream": True}).encode()))
            ends = time.monotonic() + self._dice.random() * 6.0
            while time.monotonic() < ends and self._goes_on() and link.recv(64):
                time.sleep(self._dice.random() * 0.2)
        self._tally.note("slow_reader")

    # ---- badly behaved ----------------------------------------------------------------------------------------------

    def _bad_json(self) -> None:
        status, _ = self._post(self._dice.choice((CHAT, COMPLETIONS)), self._dice.choice(BAD_JSON))
        self._tally.note("bad_json", status)
        self._expect("bad_json", status, (400,))

    def _bad_fields(self) -> None:
        status, _ = self._post(CHAT, json.dumps(self._dice.choice(BAD_FIELDS)).encode())
        self._tally.note("bad_fields", status)
        self._expect("bad_fields", status, (400,))

    def _oversized(self) -> None:
        """Send a body that is too large: either only announced, or in chunks until the server refuses it."""
        status = 0
        with self._plain_socket() as link:
            if self._dice.random() < 0.5:
                link.sendall(self._head(f"Content-Length: {BIG}"))
            else:
                link.sendall(self._head("Transfer-Encoding: chunked"))
                piece = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
                with contextlib.suppress(ConnectionError):
                    for _ in range(BIG // 0x10000 + 2):
                        link.sendall(piece)
            with contextlib.suppress(ConnectionError):
                status = _status(link)
        self._tally.note("oversized", status or None)
        self._expect("oversized", status, (0, 413))  # 0: disconnected while sending

    def _wrong_key(self) -> None:
        key = self._dice.choice(("", "wrong", self._key[:-1], self._key + "x", self._key.swapcase(), "x" * 10_000))
        self._refused("wrong_key", self._headers(key), 401)

    def _foreign_origin(self) -> None:
        origin = self._dice.choice(("https://example.com", "null", f"http://localhost:{self._port + 1}", "http://evil"))
        self._refused("foreign_origin", {**self._headers(), "Origin": origin}, 403)

    def _foreign_host(self) -> None:
        host = self._dice.choice(("rebound.example:80", "", "evil", "[::", "10.0.0.1"))
        self._refused("foreign_host", {**self._headers(), "Host": host}, 403)

    def _refused(self, kind: str, headers: dict[str, str], expected: int) -> None:
        _, body, _ = self._request()
        with self._connected() as connection:
            connection.request("POST", CHAT, json.dumps(body), headers)
            response = connection.getresponse()
            raw = response.read()
        self._tally.note(kind, response.status)
        self._expect(kind, response.status, (expected,))
        if b"choices" in raw:
            self._tally.fault(f"{kind}: answered all the same")

    def _cut_body(self) -> None:
        _, body, _ = self._request()
        raw = self._raw(json.dumps(body).encode())
        with self._plain_socket() as link:
            link.sendall(raw[: self._dice.randrange(1, len(raw))])
            time.sleep(self._dice.random() * 0.5)
        self._tally.note("cut_body")

    def _garbage(self) -> None:
        with self._plain_socket() as link, contextlib.suppress(ConnectionError):
            link.sendall(self._dice.randbytes(self._dice.randint(1, 40_000)) + b"\r\n\r\n")
            link.settimeout(1.0)
            with contextlib.suppress(TimeoutError):
                link.recv(4096)
        self._tally.note("garbage")

    # ---- HTTP -------------------------------------------------------------------------------------------------------

    def _expect(self, kind: str, status: int, allowed: tuple[int, ...]) -> None:
        if status not in allowed:
            self._tally.fault(f"{kind}: status {status} instead of {' or '.join(map(str, allowed))}")

    def _headers(self, key: str | None = None) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key if key is None else key}"}

    @contextlib.contextmanager
    def _connected(self) -> Iterator[http.client.HTTPConnection]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=TIMEOUT_S)
        try:
            yield connection
        finally:
            connection.close()

    def _post(self, path: str, body: bytes) -> tuple[int, bytes]:
        with self._connected() as connection:
            connection.request("POST", path, body, self._headers())
            response = connection.getresponse()
            return response.status, response.read()

    def _plain_socket(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self._port), TIMEOUT_S)

    def _head(self, more: str) -> bytes:
        lines = (f"POST {CHAT} HTTP/1.1", f"Host: 127.0.0.1:{self._port}", f"Authorization: Bearer {self._key}", more)
        return "\r\n".join((*lines, "", "")).encode()

    def _raw(self, body: bytes) -> bytes:
        return self._head(f"Content-Length: {len(body)}") + body


def _status(link: socket.socket) -> int:
    first = link.recv(4096).partition(b"\r\n")[0].split()
    return int(first[1]) if len(first) > 1 and first[1].isdigit() else 0


def ask(port: int, key: str, words: str) -> str:
    """The answer to a question at temperature 0 without speculation."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    body = {"messages": [{"role": "user", "content": words}], "temperature": 0, "speculation": {"mode": "off"}}
    connection.request("POST", CHAT, json.dumps(body), {"Authorization": f"Bearer {key}"})
    response = connection.getresponse()
    raw = response.read()
    connection.close()
    if response.status != 200:
        raise RuntimeError(f"{response.status}: {raw[:300]!r}")
    text = json.loads(raw)["choices"][0]["message"]["content"]
    assert isinstance(text, str)
    return text
