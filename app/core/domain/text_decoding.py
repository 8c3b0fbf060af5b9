"""Detects the encoding of bytes and decodes them."""

import codecs
from dataclasses import dataclass

from app.core.domain.attachment_errors import NotTextError
from engine.sentences import i18n

GUESSED_NOTICE = "“{name}” is not UTF-8 and was read as Western European text. If letters look wrong, save it as UTF-8."
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, since its mark starts with UTF-16's
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BINARY_SIGNATURES = (
    (b"\x89PNG", i18n("a picture")),
    (b"\xff\xd8\xff", i18n("a picture")),
    (b"GIF87a", i18n("a picture")),
    (b"GIF89a", i18n("a picture")),
    (b"PK\x03\x04", i18n("an office document or a packed archive")),
    (b"\xd0\xcf\x11\xe0", i18n("an office document")),
    (b"\x1f\x8b", i18n("a packed archive")),
    (b"7z\xbc\xaf", i18n("a packed archive")),
    (b"\x7fELF", i18n("a program")),
    (b"MZ\x90", i18n("a program")),
    (b"SQLite format 3\0", i18n("a database")),
    (b"GGUF\x02\0", i18n("a model")),
    (b"GGUF\x03\0", i18n("a model")),
)
_TEXT_CONTROLS = b"\t\n\r\f\x08\x1b"
_CONTROLS = bytes(code for code in range(0x20) if code not in _TEXT_CONTROLS) + b"\x7f"
_MAX_CONTROL_SHARE = 0.005  # maximum share of control characters in text
_UTF16_NUL_SHARE = 0.3  # share of zero bytes at odd or even offsets that means UTF-16 of mostly Latin letters
_SAMPLE = 65_536


@dataclass(frozen=True, slots=True)
class Decoded:
    """Decoded text with LF line ends; ``notice`` tells the user about a guessed encoding."""

    text: str
    notice: str = ""


def decode(raw: bytes, name: str, *, whole: bool = True) -> Decoded:
    """Decode bytes by their byte order mark, else as UTF-8, UTF-16 or Windows-1252.

    ``whole`` False: ``raw`` is the start of a file and may end within a character.

    Raises:
        NotTextError: the bytes are no text.
    """
    for magic, what in _BINARY_SIGNATURES:
        if raw.startswith(magic):
            raise NotTextError(i18n("“{name}” is {what}, not text.", name=name, what=what))
    for mark, encoding in _BOMS:
        if raw.startswith(mark):
            return Decoded(_decode_strictly(raw, encoding, name, whole=whole))
    if b"\0" in raw:
        return Decoded(_decode_without_bom(raw, name, whole=whole))
    if sum(raw[:_SAMPLE].count(code) for code in _CONTROLS) > _MAX_CONTROL_SHARE * min(len(raw), _SAMPLE):
        raise NotTextError(i18n("“{name}” is a binary file, not text.", name=name))
    try:
        return Decoded(_with_lf_line_ends(raw.decode("utf-8")))
    except UnicodeDecodeError:
        text = raw.decode("cp1252", "replace").replace("\ufffd", " ")
        return Decoded(_with_lf_line_ends(text), i18n(GUESSED_NOTICE, name=name))


def utf_text(raw: bytes) -> str:
    """Decode UTF-8, or the encoding of a byte order mark. Removes the mark; line ends become LF.

    Raises:
        UnicodeDecodeError: the bytes are invalid in that encoding.
    """
    encoding = next((encoding for mark, encoding in _BOMS if raw.startswith(mark)), "utf-8")
    return _with_lf_line_ends(raw.decode(encoding))


def _decode_strictly(raw: bytes, encoding: str, name: str, *, whole: bool) -> str:
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(raw, final=whole)
    except UnicodeDecodeError as error:
        shown = encoding.removesuffix("-sig").upper()
        raise NotTextError(
            i18n("“{name}” begins like {encoding} text, but is not.", name=name, encoding=shown)
        ) from error
    if "\0" in text:
        raise NotTextError(i18n("“{name}” contains NUL characters: it is a binary file, or damaged.", name=name))
    return _with_lf_line_ends(text)


def _decode_without_bom(raw: bytes, name: str, *, whole: bool) -> str:
    """Decode UTF-16 without a byte order mark, recognized by its zero bytes."""
    sample = raw[:_SAMPLE]
    zeros = [sample[start::2].count(0) / max(len(sample[start::2]), 1) for start in (0, 1)]
    if max(zeros) > _UTF16_NUL_SHARE and min(zeros) < 0.05 and len(raw) % 2 == 0:
        return _decode_strictly(raw, "utf-16-le" if zeros[1] > zeros[0] else "utf-16-be", name, whole=whole)
    raise NotTextError(i18n("“{name}” contains NUL bytes: it is a binary file, or damaged.", name=name))


def _with_lf_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
