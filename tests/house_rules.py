"""The rules of the architecture as functions of a folder; each returns one line per violation.

The code is parsed, neither imported nor run.
"""

import ast
import builtins
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOMS = ("app", "ui", "engine")
CODE = (*ROOMS, "packaging", "tests")
MAX_FILE_LINES = 1000
MAX_FUNCTION_LINES = 60

MAX_FOLDER_MODULES = 25  # not counting __init__.py
MIN_SHARED_PREFIX = 3  # modules with the same name prefix that need a folder
SMALL_LINES = 60

# Allowed imports of each package from other packages, Qt and the window's text libraries. A name includes its
# submodules.
QT_IN_APP = ("app/controllers/", "app/startup/")  # may import Qt and ui
APP_MAY = {
    "app.core.domain": {"app.core.domain"},
    "app.core.storage": {"app.core.domain", "app.core.storage"},
    "app.core.hub": {"app.core.domain", "app.core.storage", "app.core.hub"},
    "app.core.remote": {"app.core.domain", "app.core.storage", "app.core.hub", "app.core.remote"},
    "app.core.attachments": {"app.core.domain", "app.core.storage", "app.core.attachments"},
    "app.core.projects": {"app.core.domain", "app.core.storage", "app.core.attachments", "app.core.projects"},
    "app.core.benchmark": {"app.core.domain", "app.core.storage", "app.core.remote", "app.core.benchmark"},
    "app.core.tools": {"app.core.domain", "app.core.storage", "app.core.tools"},
    "app.core.server": {"app.core.domain", "app.core.storage", "app.core.hub", "app.core.tools", "app.core.server"},
    "app.core": {"app.core.domain"},  # also its own modules, such as app/core/logs.py
    "app.controllers": {"app.core", "app.controllers"},
    "app.cli": {"app.core", "app.cli", "app.startup"},
    "app.startup": {"app.core", "app.controllers", "app.startup"},
    "app": set(),
}
START = "app/__main__.py"  # starts commands and helper processes
APP_ROOT = {
    "app.core.display",
    "app.core.logs",
    "app.core.paths",
    "app.__version__",
    "app._version",
}  # for every package of app.core except the domain
DOMAIN_MAY = {"app.core.domain", "engine.records", "engine.sentences", "engine.errors"} | set(sys.stdlib_module_names)
WINDOW = {"ui", "PySide6", "shiboken6"}
UI_MAY = {
    "ui",
    "app.core.domain",
    "engine.records",
    "engine.sentences",
    "PySide6",
    "shiboken6",
    "markdown_it",
    "pygments",
    "ziamath",
} | set(sys.stdlib_module_names)
ENGINE_MAY_NOT = {"app", *WINDOW}
# Files whose sentences are always English: texts for a terminal, a report, HTTP or a model.
ENGLISH_ONLY = (
    "app/cli/",
    "app/core/benchmark/",
    "app/core/server/",
    "app/core/tools/built_in.py",
    "app/core/tools/built_in.py",
)
SENTENCE_TAKERS = re.compile(r"i18n|phrase|Problem|(?!Catalog)\w+Error")  # CatalogError: a developer's mistake
USE_TESTS = "tests/"
NO_SOURCE = ("tests/app/journeys",)  # tests of the whole app
DOORS = {  # the only places that may import each of these libraries
    "llama_cpp": "engine/llama/",
    "keyring": "app/core/hub/tokens.py",
    "starlette": "app/core/server/",
    "uvicorn": "app/core/server/",
    "mcp": "app/core/tools/mcp/",
    "mcp_types": "app/core/tools/mcp/",
    "ziamath": "ui/formulas/formula.py",
}
LITERAL_IMPORTS = {"import_module", "__import__"}

# Written in two parts, so that this file does not violate its own rule.
MACHINE_PATHS = tuple(
    re.compile(start + rest)
    for start, rest in (
        (rb"/wo", rb"rk/"),
        (rb"/ro", rb"ot/"),
        (rb"/ho", rb"me/[a-z]"),
        (rb"/Us", rb"ers/[a-z]"),
        (rb"/tm", rb"p/\w"),
        (rb"/op", rb"t/(?:wheels|pypi)"),
        (rb"[A-Z]:\\\\?Us", rb"ers"),
    )
)
INDEX_ADDRESSES = tuple(
    re.compile(start + rest)
    for start, rest in (
        (rb"--(?:extra-)?ind", rb"ex-url[= ]+(?!https://abetlen\.github\.io/)"),
        (rb"https?://[^\s\"')]*/sim", rb"ple(?:/|\b)"),
        (rb"--tru", rb"sted-host"),
        (rb"--find-", rb"links[= ]"),
    )
)
MENTIONED = re.compile(r"`((?:app|ui|engine)/[\w/]*(?:\.py)?)`")


def python_files(root: Path, folders: tuple[str, ...] = CODE) -> list[Path]:
    """All Python files below ``folders``, sorted."""
    return sorted(path for folder in folders for path in (root / folder).rglob("*.py"))


@cache
def syntax(path: Path) -> ast.Module:
    """The parsed file."""
    return ast.parse(path.read_text("utf-8"), filename=str(path))


@cache
def imports(path: Path) -> tuple[tuple[int, str], ...]:
    """Line and dotted name of every import, also of imports in functions and of ``from package import module``."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(syntax(path)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in LITERAL_IMPORTS and isinstance(node.args[0].value, str):
                yield node.lineno, node.args[0].value


def within(name: str, allowed: set[str]) -> bool:
    """Whether a dotted name is in ``allowed`` or below one of its names."""
    return any(name == other or name.startswith(f"{other}.") for other in allowed)


# ---- who may import whom ------------------------------------------------------------------------------------


def wrong_directions(root: Path) -> list[str]:
    """Imports against the directions app -> ui, app -> engine, ui -> the engine's plain data, pacing -> decoding."""
    found = []
    for path in python_files(root, ROOMS):
        place = path.relative_to(root).as_posix()
        for line, name in imports(path):
            if place.startswith("ui/") and not within(name, UI_MAY):
                found.append(f"{place}:{line} ui may not import {name}")
            if place.startswith("engine/") and within(name, ENGINE_MAY_NOT):
                found.append(f"{place}:{line} engine may not import {name}")
            if place.startswith("engine/decoding/") and within(name, {"engine.pacing"}):
                found.append(f"{place}:{line} engine.decoding may not import {name}")
            if place.startswith("app/"):
                found += _wrong_in_app(place, line, name)
    return found


def _wrong_in_app(place: str, line: int, name: str) -> Iterator[str]:
    """Imports against the directions within app: domain <- storage, hub <- controllers <- startup."""
    parts = place.split("/")[:-1]
    room = ".".join(parts[: 3 if parts[1:2] == ["core"] else 2])
    if not place.startswith(QT_IN_APP) and within(name, WINDOW):
        yield f"{place}:{line} {room} may not import {name}"
    elif room == "app.core.domain" and not within(name, DOMAIN_MAY):
        yield f"{place}:{line} app.core.domain may not import {name}"
    elif room not in APP_MAY and room != "app.core.domain":
        yield f"{place}:{line} {room} is no room that the rules know: say what it may import"
    elif place != START and name != "app" and within(name, {"app"}) and not within(name, APP_MAY[room] | APP_ROOT):
        yield f"{place}:{line} {room} may not import {name}"


def imports_of_tests(root: Path) -> list[str]:
    """Imports of tests by the product or by a measurement."""
    return [
        f"{place}:{line} only {USE_TESTS} may import {name}"
        for path in python_files(root)
        if not (place := path.relative_to(root).as_posix()).startswith(USE_TESTS)
        for line, name in imports(path)
        if within(name, {"tests"})
    ]


def stray_tests(root: Path) -> list[str]:
    """Test folders without a source folder of the same path."""
    folders = {path.parent.relative_to(root).as_posix() for path in python_files(root, ("tests",))} - {"tests"}
    return [
        f"{folder} mirrors no folder of the source"
        for folder in sorted(folders - set(NO_SOURCE))
        if not (root / folder.removeprefix("tests/")).is_dir()
    ]


def mutual_imports(root: Path) -> list[str]:
    """Pairs of folders that import each other, except a folder and one of its subfolders."""
    modules = {_dotted(root, path): path for path in python_files(root, ROOMS)}
    places: dict[tuple[str, str], str] = {}
    for module, path in modules.items():
        if path.name == "__init__.py":
            continue
        for line, name in imports(path):
            other = name if name in modules else name.rpartition(".")[0]
            if other in modules and modules[other].name != "__init__.py":
                here, there = module.rpartition(".")[0], other.rpartition(".")[0]
                places.setdefault((here, there), f"{path.relative_to(root).as_posix()}:{line}")
    return [
        f"{here} and {there} import each other: {place}, {places[there, here]}"
        for (here, there), place in sorted(places.items())
        if here < there and (there, here) in places and not there.startswith(f"{here}.")
    ]


def _dotted(root: Path, path: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def wrong_doors(root: Path) -> list[str]:
    """Imports of a library outside its package: llama_cpp, Qt, keyring, and huggingface_hub in more than one file."""
    found = []
    hub_files = set()
    for path in python_files(root, ROOMS):
        place = path.relative_to(root).as_posix()
        for line, name in imports(path):
            top = name.partition(".")[0]
            if top in DOORS and not place.startswith(DOORS[top]):
                found.append(f"{place}:{line} {top} is imported in {DOORS[top]} only")
            if within(name, {"PySide6"}) and place.startswith("app/") and not place.startswith(QT_IN_APP):
                found.append(f"{place}:{line} Qt is imported in app/controllers/ and app/startup/ only")
            if within(name, {"huggingface_hub"}):
                hub_files.add(place)
    if len(hub_files) > 1 or not all(place.startswith("app/") for place in hub_files):
        found.append(f"huggingface_hub is imported in one file of app only, not in {', '.join(sorted(hub_files))}")
    return found


def english_f_strings(root: Path) -> list[str]:
    """Errors whose text is formatted before the window can translate it."""
    found = []
    for path in python_files(root, ("engine", "app")):
        place = path.relative_to(root).as_posix()
        if place.startswith(ENGLISH_ONLY):
            continue
        for call in (node for node in ast.walk(syntax(path)) if isinstance(node, ast.Call)):
            name = ast.unparse(call.func).rpartition(".")[2]
            values = [*call.args, *(keyword.value for keyword in call.keywords)]
            has_words = any(_has_words(node) for value in values for node in ast.walk(value))
            if has_words and SENTENCE_TAKERS.fullmatch(name) and not hasattr(builtins, name):
                found.append(f"{place}:{call.lineno} {name} is given an f-string: use engine.sentences.i18n")
    return found


def _has_words(node: ast.AST) -> bool:
    words = (
        [part.value for part in node.values if isinstance(part, ast.Constant)]
        if isinstance(node, ast.JoinedStr)
        else []
    )
    return re.search(r"[A-Za-z]{2}", " ".join(map(str, words))) is not None


def relative_imports(root: Path) -> list[str]:
    """Imports that start with a dot."""
    return [
        f"{path.relative_to(root).as_posix()}:{line} relative import {name}"
        for path in python_files(root)
        for line, name in imports(path)
        if name.startswith(".")
    ]


# ---- names and sizes ----------------------------------------------------------------------------------------


def shadowing_names(root: Path) -> list[str]:
    """Modules that hide another one: named like a standard library module; or a package named packaging."""
    found = [
        f"{path.relative_to(root).as_posix()} is named like a module of the standard library"
        for path in python_files(root, (*ROOMS, "packaging"))
        if path.stem in sys.stdlib_module_names
    ]
    if (root / "packaging" / "__init__.py").exists():
        found.append("packaging/__init__.py would hide the library of that name")
    return found


def oversized(root: Path) -> list[str]:
    """Files and functions beyond the size limits; a function's signature and docstring count."""
    found = []
    for path in python_files(root):
        place = path.relative_to(root).as_posix()
        num_lines = len(path.read_text("utf-8").splitlines())
        if num_lines > MAX_FILE_LINES:
            found.append(f"{place} has {num_lines} lines of {MAX_FILE_LINES}")
        for node in ast.walk(syntax(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > MAX_FUNCTION_LINES:
                    found.append(
                        f"{place}:{node.lineno} {node.name} has {length} lines, {MAX_FUNCTION_LINES} are allowed"
                    )
    return found


def crowded_folders(root: Path) -> list[str]:
    """Folders with too many modules, and name prefixes that should become a folder."""
    found = []
    for folder in sorted({path.parent for path in python_files(root)}):
        place = folder.relative_to(root).as_posix()
        stems = [path.stem for path in folder.glob("*.py") if path.name != "__init__.py"]
        if len(stems) > MAX_FOLDER_MODULES:
            found.append(f"{place} has {len(stems)} modules of {MAX_FOLDER_MODULES}")
        prefixes = [stem.partition("_")[0] for stem in stems]
        found += [
            f"{place} has {prefixes.count(prefix)} modules that begin with {prefix}: make it a folder"
            for prefix in sorted(set(prefixes) - {"test"})
            if prefixes.count(prefix) >= MIN_SHARED_PREFIX
        ]
    return found


def satellites(root: Path) -> list[str]:
    """Small modules that only one other module imports and no test uses: they belong in that module."""
    users: dict[str, set[str]] = {}
    for path in python_files(root):
        for _, name in imports(path):
            for module in (name, name.rpartition(".")[0]):
                users.setdefault(module, set()).add(path.relative_to(root).as_posix())
    found = []
    for path in python_files(root, ROOMS):
        place = path.relative_to(root).as_posix()
        by = users.get(_dotted(root, path), set())
        own = sorted(user for user in by if user.startswith(tuple(f"{room}/" for room in ROOMS)))
        own_test = root / "tests" / path.relative_to(root).parent / f"test_{path.stem}.py"
        is_tested = own_test.exists() or any(user.startswith("tests/") for user in by)
        if path.name != "__init__.py" and len(own) == 1 and not is_tested:
            num_lines = len(path.read_text("utf-8").splitlines())
            if num_lines < SMALL_LINES:
                found.append(f"{place} has {num_lines} lines and serves {own[0]} alone: merge them, or test it")
    return found


def missing_docstrings(root: Path) -> list[str]:
    """Modules and packages without a docstring."""
    found = []
    for path in python_files(root):
        place = path.relative_to(root).as_posix()
        text = ast.get_docstring(syntax(path)) or ""
        is_test_folder = path.name == "__init__.py" and place.startswith("tests/")
        if len(text) < 20 and not is_test_folder:
            found.append(f"{place} has no docstring")
    return found


# ---- text ---------------------------------------------------------------------------------------------------


def tracked_files(root: Path) -> list[Path]:
    """The files under version control; all files if there is no repository, as in an unpacked archive."""
    if (root / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True).stdout
        return [root / name for name in listed.decode().split("\0") if name and (root / name).is_file()]
    return [path for path in root.rglob("*") if path.is_file() and not {".venv", "__pycache__"} & set(path.parts)]


def machine_traces(root: Path) -> list[str]:
    """Paths of a developer's machine and package index addresses, also in binary files."""
    found = []
    for path in tracked_files(root):
        content = path.read_bytes()
        for pattern in (*MACHINE_PATHS, *INDEX_ADDRESSES):
            if match := pattern.search(content):
                line = content.count(b"\n", 0, match.start()) + 1
                found.append(f"{path.relative_to(root).as_posix()}:{line} {match.group().decode('latin-1')}")
    return found


def map_differences(root: Path) -> list[str]:
    """Paths in ARCHITECTURE.md that do not exist."""
    if not (root / "ARCHITECTURE.md").exists():
        return ["ARCHITECTURE.md is missing"]
    text = (root / "ARCHITECTURE.md").read_text("utf-8")
    absent = {place for place in MENTIONED.findall(text) if not (root / place).exists()}
    return [f"ARCHITECTURE.md names {place}, which does not exist" for place in sorted(absent)]
