"""Tests the sandbox of chat templates, which are untrusted code: allowed operations and limits."""

import errno
import math
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import jinja2.sandbox
import psutil
import pytest

from engine.errors import TemplateError
from engine.sandbox import template
from engine.sandbox.helper import CHILD_FLAG, child_command, child_environment
from engine.sandbox.template import TemplateRefusedError, TemplateRenderer
from engine.sandbox.template_child import make_answerer, make_environment
from tests.engine.warm_helpers import run_instead
from tests.long_form import LONG

ROOT = Path(__file__).resolve().parents[3]

ESCAPES = {
    "CVE-2024-34359": "{% for c in [].__class__.__base__.__subclasses__() %}{{ c.__name__ }}{% endfor %}",
    "CVE-2025-27516": "{{ ('{0.__class__.__init__.__globals__}' | attr('format'))(messages) }}",
    "CVE-2024-56201": "{{ '{0.__class__.__mro__}'.format(messages) }}",
    "CVE-2024-56326": "{% set f = '{0.__class__}'.format %}{{ f(messages) }}",
    "globals": "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "builtins": "{{ self.__init__.__globals__.__builtins__.__import__('os') }}",
    "lipsum": "{{ lipsum.__globals__['os'].system('id') }}",
    "attr": "{{ (messages | attr('__class__')).__mro__ }}",
    "map": "{{ [messages] | map(attribute='__class__') | list }}",
    "changes": "{{ messages.append(1) }}",
    "function": "{{ raise_exception.__code__.co_filename }}",
}
# Some accesses give an undefined value instead of an error; then it must be empty.
MUST_BE_EMPTY = """{% if leak | replace('[Undefined]', '') == '' %}{{ raise_exception('nothing') }}{% endif %}"""
BOMBS = {
    "loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "power": "{{ 9 ** (9 ** 9) }}",
    "doubling": "{% set n = namespace(x='aaaa') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
    "multiplied": "{% set x = 'a' * 10 ** 11 %}{{ x | length }}",
    "centred": "{% set x = 'a' | center(10 ** 11) %}{{ x | length }}",
    "nested": "{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x }}",
    "output": "{% for a in range(99999) %}{{ 'a' * 9999 }}{% endfor %}",
    "recursion": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "source": "{{" + "(" * 50_000 + ")" * 50_000 + "}}",
    "range": "{% for i in range(10 ** 9) %}{% endfor %}",
    "endless loop": "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
    "calls that double": "{% macro a(n) %}{% if n < 60 %}{{ a(n + 1) ~ a(n + 1) }}{% endif %}{% endmacro %}{{ a(0) }}",
    "width": "{{ '%10000000000d' % 1 }}",
    "format": "{{ '{:>10000000000}'.format('x') }}",
    "joined": "{{ (['a' * 10 ** 6] * 10 ** 6) | join }}",
    "replaced": "{% set x = ('a' * 10 ** 6).replace('a', 'a' * 10 ** 6) %}",
    "list": "{% set x = [0] * 10 ** 11 %}",
    "batch": "{% set x = [1] | batch(10 ** 10, 0) | list %}",
    "indent": "{{ [1] | tojson(indent=10 ** 10) }}",
    "digits": "{{ (10 ** (10 ** 6)) | string }}",
    "block": "{% block a %}{{ self.a() }}{% endblock %}",
    "sums": "{{ 1" + "+1" * 100_000 + " }}",
    "loops in loops": "{% for a in [1] %}" * 30 + "{% endfor %}" * 30,
    "branches": "{% if 1 %}" * 3000 + "{% endif %}" * 3000,
    "a file": "{% include '/etc/passwd' %}",
    "a module": "{% import 'os' as os %}",
    "a long reason": "{{ raise_exception('x' * 10 ** 7) }}",
}
CRASHES = ("it crashed", "/")  # no reason: a crash of the helper, or paths of this machine


@pytest.fixture(name="renderer", scope="module")
def fixture_renderer() -> Iterator[TemplateRenderer]:
    renderer = TemplateRenderer()
    yield renderer
    renderer.close()


def test_it_renders_and_is_quick(renderer: TemplateRenderer) -> None:
    source = (
        "{% for m in messages %}{{ m.content | tojson }}{% break %}{% endfor %}{% generation %}!{% endgeneration %}"
    )
    variables = {"messages": [{"content": "<a>é"}]}
    assert renderer.render(source, variables) == '"<a>é"!'
    times = [math.inf]
    while min(times) >= 0.005 and len(times) < 1000:
        began = time.perf_counter()
        renderer.render(source, variables)
        times.append(time.perf_counter() - began)
    assert min(times) < 0.005, "a busy machine is quick now and then"


@pytest.mark.parametrize("source", ESCAPES.values(), ids=ESCAPES)
def test_known_escapes_give_nothing_away(renderer: TemplateRenderer, source: str) -> None:
    variables = {"messages": [{"role": "user", "content": "x"}]}
    with pytest.raises(TemplateRefusedError):
        renderer.render("{% set leak %}" + source + "{% endset %}" + MUST_BE_EMPTY, variables)


@pytest.mark.parametrize("source", BOMBS.values(), ids=BOMBS)
def test_bombs_end_in_a_sentence(renderer: TemplateRenderer, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    renderer.render("warm", {})
    if source != BOMBS["loops"] and not LONG:  # only one endless template is given its whole time
        monkeypatch.setattr(template, "TIME_LIMIT_S", template.TIME_LIMIT_S / 4)
    began = time.monotonic()
    with pytest.raises(TemplateError) as caught:
        renderer.render(source, {"messages": []})
    assert time.monotonic() - began < template.BUSY_TIME_LIMIT_S + 60.0
    assert caught.value.message.endswith(".")
    assert len(caught.value.message) < 500
    # A helper that ran out of memory cannot always report it.
    takes_memory = any(part in source for part in ("10 **", "~", "[n.x, n.x]"))
    told_wrong = CRASHES[1:] if takes_memory else CRASHES
    assert not [words for words in told_wrong if words in caught.value.message] or source.startswith("{% include")
    assert renderer.render("{{ 1 + 1 }}", {}) == "2"


@pytest.mark.parametrize(
    ("source", "text"),
    [("{{ '<b>a</b>' | striptags }}", "a"), ("{{ 'a b' | wordwrap(1) }}", "a\nb"), ("{{ [1] | pprint }}", "[1]"),
     ("{{ lipsum(n=1, html=false) | length > 9 }}", "True")],
)  # fmt: skip
def test_filters_that_load_late_work_where_no_file_can_be_opened(
    renderer: TemplateRenderer, source: str, text: str
) -> None:
    assert renderer.render(source, {}) == text


@pytest.mark.parametrize(
    ("num_chars", "words"), [(50_000_000, "more text than any context"), (10**8, "longer than any")]
)
def test_words_beyond_any_context_are_told_so(renderer: TemplateRenderer, num_chars: int, words: str) -> None:
    with pytest.raises(TemplateError, match=words):
        renderer.render("{{ x }}", {"x": "x" * num_chars})
    assert renderer.render("{{ 1 + 1 }}", {}) == "2"


def test_a_template_gets_jinjas_own_filters_and_two_functions() -> None:
    plain, ours = jinja2.sandbox.ImmutableSandboxedEnvironment(), make_environment()
    assert type(ours) is type(plain)
    assert set(ours.filters) == set(plain.filters)
    assert set(ours.tests) == set(plain.tests)
    assert set(ours.globals) - set(plain.globals) == {"raise_exception", "strftime_now"}
    changed = {name for name, action in plain.filters.items() if ours.filters[name] is not action}
    assert changed == {"tojson"}


RIGHTS = {
    "to open a file": "open('/')",
    "to make a pipe": "os.pipe()",
    "to make a socket": "socket.socket()",
    "to write into a file": "os.write(there, b'x')",
}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
@pytest.mark.parametrize("action", RIGHTS.values(), ids=RIGHTS)
def test_the_helper_has_given_up_its_rights(action: str, tmp_path: Path) -> None:
    script = f"""
import os, signal, socket, sys
from engine.sandbox.template_child import _drop_privileges
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
there = os.dup2(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT), 0)
{{}}
try:
    {action}
except OSError as error:
    print(error.errno)
"""
    told = []
    for rights in ("pass", "_drop_privileges(2**30)"):
        command = [sys.executable, "-c", script.format(rights), str(tmp_path / "file")]
        told.append(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip())
    with_rights, without = told
    assert without in (str(errno.EMFILE), str(errno.EFBIG))
    assert with_rights != without


LIMITS = {"RLIMIT_CORE": 0, "RLIMIT_FSIZE": 0, "RLIMIT_NPROC": 0, "RLIMIT_NOFILE": 3}


def limited(action: str) -> str:
    """The output of a process that dropped its rights, after this action."""
    script = f"""
import os, resource
from engine.sandbox.template_child import _drop_privileges
_drop_privileges(2**30)
{action}
"""
    command = [sys.executable, "-c", script]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
def test_a_helper_can_start_no_process() -> None:
    action = """
try:
    if os.geteuid() == 0:
        os.setuid(65534)
except OSError:
    print("root")
else:
    try:
        if os.fork() == 0:
            os._exit(0)
    except OSError as error:
        print(error.errno)
"""
    told = limited(action)
    if told == "root":
        pytest.skip("root may have any number of processes, and cannot become somebody else here")
    assert told == str(errno.EAGAIN)


@pytest.mark.skipif(not hasattr(psutil.Process, "rlimit"), reason="only Linux tells the limits of another process")
def test_the_running_helper_has_these_limits(renderer: TemplateRenderer) -> None:
    renderer.render("warm", {})
    (child,) = (p for p in psutil.Process().children() if _is_ours(p, renderer))
    assert {name: child.rlimit(getattr(psutil, name)) for name in LIMITS} == {
        name: (limit, limit) for name, limit in LIMITS.items()
    }
    assert child.rlimit(psutil.RLIMIT_AS)[1] == template.MEMORY_LIMIT_BYTES


def test_the_memory_watch_works_without_the_systems_help(monkeypatch: pytest.MonkeyPatch) -> None:
    renderer = TemplateRenderer()
    renderer.render("warm", {})
    monkeypatch.setattr(template, "MEMORY_LIMIT_BYTES", 1)
    with pytest.raises(TemplateError, match="too much memory"):
        renderer.render(BOMBS["loops"], {})
    renderer.close()


def test_a_helper_that_died_is_replaced() -> None:
    renderer = TemplateRenderer()
    renderer.render("warm", {})
    (child,) = (p for p in psutil.Process().children() if _is_ours(p, renderer))
    child.kill()
    child.wait()
    assert renderer.render("{{ 1 + 1 }}", {}) == "2"
    renderer.close()


def _is_ours(process: psutil.Process, renderer: TemplateRenderer) -> bool:
    return renderer._process is not None and process.pid == renderer._process.pid


def test_the_helper_ends_with_its_parent() -> None:
    command = child_command("template", "1000", str(512 * 2**20))
    environment = child_environment(bare=True)
    done = subprocess.run(command, env=environment, input=b"", capture_output=True, check=True, timeout=60)
    assert done.stdout == b"ready\n"


def test_the_helper_knows_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "canary")
    assert "canary" not in "".join(child_environment(bare=True).values())
    assert "canary" in child_environment(bare=False).values()


def test_a_frozen_program_starts_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert child_command("probe", "x") == [sys.executable, CHILD_FLAG, "probe", "x"]


def test_output_is_bounded() -> None:
    answer = make_answerer(100)
    assert answer({"source": "{{ 'a' * 100 }}", "variables": {}}) == {"text": "a" * 100}
    assert "more text" in answer({"source": "{{ 'a' * 101 }}", "variables": {}})["refused"]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{% generation %}a{{ x }}{% endgeneration %}b", "a1b"),
        ("{% for i in range(5) %}{{ i }}{% if i == 2 %}{% break %}{% endif %}{% endfor %}", "012"),
        ("{{ {'b': 1, 'a': 'é<'} | tojson }}", '{"b": 1, "a": "é<"}'),
        ("{{ {'b': 1, 'a': 'é'} | tojson(ensure_ascii=True, sort_keys=True) }}", '{"a": "\\u00e9", "b": 1}'),
        ("{{ [1, 2] | tojson(separators=(',', ':')) }}", "[1,2]"),
        ("{{ [1] | tojson(indent=1) }}", "[\n 1\n]"),
        ("{{ strftime_now('%Y') | length }}", "4"),
    ],
)
def test_what_templates_are_written_for(source: str, text: str) -> None:
    assert make_answerer(100)({"source": source, "variables": {"x": 1}}) == {"text": text}


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("{{ raise_exception('only users') }}", "only users"),
        ("{{ raise_exception('first\nsecond') }}", "first"),
        ("{{ raise_exception('') }}", "TemplateError"),
        ("{{ raise_exception('x' * 1000) }}", "x" * 300),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "it calls itself without end"),
        ("{{ x.y.z }}", "'int object' has no attribute 'y'"),
        ("{% for %}", "Expected an expression, got 'end of statement block'"),
    ],
)
def test_why_a_template_refuses_is_one_line(source: str, reason: str) -> None:
    assert make_answerer(100)({"source": source, "variables": {"x": 1}}) == {"refused": reason}


def test_any_number_of_templates_is_rendered_right() -> None:
    answer = make_answerer(100)
    for number in (*range(20), *range(20)):
        assert answer({"source": f"{number}{{{{ x }}}}", "variables": {"x": number}}) == {"text": f"{number}{number}"}


def test_a_helper_that_does_not_start_is_told_and_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    renderer = TemplateRenderer()
    with monkeypatch.context() as patch:
        run_instead(patch, "print('words')")
        with pytest.raises(TemplateError, match="did not start: it ended at once") as caught:
            renderer.render("{{ x }}", {"x": 1})
        assert "reinstall" in caught.value.advice
    assert renderer.render("{{ x }}", {"x": 1}) == "1"
    renderer.close()


def test_a_helper_that_ends_while_it_is_asked_is_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    renderer = TemplateRenderer()
    with monkeypatch.context() as patch:
        run_instead(patch, "print('ready')")
        with pytest.raises(TemplateError, match="was stopped: it crashed"):
            renderer.render("{{ x }}", {"x": "x" * 1_000_000})  # more than a pipe holds
    assert renderer.render("{{ x }}", {"x": 1}) == "1"
    renderer.close()
