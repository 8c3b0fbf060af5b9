"""English sentences that still know how they were made, so that a window can say them in another language.

A `Sentence` is an ordinary text for everybody else: the command line, logs and files read it as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from string import Formatter
from typing import Any

Field = str | int | float
# A field, what closes a quotation behind it, and the full stop of the sentence.
_BEFORE_STOP = re.compile(r"(\{(\w+)(?:![rsa])?(?::[^{}]*)?\}[”“\"'’»«]*)\.(?=\s|$)")

_FORMAT = re.compile(r",?(\.\d)?[fdg]?")  # of a field, as far as templates use it


class Sentence(str):
    """A text with the ``template`` it was made of, and the ``fields`` that were put into it.

    ``context`` is the part of the catalogues that knows the template.
    """

    template: str
    fields: Mapping[str, Field]
    context: str = "Problems"


def said(template: str, /, **fields: object) -> Sentence:
    """Fill ``template``, a plain literal with ``{name}`` fields. A field may be a sentence itself.

    What is neither text nor a number is kept as its text. Without fields the template is the text, braces and all.
    """
    kept = {name: value if isinstance(value, str | int | float) else str(value) for name, value in fields.items()}
    sentence = Sentence(one_stop(template, kept).format(**kept) if kept else template)
    sentence.template, sentence.fields = template, kept
    return sentence


def one_stop(template: str, fields: Mapping[str, object]) -> str:
    """Give ``template`` without its full stop behind a field that ends with one, or with an ellipsis."""

    def keep(found: re.Match[str]) -> str:
        has_own = str(fields.get(found[2], "")).rstrip("”“\"'’»«").endswith((".", "…"))
        return found[1] if has_own else found[0]

    return _BEFORE_STOP.sub(keep, template)


def phrase(context: str, text: str) -> Sentence:
    """Give a text that another part of the catalogues knows, to be a field of a sentence."""
    sentence = said(text)
    sentence.context = context
    return sentence


def size_of(num_bytes: float) -> Sentence:
    """Give a size of a file or of memory, in decimal units, to be a field of a sentence."""
    if num_bytes >= 1e9:
        return said("{number:.1f} GB", number=num_bytes / 1e9)
    return said("{number:.0f} MB", number=num_bytes / 1e6)


def with_other(text: str, old: str, new: str) -> str:
    """Give ``text`` with ``new`` in every field that is ``old``; a text without fields as it is."""
    if not isinstance(text, Sentence):
        return text
    return said(text.template, **{name: new if value == old else value for name, value in text.fields.items()})


def joined(sentences: Iterable[str]) -> Sentence:
    """Put sentences one after another; empty ones are left out."""
    kept = {f"part_{number}": sentence for number, sentence in enumerate(filter(None, sentences))}
    return said(" ".join(f"{{{name}}}" for name in kept), **kept)


def to_json(text: Field) -> Any:  # noqa: ANN401 (JSON)
    """Give a sentence so that it can go through JSON and come out of `from_json` as what it was."""
    if not isinstance(text, Sentence):
        return text
    fields = {name: to_json(value) for name, value in text.fields.items()}
    return {"template": text.template, "context": text.context, "fields": fields}


def from_json(data: Any) -> Any:  # noqa: ANN401 (JSON)
    """Undo `to_json`; whatever else comes is given back as it is.

    Raises:
        ValueError, LookupError, TypeError, AttributeError: `to_json` did not give it.
    """
    if not isinstance(data, dict):
        return data
    template, fields = data["template"], {name: from_json(value) for name, value in data["fields"].items()}
    if fields and not _has_plain_fields(template):
        raise ValueError("a template asks for more than its fields")
    sentence = said(template, **fields)
    sentence.context = data["context"]
    return sentence


def _has_plain_fields(template: str) -> bool:
    """Whether a template that was stored is harmless: another could ask for attributes, or for a width of megabytes."""
    parts = Formatter().parse(template)
    return all(
        name is None or (name.isidentifier() and _FORMAT.fullmatch(form or "") is not None)
        for _, name, form, _ in parts
    )
