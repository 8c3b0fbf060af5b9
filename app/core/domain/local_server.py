"""The local server as the window shows it: where it listens, what it does, and what programs type to use it."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from enum import StrEnum

from engine.records import Problem
from engine.sentences import said

ALL_ADDRESSES = "0.0.0.0"  # noqa: S104  (a choice of the settings, off by default)
LOOPBACK = "127.0.0.1"
MAX_NAMES = 100
_HOST_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,252}[A-Za-z0-9_])?")


def host_name(text: str) -> str:
    """A name that a Host header may have.

    Raises:
        ValueError: it is none.
    """
    if _HOST_NAME.fullmatch(text) is None:
        raise ValueError(said("{text} is no name, such as host.docker.internal.", text=repr(text[:80])))
    return text.lower()


def read_host_names(line: str) -> frozenset[str]:
    """The names of a line, with commas between them.

    Raises:
        ValueError: one is none, or they are too many.
    """
    names = frozenset(host_name(part.strip()) for part in line.split(",") if part.strip())
    if len(names) > MAX_NAMES:
        raise ValueError(said("There are more than {most} names.", most=MAX_NAMES))
    return names


@dataclass(frozen=True, slots=True)
class ServerSetup:
    """Where the server listens, further ``names`` that it goes by there, and whether programs must show a key.

    Other computers must always, where they are let in.
    """

    host: str
    port: int
    names: frozenset[str] = frozenset()
    wants_key: bool = True

    @property
    def needs_key(self) -> bool:
        """Whether requests are refused without one."""
        return self.wants_key or self.host != LOOPBACK


GONE = 499  # no status of HTTP: the program left before it had all


class RequestState(StrEnum):
    """How far a request is."""

    READING = "reading"  # it arrives, or is looked at
    WAITING = "waiting"  # in the queue
    RUNNING = "running"  # answered now
    DONE = "done"


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """A request of a program, without a word of what was asked or answered.

    ``at`` is seconds since the epoch. ``program`` is what it calls itself, ``model`` the name that answered; either may
    be empty. Of several answers to one request ``tokens`` is the sum. ``status`` is that of the HTTP response, or what
    an answer ended with after its response had begun; `GONE` where the program left, None while there is none.
    """

    number: int
    at: float
    program: str = ""
    path: str = ""
    model: str = ""
    tokens: int | None = None
    tokens_per_second: float | None = None
    state: RequestState = RequestState.READING
    status: int | None = None


class ServerState(StrEnum):
    """What became of the switch."""

    OFF = "off"
    STARTING = "starting"
    ON = "on"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Activity:
    """The queue of the server: requests answered so far, those that wait, and answers in the making.

    ``tokens_per_second`` is the speed of all of these together, over the last seconds; 0 where there are none.
    """

    num_answered: int = 0
    num_waiting: int = 0
    num_running: int = 0
    tokens_per_second: float = 0.0


@dataclass(frozen=True, slots=True)
class ServerView:
    """The server now. ``address`` as ``http://127.0.0.1:8080``; ``problem`` says why it failed.

    ``yours_waits``: the window's own question waits for the answer to a program. ``guest`` is the model that a program
    had loaded in place of the window's; empty where there is none.
    """

    state: ServerState = ServerState.OFF
    address: str = ""
    activity: Activity = Activity()
    problem: Problem | None = None
    yours_waits: bool = False
    guest: str = ""


def base_url(host: str, port: int) -> str:
    """What programs take as the base URL. They are mostly on this machine, whatever is listened on."""
    return f"http://{LOOPBACK if host == ALL_ADDRESSES else host}:{port}/v1"


@dataclass(frozen=True, slots=True)
class Example:
    """What is typed to use the server from a program: its name, where it goes, and the text."""

    program: str
    place: str
    text: str


def examples(url: str, model: str, key: str, n_ctx: int) -> tuple[Example, ...]:
    """For editors, for Python and for a shell. ``model`` may be empty where none is loaded."""
    model = model or "model"
    zed_model = {"name": model, "display_name": model, "max_tokens": n_ctx}
    zed = {"language_models": {"openai_compatible": {"Paceline": {"api_url": url, "available_models": [zed_model]}}}}
    name = json.dumps(model, ensure_ascii=False)  # as people write it
    hello = json.dumps({"model": model, "messages": [{"role": "user", "content": "Hello"}]}, ensure_ascii=False)
    return (
        Example(
            "Continue (VS Code, JetBrains)",
            "config.yaml",
            "models:\n"
            f"  - name: Paceline\n    provider: openai\n    model: {name}\n"
            f"    apiBase: {url}\n    apiKey: {key}\n",
        ),
        Example("Zed", "settings.json", f"{json.dumps(zed, indent=2, ensure_ascii=False)}\n"),
        Example(
            "Python (openai)",
            "",
            "from openai import OpenAI\n\n"
            f'client = OpenAI(base_url="{url}", api_key="{key}")\n'
            f"answer = client.chat.completions.create(\n    model={name},\n"
            '    messages=[{"role": "user", "content": "Hello"}],\n)\n'
            "print(answer.choices[0].message.content)\n",
        ),
        Example(
            "curl",
            "",
            f"curl {url}/chat/completions \\\n  -H 'Authorization: Bearer {key}' \\\n  -d {shlex.quote(hello)}\n",
        ),
    )
