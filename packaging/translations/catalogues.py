"""Makes the translation catalogues with Qt's tools: `update` finds texts in the code, `release` compiles catalogues.

lupdate misses texts of tables and errors, which are not in calls, and plurals whose number is not a literal. This
script writes both to a file that lupdate reads first. Usage: catalogues.py update|release [FOLDER]
"""

from __future__ import annotations

import argparse
import ast
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "assets" / "translations"
LISTED = "listed_words.py"
BUILTIN_ERRORS = {"ValueError", "RuntimeError", "TypeError", "KeyError", "OSError", "AssertionError", "EOFError"}
# Disables `tr`, for which lupdate would use the context of the class; the generated file has these texts.
ALIASES = ("-tr-function-alias", "QT_TRANSLATE_NOOP+=mark,tr=no_function")
FIELD = re.compile(r"\{[^{}]*\}")
TEMPLATE_AT = {"i18n": 0, "damaged_error": 0, "check": 1}  # index of the argument that is a template
# Files with English texts for terminals, programs or models, which are not translated.
NOT_SHOWN = {"cli", "benchmark", "server", "grammar", "built_in.py", "calculator.py"}
SHOWN_TOO = {f"app/core/benchmark/{name}.py" for name in ("opened_lanes", "race")}  # in the window, too


def tool(name: str, *arguments: str) -> None:
    """Run one of Qt's tools from PySide6.

    Raises:
        subprocess.CalledProcessError: the tool failed.
    """
    path = Path(sys.executable).parent / f"pyside6-{name}"
    command = str(path) if path.exists() else shutil.which(f"pyside6-{name}") or str(path)
    subprocess.run([command, *arguments], check=True, capture_output=True, text=True)


def listed_words(root: Path) -> list[tuple[str, str]]:
    """Context and text of shown texts outside of calls: settings and problems."""
    found: dict[tuple[str, str], None] = {}
    for room in ("app", "engine"):
        for path in sorted((root / room).rglob("*.py")):
            place = path.relative_to(root)
            if NOT_SHOWN & set(place.parts) and place.as_posix() not in SHOWN_TOO:
                continue
            tree = ast.parse(path.read_text("utf-8"), filename=str(path))
            for context, text in (*_settings(tree), *_problems(tree), *_sentences(tree)):
                if any(letter.isalpha() for letter in FIELD.sub("", text)):
                    found[context, text] = None
    with (root / "assets" / "catalog.toml").open("rb") as file:
        catalog = tomllib.load(file)
    for pair in catalog["pair"]:
        found["Catalog", pair["good_for"]] = None
    return list(found)


def texts_of_calls(tree: ast.Module) -> Iterator[tuple[str, str, ast.Call]]:
    """Yield context, text and call of `translate`, `mark` and `Translator` objects, which have the context."""
    contexts = [
        node.value.args[0]
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _called(node.value) == "Translator"
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node) in ("translate", "mark", "tr"):
            texts = [one.value for one in (*contexts[: _is_bound(node)], *node.args)[:2] if _is_text(one)]
            if len(texts) == 2:
                yield texts[0], texts[1], node


def _is_bound(node: ast.Call) -> bool:
    return _called(node) == "tr" or (isinstance(node.func, ast.Attribute) and node.func.attr == "mark")


def _is_text(node: ast.expr) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def called_words(root: Path) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Context and text of calls of `Translator` objects, and of all calls with a number."""
    single: dict[tuple[str, str], None] = {}
    plural: dict[tuple[str, str], None] = {}
    for room in ("app", "ui"):
        for path in sorted((root / room).rglob("*.py")):
            for context, text, node in texts_of_calls(ast.parse(path.read_text("utf-8"), filename=str(path))):
                if _gives_number(node):
                    plural[context, text] = None
                elif _is_bound(node):
                    single[context, text] = None
    return list(single), list(plural)


def _gives_number(node: ast.Call) -> bool:
    return len(node.args) == (3 if _called(node) == "tr" else 4) or any(keyword.arg == "n" for keyword in node.keywords)


def _settings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for section in _section_names(tree):
        yield "Settings", section
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node) == "explained" and isinstance(node.func, ast.Attribute):
            maker = node.func.value  # integer("top_k", "Top-k", ...)
            words = [keyword.value for keyword in node.keywords]
            given = [node.args[0], *getattr(maker, "args", ())[1:2], *words]
            dicts = [one for one in ast.walk(maker) if isinstance(one, ast.Dict)]
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "").endswith("_LABELS"):
            given, dicts = [], [node.value] if isinstance(node.value, ast.Dict) else []
        else:
            continue
        for value in (*given, *(value for one in dicts for value in one.values)):
            if _is_text(value):
                yield "Settings", value.value


def _section_names(tree: ast.Module) -> Iterator[str]:
    """Yield the texts of ``A, B = "One", "Two"`` in a file of fields."""
    if not any(isinstance(node, ast.Call) and _called(node) == "explained" for node in ast.walk(tree)):
        return
    for node in tree.body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Tuple)
            and isinstance(node.value, ast.Tuple)
        ):
            texts = (getattr(one, "value", None) for one in node.value.elts)
            yield from (text for text in texts if isinstance(text, str))


def _problems(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for line in node.body:
                name = line.targets[0] if isinstance(line, ast.Assign) else None
                if isinstance(name, ast.Name) and name.id in ("title", "default_advice"):
                    yield from _literals([line.value])  # type: ignore[union-attr]
        elif isinstance(node, ast.Call):
            called = _called(node)
            if called.endswith(("Error", "Problem", "problem")) and called not in BUILTIN_ERRORS:
                yield from _literals([*node.args, *(keyword.value for keyword in node.keywords)])


def _sentences(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield templates of `engine.sentences.i18n`, and of functions that pass their argument to it."""
    constants = {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for node in ast.walk(tree):
        place = TEMPLATE_AT.get(_called(node)) if isinstance(node, ast.Call) else None
        if place is not None and len(node.args) > place:  # type: ignore[attr-defined]
            given = node.args[place]  # type: ignore[attr-defined]
            value = constants.get(given.id) if isinstance(given, ast.Name) else given
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield "Problems", value.value


def _literals(values: list[ast.expr]) -> Iterator[tuple[str, str]]:
    for value in values:
        if isinstance(value, ast.IfExp):
            yield from _literals([value.body, value.orelse])
        elif isinstance(value, ast.Constant) and isinstance(value.value, str) and " " in value.value:
            yield "Problems", value.value


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def update(folder: Path, root: Path = ROOT) -> None:
    """Update the catalogues of ``folder`` from the code; new texts are added without a translation."""
    with tempfile.TemporaryDirectory() as place:
        listed = Path(place) / LISTED
        single, plural = called_words(root)
        lines = [f"mark({_quoted(context)}, {_quoted(text)})" for context, text in (*listed_words(root), *single)]
        lines += [f"translate({_quoted(context)}, {_quoted(text)}, None, 1)" for context, text in plural]
        listed.write_text("\n".join(lines) + "\n", encoding="utf-8")
        sources = [str(path) for room in ("app", "ui") for path in sorted((root / room).rglob("*.py"))]
        usual = ("-silent", "-no-obsolete", "-locations", "none", "-source-language", "en", *ALIASES)
        for code, only in (("de", ()), ("en", ("-pluralonly",))):
            target = str(folder / f"paceline_{code}.ts")
            tool("lupdate", *usual, *only, str(listed), *sources, "-target-language", code, "-ts", target)


def _quoted(text: str) -> str:
    """Quote a text with double quotes and simple escapes, which lupdate can read."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def release(folder: Path) -> None:
    """Compile every catalogue of ``folder``; a text without a translation stays English."""
    for path in sorted(folder.glob("*.ts")):
        tool("lrelease", "-silent", str(path), "-qm", str(path.with_suffix(".qm")))


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("update", "release"))
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    asked = parser.parse_args()
    if asked.action == "update":
        update(asked.folder)
    else:
        release(asked.folder)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
