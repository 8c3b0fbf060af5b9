"""Sentences of app and engine with the number 1 use the singular."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[3]
# Counts in sentences of app and engine that are never 1, by field name.
NEVER_ONE = {
    "limit": "a bound of the app",
    "n_ctx": "a context",
    "length": "told where it is absurdly large",
    "longest": "told where it is absurdly large",
    "num_ids": "more than a context holds",
    "num_text": "more than an attachment may have",
    "num_tokens": "none, or absurdly many",
    "num_tensors": "absurdly many",
    "num_entries": "absurdly many",
    "num_dims": "none, or more than a tensor has",
    "pages": "a document of one page without text has no text at all",
    "file_size": "bytes of a file",
    "all_of_them": "what is said to be used of them was too much",
    "most": "some of the layers fit and some do not",
    "of_target": "a vocabulary",
    "target_params": "parameters of a model",
    "num_files": "one is told by its own words",
    "num_answers": "one is told by its own words",
}
COUNTED = re.compile(r"\{(\w+)(?::,)?\} (?:(?!of |and |for )\w+ )?(?!is\b|was\b|has\b|does\b)[a-z]+s\b")


def test_what_app_and_engine_count_has_words_for_one() -> None:
    texts = {text for context, text in _catalogues().listed_words(ROOT) if context == "Problems"}
    missing = []
    for text in sorted(texts):
        found = COUNTED.search(text)
        if found is None or found[1] in NEVER_ONE or not _is_number(found[0], found[1]):
            continue
        if not any(other.startswith(f"{text[: found.start()]}1 ") for other in texts):
            missing.append(text)
    assert missing == ["the tensor {name!r} claims {number:,} values"]  # only for extremely large numbers


def _is_number(piece: str, field: str) -> bool:
    return ":," in piece or field.startswith("num") or field in ("empty", "used", "layers", "missing", "asked")


def _catalogues() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "catalogues_for_counts", ROOT / "packaging" / "translations" / "catalogues.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
