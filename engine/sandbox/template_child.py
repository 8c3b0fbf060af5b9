"""The helper process that renders chat templates; reads and writes lines of JSON.

A chat template is an untrusted program. Jinja's sandbox protects Python's internals, but does not limit time and
memory, and a single built-in call (``'a' * 10**10``, joining a nested list) can exhaust these without a chance to
interrupt it. So templates run in this process, which the parent can kill.
"""

import html  # noqa: F401  (as below: Jinja imports them at first use, when files can no longer be opened)
import json
import pprint  # noqa: F401
import sys
import textwrap  # noqa: F401
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any

import jinja2
import jinja2.constants
import jinja2.debug
import jinja2.ext
import jinja2.sandbox

from engine.sentences import i18n

_MAX_COMPILED = 8
_MAX_REASON_CHARS = 300
_READY = b"ready\n"
_WARM_UP = "{{ messages | tojson }}{{ strftime_now('%Y-%m-%d') }}{% for m in messages %}{{ m.x.y }}{% endfor %}"
# Errors of a template; any other error is a bug of this program and ends the process.
_TEMPLATE_ERRORS = (
    jinja2.TemplateError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    NameError,
    OSError,
    RuntimeError,  # includes RecursionError
    SyntaxError,  # Python cannot compile Jinja's code for more than 20 nested loops
    SystemError,
    TypeError,
    ValueError,
)


class GenerationBlock(jinja2.ext.Extension):
    """Ignores ``{% generation %}``, which marks the assistant's text for training."""

    tags = {"generation"}  # noqa: RUF012  (as Jinja requires)

    def parse(self, parser: jinja2.parser.Parser) -> list[jinja2.nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def make_environment() -> jinja2.sandbox.ImmutableSandboxedEnvironment:
    """The Jinja environment for chat templates, as in transformers' chat_template_utils."""
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[GenerationBlock, jinja2.ext.loopcontrols]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = _strftime_now
    return environment


def main(arguments: list[str]) -> int:
    """Answer requests until the parent closes the pipe. ``arguments``: limits in characters and in bytes."""
    answer = make_answerer(int(arguments[0]))
    answer({"source": _WARM_UP, "variables": {"messages": [{"role": "user"}]}})
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    _drop_privileges(int(arguments[1]))
    answers.write(_READY)
    answers.flush()
    for line in requests:
        try:
            reported = json.dumps(answer(json.loads(line))).encode()
        except MemoryError as fault:  # for the request or the output
            reported = json.dumps({"refused": _reason(fault)}).encode()
        answers.write(reported + b"\n")
        answers.flush()
    return 0


def make_answerer(max_chars: int) -> Callable[[dict[str, Any]], dict[str, str]]:
    """Return a function that renders a request, and caches the last few compiled templates."""
    environment = make_environment()
    compiled: dict[str, jinja2.Template] = {}

    def answer(request: dict[str, Any]) -> dict[str, str]:
        source = request["source"]
        try:
            if source not in compiled:
                while len(compiled) >= _MAX_COMPILED:
                    del compiled[next(iter(compiled))]
                compiled[source] = environment.from_string(source)
            return {"text": _render(compiled[source], request["variables"], max_chars)}
        except _TEMPLATE_ERRORS as fault:
            return {"refused": _reason(fault)}

    return answer


def _render(template: jinja2.Template, variables: dict[str, Any], max_chars: int) -> str:
    pieces, num_chars = [], 0
    for piece in template.generate(variables):
        num_chars += len(piece)
        if num_chars > max_chars:
            raise ValueError(i18n("it wrote more text than any context holds"))
        pieces.append(piece)
    return "".join(pieces)


def _reason(fault: BaseException) -> str:
    if isinstance(fault, MemoryError):
        return i18n("it needed too much memory")
    if isinstance(fault, RecursionError):
        return i18n("it calls itself without end")
    lines = str(fault).strip().splitlines()
    return (lines[0] if lines else type(fault).__name__)[:_MAX_REASON_CHARS]


def _to_json(value: object, ensure_ascii: bool = False, indent: int | None = None, **options: Any) -> str:  # noqa: ANN401
    allowed = {name: options[name] for name in ("separators", "sort_keys") if name in options}
    value = list(value) if isinstance(value, Iterator) else value  # a result of `map` or a similar filter
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, **allowed)


def _raise_exception(message: str) -> None:
    raise jinja2.TemplateError(message)


def _strftime_now(pattern: str) -> str:
    return datetime.now().astimezone().strftime(pattern)


def _drop_privileges(max_bytes: int) -> None:
    """Forbid new files, sockets and processes, and limit memory, as far as the system supports it.

    Windows does not, macOS only in part; there only the parent's limits apply.
    """
    try:
        import resource  # noqa: PLC0415  (Unix only)
    except ImportError:
        return
    limits = (
        (resource.RLIMIT_AS, max_bytes),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_NOFILE, 3),
    )
    for kind, limit in limits:
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (limit, limit))
