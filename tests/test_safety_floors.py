"""Checks safety outside of our own code: no dependency with known holes, and no unrequested listening socket.

Holes: Jinja's sandbox up to 3.1.5 (CVE-2025-27516), huggingface_hub's file names before 1.26 (CVE-2026-15717), Qt's
text up to 6.8.5 and 6.9.0-6.10.0 (CVE-2025-3512, CVE-2025-12385).
"""

import ast
import importlib.metadata
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FLOORS = {"jinja2": (3, 1, 6), "huggingface-hub": (1, 26), "PySide6-Essentials": (6, 10, 1)}
# A local socket: a second start asks the first window to come forward. `paceline serve`, and the redirect of a
# requested sign-in to a tool server: on 127.0.0.1 while needed.
LISTENERS = {"app/startup/single_instance.py", "app/core/server/listening.py", "app/core/tools/mcp/sign_in.py"}


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def asked_for(name: str) -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return [line for line in project["dependencies"] if re.match(rf"{re.escape(name)}\b", line)]


@pytest.mark.parametrize("name", FLOORS)
def test_versions_with_known_holes_are_neither_allowed_nor_in_use(name: str) -> None:
    lines = asked_for(name)
    assert lines
    for line in lines:
        floor = re.search(r">=\s*([\d.]+)", line)
        assert floor is not None, line
        assert numbers(floor[1]) >= FLOORS[name]
    assert numbers(importlib.metadata.version(name)) >= FLOORS[name]


def names_in(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.ImportFrom | ast.Import):
            yield from (alias.name for alias in node.names)
            yield getattr(node, "module", None) or ""


SERVERS = {"QLocalServer", "QTcpServer", "QHttpServer", "QWebSocketServer", "create_server", "start_server", "listen"}
MODULES = {"http.server", "socketserver", "xmlrpc.server", "flask", "uvicorn", "aiohttp.web"}


def listeners(root: Path) -> set[str]:
    files = (file for room in ("app", "engine", "ui") for file in (root / room).rglob("*.py"))
    return {file.relative_to(root).as_posix() for file in files if set(names_in(file)) & (SERVERS | MODULES)}


def test_nothing_listens_but_the_second_starts_socket_and_the_server(tmp_path: Path) -> None:
    assert listeners(ROOT) == LISTENERS
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "server.py").write_text("from http.server import HTTPServer\n")
    assert listeners(tmp_path) == {"app/server.py"}, "this test can fail"
