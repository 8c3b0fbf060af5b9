"""English sentences that keep their template and fields, so that a window can translate them.

A `Sentence` is an ordinary string everywhere else: for the command line, logs and files.
"""

import re
from collections.abc import Iterable, Mapping
from string import Formatter
from typing import Any

Field = str | int | float
# A field, the closing quotation marks after it, and the full stop of the sentence.
_BEFORE_STOP = re.compile(r"(\{(\w+)(?:![rsa])?(?::[^{}]*)?\}[”“\"'’»«]*)\.(?=\s|$)")

_FORMAT = re.compile(r",?(\.\d)?[fdg]?")  # the format specifications that templates use


class Sentence(str):
    """A text with its ``template`` and ``fields``.

    ``context`` is the translation context of the template.
    """

    template: str
    fields: Mapping[str, Field]
    context: str = "Problems"


def i18n(template: str, /, **fields: object) -> Sentence:
    """Fill ``template``, which must be a string literal with ``{name}`` fields. A field may be a sentence.

    Values that are neither texts nor numbers are stored as texts. Without fields the template is used verbatim.
    """
    kept = {name: value if isinstance(value, str | int | float) else str(value) for name, value in fields.items()}
    sentence = Sentence(drop_double_stop(template, kept).format(**kept) if kept else template)
    sentence.template, sentence.fields = template, kept
    return sentence


def drop_double_stop(template: str, fields: Mapping[str, object]) -> str:
    """Remove the full stop of ``template`` after a field that ends with one, or with an ellipsis."""

    def keep(found: re.Match[str]) -> str:
        has_own = str(fields.get(found[2], "")).rstrip("”“\"'’»«").endswith((".", "…"))
        return found[1] if has_own else found[0]

    return _BEFORE_STOP.sub(keep, template)


def phrase(context: str, text: str) -> Sentence:
    """A text of another translation context, for use as a field of a sentence."""
    sentence = i18n(text)
    sentence.context = context
    return sentence


def size_of(num_bytes: float) -> Sentence:
    """The size of a file or of memory in decimal units, for use as a field of a sentence."""
    if num_bytes >= 1e9:
        return i18n("{number:.1f} GB", number=num_bytes / 1e9)
    return i18n("{number:.0f} MB", number=num_bytes / 1e6)


def replace_field(text: str, old: str, new: str) -> str:
    """Replace every field of ``text`` that equals ``old`` by ``new``; a text without fields does not change."""
    if not isinstance(text, Sentence):
        return text
    return i18n(text.template, **{name: new if value == old else value for name, value in text.fields.items()})


def joined(sentences: Iterable[str]) -> Sentence:
    """Join sentences by spaces; empty ones are left out."""
    kept = {f"part_{number}": sentence for number, sentence in enumerate(filter(None, sentences))}
    return i18n(" ".join(f"{{{name}}}" for name in kept), **kept)


def to_json(text: Field) -> Any:  # noqa: ANN401 (JSON)
    """Convert a text or sentence to JSON data for `from_json`."""
    if not isinstance(text, Sentence):
        return text
    fields = {name: to_json(value) for name, value in text.fields.items()}
    return {"template": text.template, "context": text.context, "fields": fields}


def from_json(data: Any) -> Any:  # noqa: ANN401 (JSON)
    """Undo `to_json`; other data is returned unchanged.

    Raises:
        ValueError, LookupError, TypeError, AttributeError: not made by `to_json`.
    """
    if not isinstance(data, dict):
        return data
    template, fields = data["template"], {name: from_json(value) for name, value in data["fields"].items()}
    if fields and not _has_plain_fields(template):
        raise ValueError("a template asks for more than its fields")
    sentence = i18n(template, **fields)
    sentence.context = data["context"]
    return sentence


def _has_plain_fields(template: str) -> bool:
    """Whether a stored template is safe to format: fields could access attributes or request a huge width."""
    parts = Formatter().parse(template)
    return all(
        name is None or (name.isidentifier() and _FORMAT.fullmatch(form or "") is not None)
        for _, name, form, _ in parts
    )
