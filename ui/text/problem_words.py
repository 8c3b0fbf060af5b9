"""Problems and other sentences of app and engine, in the user's language.

A sentence with fields is translated as a template, then filled with localized numbers; any other text is translated as
a whole.
"""

from string import Formatter
from typing import Any

from engine.records import Problem
from engine.sentences import Sentence, drop_double_stop
from ui.text.language import locale, translate
from ui.text.mode_words import mode_short_name

REASONS = ("reason", "error")  # fields that may contain the message of another failure


class _LocalFormatter(Formatter):
    """Formats numbers by locale."""

    def format_field(self, value: Any, format_spec: str) -> str:  # noqa: ANN401 (as its base)
        text = str(super().format_field(value, format_spec))
        if not format_spec or isinstance(value, str):
            return text
        signs = {ord("."): locale().decimalPoint(), ord(","): locale().groupSeparator()}
        return text.translate(signs)


def in_language(text: str) -> str:
    """A sentence of app or engine in the current language, or unchanged if the catalogue lacks it."""
    if not text:
        return ""
    if not isinstance(text, Sentence):
        return translate("Problems", text)
    if text.context == "Modes":  # the text is the engine's name of a mode
        return mode_short_name(text.template)
    template = translate(text.context, text.template)
    if not text.fields:
        return template
    said = {name: _field(name, value) for name, value in text.fields.items()}
    return _LocalFormatter().vformat(drop_double_stop(template, said), (), said)


def _field(name: str, value: Any) -> Any:  # noqa: ANN401 (as the fields are)
    """Translate a sentence that fills a field of another sentence."""
    return in_language(value) if isinstance(value, Sentence) or (name in REASONS and isinstance(value, str)) else value


def in_words(problem: Problem) -> Problem:
    """The problem, translated if the catalogue contains it."""
    return Problem(in_language(problem.title), in_language(problem.message), in_language(problem.advice))


def explanation(problem: Problem) -> str:
    """What happened and what to do, on one line."""
    said = in_words(problem)
    return f"{said.message} {said.advice}".strip()
