"""Checks the tree with the house rules, and that each rule finds a violation."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import house_rules as rules

ROOT = Path(__file__).resolve().parents[1]
Rule = Callable[[Path], list[str]]
ALL_RULES: tuple[Rule, ...] = (
    rules.wrong_directions,
    rules.imports_of_tests,
    rules.mutual_imports,
    rules.wrong_doors,
    rules.english_f_strings,
    rules.relative_imports,
    rules.shadowing_names,
    rules.oversized,
    rules.crowded_folders,
    rules.satellites,
    rules.stray_tests,
    rules.missing_docstrings,
    rules.machine_traces,
    rules.map_differences,
)
GOOD_TREE = {
    "app/__init__.py": '"""Composition. Knows both the engine and the window."""\n',
    "app/core/__init__.py": '"""The app without a window."""\n',
    "app/controllers/__init__.py": '"""What a person does in the window."""\n',
    "app/controllers/chat.py": '"""Wires window and engine."""\nfrom PySide6.QtCore import QObject\nimport ui.view\n',
    "app/core/domain/__init__.py": '"""Plain data and pure rules."""\n',
    "app/core/domain/messages.py": '"""The messages of a chat."""\nfrom engine.records import Mode\n',
    "app/core/hub/__init__.py": '"""The hub and the models."""\n',
    "app/core/hub/client.py": '"""The one door to the hub."""\nimport huggingface_hub\n'
    "from app.core.domain import messages\n",
    "ui/__init__.py": '"""Widgets. Knows no file and no engine call."""\n',
    "ui/view.py": '"""Draws a message; no file."""\nfrom app.core.domain.messages import Mode\n'
    "from PySide6 import QtGui\n",
    "engine/__init__.py": '"""The headless engine. Knows neither Qt nor the app."""\n',
    "engine/records.py": '"""Plain data that crosses the rooms."""\n',
    "engine/llama/__init__.py": '"""The only door to llama_cpp."""\n',
    "engine/llama/model.py": '"""A loaded model, its context."""\nimport llama_cpp\n',
    "tests/__init__.py": "",
    "tests/test_view.py": '"""How a message is drawn."""\nimport ui.view\nimport engine.records\n',
    "ARCHITECTURE.md": "`app/` brings all together, `ui/view.py` draws messages.",
}
BESIDE = {  # files that must also exist for a rule to be violated
    "engine/b/a.py": {"engine/c/a.py": "import engine.b.a"},
    "ui/far_c.py": {"ui/far_a.py": "", "ui/far_b.py": ""},
    "ui/z26.py": {f"ui/z{number}.py": "" for number in range(1, 25)},
    "ui/small.py": {"ui/user.py": "import ui.small", "tests/engine/test_small.py": ""},
}
SECRET = "/wo" + "rk/somewhere"


@pytest.fixture(scope="module", autouse=True)
def _syntax_trees_forgotten() -> Iterator[None]:
    """Free two million objects, which every later garbage collection would visit."""
    yield
    rules.syntax.cache_clear()
    rules.imports.cache_clear()


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.__name__)
def test_the_tree_keeps_the_rule(rule: Rule) -> None:
    assert rule(ROOT) == []


def test_the_tree_is_seen_at_all() -> None:
    places = {path.relative_to(ROOT).as_posix() for path in rules.python_files(ROOT)}
    assert {"engine/records.py", "ui/window/header.py", "app/__init__.py", "tests/test_architecture.py"} <= places
    assert any(
        name.startswith("engine.records") for _, name in rules.imports(ROOT / "app" / "core" / "domain" / "messages.py")
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for place, text in GOOD_TREE.items():
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_a_good_tree_breaks_no_rule(tree: Path) -> None:
    assert [line for rule in ALL_RULES for line in rule(tree)] == []


@pytest.mark.parametrize(
    ("rule", "place", "text", "words"),
    [
        (rules.wrong_directions, "engine/a.py", "import PySide6.QtCore", "engine may not import PySide6.QtCore"),
        (
            rules.wrong_directions,
            "engine/a.py",
            "def f():\n    from app.core import paths",
            "engine may not import app.core.paths",
        ),
        (rules.wrong_directions, "engine/a.py", "__import__('ui.view')", "engine may not import ui.view"),
        (
            rules.wrong_directions,
            "engine/decoding/a.py",
            "from engine.pacing import pacer",
            "engine.decoding may not import engine.pacing",
        ),
        (rules.wrong_directions, "ui/a.py", "from engine import session", "ui may not import engine.session"),
        (rules.wrong_directions, "ui/a.py", "import engine.records_of_old", "ui may not import engine.records_of_old"),
        (rules.wrong_directions, "ui/a.py", "import app.core.paths", "ui may not import app.core.paths"),
        (rules.wrong_directions, "ui/a.py", "import numpy", "ui may not import numpy"),
        (rules.wrong_directions, "app/core/domain/a.py", "import numpy", "app.core.domain may not import numpy"),
        (
            rules.wrong_directions,
            "app/core/domain/a.py",
            "import app.core.hub.client",
            "app.core.domain may not import app.core.hub",
        ),
        (
            rules.wrong_directions,
            "app/core/hub/a.py",
            "import app.controllers.chat",
            "app.core.hub may not import app.controllers",
        ),
        (rules.wrong_directions, "app/core/hub/a.py", "import ui.view", "app.core.hub may not import ui.view"),
        (
            rules.wrong_directions,
            "app/core/server/a.py",
            "import app.cli.run",
            "app.core.server may not import app.cli",
        ),
        (rules.wrong_directions, "app/core/server/a.py", "import PySide6", "app.core.server may not import PySide6"),
        (rules.wrong_directions, "app/cli/a.py", "from PySide6 import QtCore", "app.cli may not import PySide6"),
        (rules.wrong_directions, "app/core/storage/a.py", "import PySide6", "app.core.storage may not import PySide6"),
        (rules.wrong_directions, "app/core/storage/a.py", "import ui.view", "app.core.storage may not import ui"),
        (
            rules.wrong_directions,
            "app/core/storage/a.py",
            "import app.core.hub.client",
            "app.core.storage may not import app.core.hub",
        ),
        (
            rules.wrong_directions,
            "app/core/attachments/a.py",
            "import ui.view",
            "app.core.attachments may not import ui",
        ),
        (rules.wrong_directions, "app/startup/a.py", "import app.cli.run", "app.startup may not import app.cli"),
        (
            rules.wrong_directions,
            "app/controllers/a.py",
            "import app.startup.window",
            "app.controllers may not import app.startup",
        ),
        (
            rules.wrong_directions,
            "app/core/paths.py",
            "import app.core.hub.client",
            "app.core may not import app.core.hub",
        ),
        (rules.wrong_directions, "app/new/a.py", "import json", "app.new is no room that the rules know"),
        (rules.imports_of_tests, "engine/a.py", "import tests.fakes", "may import tests.fakes"),
        (rules.imports_of_tests, "packaging/measure/a.py", "from tests import fakes", "may import tests.fakes"),
        (rules.stray_tests, "tests/engine/gone/test_a.py", "", "tests/engine/gone mirrors no folder"),
        (rules.mutual_imports, "engine/b/a.py", "import engine.c.a", "engine.b and engine.c import each other"),
        (rules.wrong_doors, "engine/a.py", "import llama_cpp", "engine/llama/ only"),
        (rules.wrong_doors, "app/a.py", "import importlib\nimportlib.import_module('llama_cpp')", "engine/llama/ only"),
        (
            rules.wrong_doors,
            "app/core/attachments/a.py",
            "from PySide6.QtCore import QObject",
            "app/controllers/ and app/startup/ only",
        ),
        (rules.wrong_doors, "app/a.py", "from huggingface_hub import HfApi", "one file of app only"),
        (rules.wrong_doors, "app/a.py", "def f():\n    import keyring.errors", "app/core/hub/tokens.py only"),
        (rules.wrong_doors, "app/cli/a.py", "import uvicorn", "app/core/server/ only"),
        (rules.wrong_doors, "app/core/tools/a.py", "from mcp.client import session", "app/core/tools/mcp/ only"),
        (rules.wrong_doors, "ui/a.py", "def f():\n    import ziamath", "ui/formulas/formula.py only"),
        (
            rules.english_f_strings,
            "engine/a.py",
            'def f(name):\n    raise EngineError(f"{name} is missing.")',
            "engine/a.py:2 EngineError is given an f-string",
        ),
        (rules.relative_imports, "ui/a.py", "from . import view", "relative import"),
        (rules.shadowing_names, "engine/queue.py", "", "standard library"),
        (rules.shadowing_names, "packaging/__init__.py", "", "would hide the library"),
        (rules.oversized, "ui/a.py", "\n" * 1001, "has 1001 lines"),
        (rules.oversized, "ui/a.py", "def f():\n" + "    print()\n" * 60, "f has 61 lines"),
        (rules.crowded_folders, "ui/far_c.py", "", "3 modules that begin with far"),
        (rules.crowded_folders, "ui/z26.py", "", "has 26 modules of 25"),
        (rules.satellites, "ui/small.py", '"""A small part of the view."""', "serves ui/user.py alone"),
        (rules.missing_docstrings, "ui/a.py", "x = 1", "has no docstring"),
        (rules.machine_traces, "docs/a.md", f"see {SECRET}/notes", SECRET[:6]),
        (rules.machine_traces, "Makefile", "pip install --extra-ind" + "ex-url https://pip.example/ x", "ex-url"),
        (rules.map_differences, "ARCHITECTURE.md", "- `ui/gone/`: it was here once", "does not exist"),
        (rules.map_differences, "ARCHITECTURE.md", "see `ui/gone.py`", "does not exist"),
    ],
)
def test_a_rule_finds_what_breaks_it(tree: Path, rule: Rule, place: str, text: str, words: str) -> None:
    for other, words_of_it in BESIDE.get(place, {}).items():
        (tree / other).parent.mkdir(parents=True, exist_ok=True)
        (tree / other).write_text(words_of_it, encoding="utf-8")
    path = tree / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    assert any(words in line for line in rule(tree)), rule(tree)


def test_the_index_of_the_binding_itself_may_be_named(tree: Path) -> None:
    address = "https://abetlen.github.io/llama-cpp-python/whl/metal"
    (tree / "README.md").write_text("pip install . --extra-ind" + f"ex-url {address}", encoding="utf-8")
    assert rules.machine_traces(tree) == []
