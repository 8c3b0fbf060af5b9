"""`paceline chat`: a conversation at the terminal; `paceline run` without a prompt starts one, too.

Nothing is stored. Piped lines are messages, too.
"""

import argparse
import contextlib
import importlib
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

from app.cli.interrupts import stop_on_interrupt
from app.cli.layers import apply_layers
from app.cli.models.names import resolve_names
from app.cli.output import fail, notify, option_errors
from app.cli.run import RUN_ERRORS, decoding_defaults, load_for, open_session, show_events
from app.cli.terminal_stream import Style, print_styled
from app.core.domain.thinking import without_thinking
from engine.errors import EngineError
from engine.records import ChatRequest, EngineReady, Message, Overflow
from engine.session.session import Session

PROMPT, CONTINUATION_PROMPT = "> ", "… "
BLOCK_MARKER = '"""'  # a message of several lines starts and ends with it
HINT = 'Ctrl+C stops an answer, /clear starts over, /exit ends. Lines between """ and """ are one message.'


def command(options: argparse.Namespace) -> int:
    """Chat until the end of the input; returns the exit code (see `main`)."""
    with option_errors(*RUN_ERRORS):
        resolve_names(options)
        apply_layers(options)
        request = decoding_defaults(options)
    with closing(open_session()) as session:
        ready = load_for(session, options, request)
        if ready is None:
            return 1
        request = replace(request, stop=tuple(options.stop), ignore_eos=options.ignore_eos, overflow=Overflow.DROP)
        return Conversation(session, ready, request, options.system or "").run()


class Conversation:
    """The messages so far, and the session and settings for the next answer."""

    def __init__(
        self,
        session: Session,
        ready: EngineReady,
        request: ChatRequest,
        system: str,
        read: Callable[[str], str] = input,
    ) -> None:
        """``read`` gets the prompt of the input line, like `input`, and raises EOFError at the end of input."""
        self._session, self._ready, self._request, self._system = session, ready, request, system
        self._read = read
        self._is_at_terminal = sys.stdin.isatty()
        self.messages: list[Message] = []

    def run(self) -> int:
        if self._is_at_terminal:
            with contextlib.suppress(ImportError):
                importlib.import_module("readline")  # importing it makes the arrow keys recall earlier lines
            notify(f"a chat with {self._ready.target.name}. {HINT}")
        while (text := self._next_message()) is not None:
            command = text.strip()
            if command in ("/exit", "/quit", "/bye"):
                break
            if command == "/clear":
                self.messages.clear()
            elif command.startswith("/"):
                notify(f"{command.split()[0]} is unknown. {HINT}")
            elif command:
                self.messages.append(Message("user", text))
                self._answer()
        return 0

    def _next_message(self) -> str | None:
        """Read a message or a command; None at the end. Ctrl+C discards typed lines; without any it ends the chat."""
        lines = list[str]()
        try:
            while not lines or (lines[0].startswith(BLOCK_MARKER) and not _is_whole_block("\n".join(lines))):
                prompt = CONTINUATION_PROMPT if lines else PROMPT
                lines.append(self._read(prompt if self._is_at_terminal else ""))
        except EOFError:
            if not lines:
                return None
        except KeyboardInterrupt:
            print(file=sys.stderr)
            return "" if lines else None
        text = "\n".join(lines)
        if text.startswith(BLOCK_MARKER):
            return text.removeprefix(BLOCK_MARKER).removesuffix(BLOCK_MARKER).strip("\n")
        return text

    def _answer(self) -> None:
        """Answer the last message. A message that cannot be answered is dropped; a stopped answer stays."""
        system = (Message("system", self._system),) if self._system else ()
        request = replace(self._request, messages=(*system, *self.messages))
        texts: list[str] = []
        try:
            with stop_on_interrupt() as interrupted:
                show_events(self._session.generate(request, interrupted.is_set), as_json=False, texts=texts)
        except EngineError as error:
            self.messages.pop()
            fail(error.problem)
            return
        if interrupted.is_set():
            print_styled("stopped", Style.FAINT)
        self.messages.append(Message("assistant", without_thinking("".join(texts))))


def _is_whole_block(text: str) -> bool:
    return len(text) >= 2 * len(BLOCK_MARKER) and text.endswith(BLOCK_MARKER)
