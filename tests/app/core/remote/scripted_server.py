"""A server on loopback that answers like vLLM, SGLang, llama-server, LM Studio or Ollama.

The answers for vLLM were compared with vLLM 0.32; the others follow documentation and source code.

Requests are recorded in ``requests``. Fields of `Script` switch faults on.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from jinja2.sandbox import ImmutableSandboxedEnvironment

from tests.waiting import PATIENCE_S

WORDS = ("Hello", ", ", "world", "!")


@dataclass
class Script:
    """The behaviour of the server."""

    kind: str = "vllm"
    model: str = "org/model"
    models: tuple[str, ...] = ()  # instead of ``model``
    key: str = ""
    pieces: tuple[str, ...] = WORDS
    reasoning: tuple[str, ...] = ()
    unstreamed: bool = False
    cut_after: int | None = None  # number of pieces after which the connection ends
    error_after: int | None = None  # number of pieces after which the stream contains an error
    status: int = 200
    error: dict[str, Any] = field(default_factory=dict)
    redirect: str = ""
    pause_s: float = 0.0  # before each piece
    silence_s: float = 0.0  # before the answer
    finish_reason: str = "stop"
    max_chars: int = 0  # maximum characters of all messages; longer requests are refused as in ``refuses``
    refuses: str = "This model's maximum context length is 40 tokens. However, your prompt contains at least 41 tokens"
    refuses_length: bool = False  # also refuse requests whose length exceeds the context, like vLLM
    template: str = ""  # chat template that renders the messages
    names_reasoning: str = "reasoning_content"
    family: str = ""  # family of a reasoning model on Ollama
    has_vision: bool = True  # whether the server reports vision for the model


class Handler(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True  # otherwise each body waits 40 ms for the delayed ACK of its headers
    protocol_version = "HTTP/1.1"
    server: ScriptedServer  # type: ignore[assignment]

    def log_message(self, *_arguments: object) -> None:
        pass

    def do_GET(self) -> None:
        self._note(None)
        script = self.server.script
        if script.redirect:
            self._redirect()
        elif not self._allowed():
            self._refuse_key()
        else:
            page = self.server.page(self.path)
            self._json(page if page is not None else {"detail": "Not Found"}, 200 if page is not None else 404)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._note(body)
        script = self.server.script
        if script.redirect:
            self._redirect()
            return
        if not self._allowed():
            self._refuse_key()
            return
        if self.path not in ("/v1/chat/completions", "/v1/completions"):
            page = self.server.posted(self.path, body)
            self._json(page if page is not None else {"detail": "Not Found"}, 200 if page is not None else 404)
            return
        self.server.wait(script.silence_s)
        refused = self.server.too_long(body)
        if refused:
            self._json({"error": {"message": refused, "type": "BadRequestError", "code": 400}}, 400)
        elif script.status != 200:
            self._json({"error": script.error} if script.error else {}, script.status)
        elif script.unstreamed:
            text = "".join(script.pieces)
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            self._json({"choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": len(script.pieces)}})
        else:
            with contextlib.suppress(ConnectionError):
                self._stream()

    def _refuse_key(self) -> None:
        error: object = {"message": "Incorrect API key", "type": "Unauthorized", "code": 401}
        self._json({"error": "Unauthorized" if self.server.script.kind == "vllm" else error}, 401)

    def _stream(self) -> None:
        script = self.server.script
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Connection", "close")
        self.end_headers()
        self._event({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]})
        parts = [{script.names_reasoning: piece} for piece in script.reasoning]
        parts += [{"content": piece} for piece in script.pieces]
        for number, part in enumerate(parts):
            if number == script.cut_after:
                self.close_connection = True
                return
            if number == script.error_after:
                self._event({"error": script.error})
                return
            self.server.wait(script.pause_s)
            self._event(self.server.piece(part, number + 1))
        for event in self.server.end(len(parts)):
            self._event(event)
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def _event(self, event: dict[str, Any]) -> None:
        self.wfile.write(b"data: " + json.dumps(event).encode() + b"\n\n")
        self.wfile.flush()

    def _note(self, body: dict[str, Any] | None) -> None:
        self.server.requests.append((self.path, self.headers.get("Authorization", ""), body))

    def _allowed(self) -> bool:
        key = self.server.script.key
        return not key or self.headers.get("Authorization") == f"Bearer {key}"

    def _redirect(self) -> None:
        self.send_response(307)
        self.send_header("Location", self.server.script.redirect + self.path)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _json(self, data: object, status: int = 200) -> None:
        content = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(content)


class ScriptedServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, script: Script) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = script
        self.requests: list[tuple[str, str, dict[str, Any] | None]] = []
        self._closed = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The bodies of POST requests."""
        return [body for _path, _key, body in self.requests if body is not None]

    def wait(self, seconds: float) -> None:
        if seconds:
            self._closed.wait(seconds)

    def close(self) -> None:
        self._closed.set()
        self.shutdown()
        self.server_close()

    def page(self, path: str) -> object:
        kind, model = self.script.kind, self.script.model
        entry: dict[str, Any] = {"id": model, "object": "model"}
        if kind in ("vllm", "sglang"):
            entry["max_model_len"] = 4096
        pages: dict[str, dict[str, object]] = {
            "vllm": {"/version": {"version": "0.32.0"}},
            "sglang": {
                "/get_server_info": {"version": "0.5.18", "tp_size": 2, "speculative_algorithm": "EAGLE3"},
            },
            "llama-server": {
                "/props": {
                    "chat_template": self.script.template,
                    "build_info": "b9000-abcdef",
                    "modalities": {"vision": self.script.has_vision, "audio": False},
                    "default_generation_settings": {"n_ctx": 2048, "params": {"speculative.types": "draft-simple"}},
                }
            },
            "lm-studio": {
                "/api/v0/models": {
                    "data": [
                        {"id": model, "type": "vlm" if self.script.has_vision else "llm", "max_context_length": 8192},
                        {"id": "text-embedding", "type": "embeddings", "max_context_length": 512},
                    ]
                }
            },
            "ollama": {
                "/api/version": {"version": "0.31.0"},
                "/api/ps": {"models": [{"name": model, "context_length": 16384}]},
            },
            "other": {},
        }
        listed = [{**entry, "id": name} for name in self.script.models] or [entry]
        if kind == "lm-studio":
            listed.append({"id": "text-embedding", "object": "model"})
        return {"/v1/models": {"object": "list", "data": listed}, **pages[kind]}.get(path)

    def too_long(self, body: dict[str, Any]) -> str:
        """Why a request is refused: its length exceeds the context, or might exceed it. Empty if it is accepted."""
        script = self.script
        num_chars = sum(len(message["content"]) for message in body.get("messages", ()))
        if script.refuses_length and "max_tokens" in body:
            return "max_tokens=5000 cannot be greater than max_model_len=1024. Please request fewer output tokens."
        return script.refuses if script.max_chars and num_chars > script.max_chars else ""

    def posted(self, path: str, body: dict[str, Any]) -> object:
        """Answers other than completions: a rendered prompt, its ids (one per character), Ollama's model details."""
        kind, script = self.script.kind, self.script
        if kind == "ollama" and path == "/api/show" and script.family:
            return {"capabilities": ["completion", "thinking"], "details": {"family": script.family}}
        if not script.template:
            return None
        if kind == "llama-server" and path == "/apply-template":
            return {"prompt": self.rendered(body)}
        if kind in ("vllm", "sglang") and path == "/tokenize":
            ids = [ord(char) for char in self.rendered(body)]
            return {"count": len(ids), "max_model_len": 4096, "tokens": ids}
        if kind in ("vllm", "sglang") and path == "/detokenize":
            return {"prompt" if kind == "vllm" else "text": "".join(map(chr, body["tokens"]))}
        return None

    def rendered(self, body: dict[str, Any]) -> str:
        """The prompt rendered with the template."""
        given = body.get("chat_template_kwargs") or {}
        variables = {"messages": body["messages"], "add_generation_prompt": True, **given}
        variables["strftime_now"] = lambda _format: "2026-11-26"
        return ImmutableSandboxedEnvironment().from_string(self.script.template).render(variables)

    def piece(self, part: dict[str, str], number: int) -> dict[str, Any]:
        event: dict[str, Any] = {"choices": [{"index": 0, "delta": part, "finish_reason": None}]}
        if self.script.kind in ("vllm", "sglang"):
            event["usage"] = {"prompt_tokens": 7, "total_tokens": 7 + number * 2, "completion_tokens": number * 2}
        if self.script.kind == "vllm":
            event["choices"][0] |= {"logprobs": None, "token_ids": None}
            event["usage"]["completion_tokens_details"] = None
        if self.script.kind == "llama-server":
            event["timings"] = {"prompt_n": 5, "cache_n": 2, "prompt_ms": 50.0}
            event["timings"] |= {"predicted_n": number, "predicted_ms": 10.0 * number}
        return event

    def end(self, num_parts: int) -> Iterator[dict[str, Any]]:
        kind = self.script.kind
        last: dict[str, Any] = {"choices": [{"index": 0, "delta": {}, "finish_reason": self.script.finish_reason}]}
        if kind == "llama-server":
            last["timings"] = {
                **self.piece({}, num_parts)["timings"],
                "draft_n": 4,
                "draft_n_accepted": 2,
            }
        yield last
        tokens = num_parts * 2 if kind in ("vllm", "sglang") else num_parts
        usage: dict[str, Any] = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": tokens}}
        yield usage


@contextlib.contextmanager
def serving(**fields: Any) -> Iterator[ScriptedServer]:  # noqa: ANN401
    """Run a scripted server with these fields of `Script`."""
    server = ScriptedServer(Script(**fields))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join(PATIENCE_S)
