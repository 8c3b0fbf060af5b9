"""A replacement for llama.cpp's server: command line, health and completions, scripted by the model's name.

The variable ``SCRIPTED_SERVER`` overrides the script. Scripts: ``dies`` exits at once with a reason, ``never-ready``
keeps loading, ``refuses`` answers with an error, ``mute`` with an error without text, ``babbles`` with invalid JSON,
``silent`` omits the timings, ``vanishes`` exits in the middle of an answer. Any other name works after two health
requests.
"""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any


class Handler(BaseHTTPRequestHandler):
    """The server's answers. ``looks`` counts the health requests."""

    disable_nagle_algorithm = True  # otherwise each body waits 40 ms for the delayed ACK of its headers
    script = ""
    arguments: tuple[str, ...] = ()
    looks = 0
    answers = 0

    def do_GET(self) -> None:
        """Answer `/health`, at first with the status "loading"."""
        Handler.looks += 1
        ready = Handler.looks > 2 and self.script != "never-ready"
        self.reply(200 if ready else 503, {"status": "ok" if ready else "loading"})

    def do_POST(self) -> None:
        """Answer `/completion`; `generation_settings` repeats the request."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.script == "refuses":
            self.reply(400, {"error": {"message": "the prompt is too long."}})
            return
        if self.script == "vanishes":
            os._exit(3)
        if self.script in ("mute", "babbles"):
            self.reply(500 if self.script == "mute" else 200, [] if self.script == "mute" else None)
            return
        Handler.answers += 1
        timings = {"predicted_n": 21, "predicted_ms": 400.0, "prompt_n": 5, "prompt_ms": 7.0}
        if "--spec-type" in self.arguments:
            timings |= {"draft_n": 15, "draft_n_accepted": 10}
        answer = {
            "tokens": [*asked["prompt"], self.answers],
            "generation_settings": {"asked": asked, "arguments": self.arguments, "pid": os.getpid()},
        }
        self.reply(200, answer if self.script == "silent" else answer | {"timings": timings})

    def reply(self, status: int, record: dict[str, Any] | list[Any] | None) -> None:
        """Send a JSON answer; None sends invalid JSON."""
        body = b"<html>" if record is None else json.dumps(record).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the name of the base class)
        """Log nothing."""


def main(arguments: list[str]) -> int:
    """Serve until the process is ended."""
    script = os.environ.get("SCRIPTED_SERVER") or Path(arguments[arguments.index("--model") + 1]).name
    if script == "dies":
        sys.stderr.write("loading\nerror: no such model\n")
        return 4
    Handler.script, Handler.arguments = script, tuple(arguments)
    HTTPServer(("127.0.0.1", int(arguments[arguments.index("--port") + 1])), Handler).serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
