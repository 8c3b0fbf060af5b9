"""The helper process that extracts the text of documents, isolated because a file may crash a parser.

It converts PDF, Word, PowerPoint, Excel, EPUB, web pages and e-mail to sections of text. A format's library is imported
on demand. The helper does not use the network, and logs no text of a file.
"""

import logging
import posixpath
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import unquote

from engine.sandbox.limits import limit_memory, limit_time, write_no_files

_MEMORY_BYTES = 1_000_000_000  # in addition to three times the file's size
_HEAD_BYTES = 1024  # bytes at a file's start that are searched for the PDF signature or a charset
_WEB = (".html", ".htm", ".xhtml")
_ZIP_FORMATS = {  # by the name of a member
    "word/document.xml": "docx",
    "ppt/presentation.xml": "pptx",
    "xl/workbook.xml": "xlsx",
    "META-INF/container.xml": "epub",
}
_SKIPPED = frozenset({"head", "script", "style", "template", "noscript", "svg", "math"})
_BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "br", "dd", "details", "div", "dl", "dt", "figcaption",
    "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p",
    "pre", "section", "summary", "table", "tbody", "tr", "ul",
}  # fmt: skip
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_XHTML = "{http://www.w3.org/1999/xhtml}"
_OPF = "{http://www.idpf.org/2007/opf}"


class Section(NamedTuple):
    """Text with its location: page (or slide, chapter), heading, line (or row). Numbers start at 1; 0 means none."""

    text: str
    page: int = 0
    heading: str = ""
    line: int = 0


class _UnreadableError(Exception):
    """The file cannot be read; the caller converts ``kind`` to a sentence."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


def main(words: list[str]) -> dict[str, object]:
    """Read a file. ``words``: path, limit of the text in characters, and limit of CPU time in seconds."""
    path, max_chars, seconds = Path(words[0]), int(words[1]), int(words[2])
    limit_time(seconds)
    write_no_files()
    logging.disable(logging.CRITICAL)
    return answer(path, max_chars)


def answer(path: Path, max_chars: int) -> dict[str, object]:
    """Return sections, the number of pages, and the number of pages without text; or the kind of an error."""
    try:
        limit_memory(3 * path.stat().st_size, _MEMORY_BYTES)
        with path.open("rb") as handle:
            return _within_limit(_READERS[_format_of(handle, path.suffix.lower())](handle), max_chars)
    except Exception as error:  # noqa: BLE001  (a parser may raise anything on an untrusted file)
        return {"error": _kind_of(error)}


def _kind_of(error: Exception) -> str:
    if isinstance(error, _UnreadableError):
        return error.kind
    if isinstance(error, MemoryError):
        return "memory"
    return "gone" if isinstance(error, OSError) and not isinstance(error, zipfile.BadZipFile) else "damaged"


def _format_of(handle: IO[bytes], ending: str) -> str:
    head = handle.read(_HEAD_BYTES)
    handle.seek(0)
    if b"%PDF-" in head:
        return "pdf"
    if head.startswith(b"PK"):
        with zipfile.ZipFile(handle) as packed:
            names = set(packed.namelist())
        handle.seek(0)
        found = next((kind for part, kind in _ZIP_FORMATS.items() if part in names), "")
    else:
        found = "html" if ending in _WEB else "email" if ending == ".eml" else ""
    if not found:
        raise _UnreadableError("unknown" if head.startswith(b"PK") else "damaged")
    return found


def _within_limit(sections: Iterable[Section], max_chars: int) -> dict[str, object]:
    kept: list[Section] = []
    num_chars, last, empty = 0, 0, 0
    for section in sections:
        text = _clean(section.text)
        empty += not text and section.page > 0
        last = max(last, section.page)
        num_chars += len(text)
        if num_chars > max_chars:
            raise _UnreadableError("long")
        if text:
            kept.append(section._replace(text=text, heading=" ".join(_clean(section.heading).split())))
    return {"sections": kept, "pages": last, "empty_pages": empty}


def _clean(text: str) -> str:
    """Remove NULs, lone surrogates, and blanks at the ends of lines."""
    whole = text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
    return "\n".join(line.rstrip() for line in whole.splitlines()).strip()


def _pdf(handle: IO[bytes]) -> Iterator[Section]:
    import pypdf  # noqa: PLC0415  (each library is imported with its first file)

    kinds: tuple[tuple[type[Exception], str], ...] = (
        (pypdf.errors.WrongPasswordError, "locked"),
        (pypdf.errors.DependencyError, "cipher"),  # AES without its library; most such files have no password
        (pypdf.errors.LimitReachedError, "memory"),  # a stream that decompresses to an absurd size
    )
    try:
        reader = pypdf.PdfReader(handle)
        if reader.is_encrypted and not reader.decrypt(""):
            raise _UnreadableError("locked")
        num_damaged = number = 0
        for number, page in enumerate(reader.pages, 1):
            try:
                yield Section(page.extract_text(), number)
            except (MemoryError, OSError, pypdf.errors.LimitReachedError):
                raise
            except Exception:  # noqa: BLE001  (a damaged page; the others are read all the same)
                num_damaged += 1
                yield Section("", number)
    except tuple(kind for kind, _ in kinds) as error:
        raise _UnreadableError(next(name for kind, name in kinds if isinstance(error, kind))) from error
    if num_damaged and num_damaged == number:
        raise _UnreadableError("damaged")


def _docx(handle: IO[bytes]) -> Iterator[Section]:
    import docx  # noqa: PLC0415
    from docx.table import Table  # noqa: PLC0415

    heading = ""
    for block in docx.Document(handle).iter_inner_content():
        if isinstance(block, Table):
            for row in block.rows:
                yield Section(_row(cell.text for cell in row.cells), 0, heading)
            continue
        style = (block.style.name or "").lower() if block.style is not None else ""
        if style.startswith(("heading", "title")) and block.text.strip():
            heading = block.text
        yield Section(block.text, 0, heading)


def _pptx(handle: IO[bytes]) -> Iterator[Section]:
    import pptx  # noqa: PLC0415

    for number, slide in enumerate(pptx.Presentation(handle).slides, 1):
        title = slide.shapes.title
        heading = title.text if title is not None else ""
        texts = list(_texts_of(slide.shapes))
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            texts.append(slide.notes_slide.notes_text_frame.text)
        yield Section("\n".join(filter(None, texts)), number, heading)


def _texts_of(shapes: Iterable[Any]) -> Iterator[str]:
    for shape in shapes:
        if getattr(shape, "has_table", False):
            yield from (_row(cell.text for cell in row.cells) for row in shape.table.rows)
        elif shape.has_text_frame:
            yield shape.text_frame.text
        elif hasattr(shape, "shapes"):
            yield from _texts_of(shape.shapes)


def _xlsx(handle: IO[bytes]) -> Iterator[Section]:
    import openpyxl  # noqa: PLC0415

    for sheet in openpyxl.load_workbook(handle, read_only=True, data_only=True).worksheets:
        heading = sheet.title
        for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
            text = _row("" if value is None else str(value) for value in row)
            yield Section(text, 0, heading, number)
            heading = f"{sheet.title}: {text}" if text and heading == sheet.title else heading  # column names


def _row(cells: Iterable[str]) -> str:
    texts = [" ".join(cell.split()) for cell in cells]
    return " | ".join(texts) if any(texts) else ""


def _html(handle: IO[bytes]) -> Iterator[Section]:
    yield from _html_sections(handle.read())


def _html_sections(raw: bytes, page: int = 0, heading: str = "") -> Iterator[Section]:
    """Yield the blocks of a web page in order, each with its preceding heading."""
    from lxml import etree, html  # noqa: PLC0415

    if not raw.strip():
        return
    encoding = None if raw.startswith((b"\xff\xfe", b"\xfe\xff")) or b"charset" in raw[:_HEAD_BYTES] else "utf-8"
    root = html.document_fromstring(raw, parser=html.HTMLParser(no_network=True, encoding=encoding))
    walk, words, line = etree.iterwalk(root, events=("start", "end")), "", 0
    for event, element in walk:
        tag = element.tag if isinstance(element.tag, str) else ""
        is_out = not tag or tag in _SKIPPED
        if tag in _BLOCKS:
            if event == "end" and tag in _HEADINGS and words.strip():
                heading = words
            yield Section(words if event == "end" and tag == "pre" else " ".join(words.split()), page, heading, line)
            words, line = "", element.sourceline or 0
        if event == "end":
            words += element.tail or ""
        elif is_out:
            walk.skip_subtree()
        else:
            words += (" | " if tag in ("td", "th") and words.strip() else "") + (element.text or "")
    yield Section(" ".join(words.split()), page, heading, line)


def _epub(handle: IO[bytes]) -> Iterator[Section]:
    """Yield the chapters of a book in the order of its spine (EPUB 3.3, https://www.w3.org/TR/epub-33/#sec-spine-elem)."""
    from lxml import etree  # noqa: PLC0415

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    with zipfile.ZipFile(handle) as packed:
        container = etree.fromstring(packed.read("META-INF/container.xml"), parser)
        opf = next(each.get("full-path", "") for each in container.iter() if str(each.tag).endswith("}rootfile"))
        package = etree.fromstring(packed.read(opf), parser)
        files = {each.get("id"): each.get("href", "") for each in package.iter(f"{_OPF}item")}
        chapters = [files.get(each.get("idref"), "") for each in package.iter(f"{_OPF}itemref")]
        for number, name in enumerate(filter(None, chapters), 1):
            inner = posixpath.normpath(posixpath.join(posixpath.dirname(opf), unquote(name)))
            yield from _html_sections(packed.read(inner).replace(_XHTML.encode(), b""), number)


def _email(handle: IO[bytes]) -> Iterator[Section]:
    import email  # noqa: PLC0415
    from email import policy  # noqa: PLC0415

    message = email.message_from_binary_file(handle, policy=policy.default)
    subject = str(message["subject"] or "")
    named = [f"{name}: {message[name]}" for name in ("From", "To", "Cc", "Date", "Subject") if message[name]]
    yield Section("\n".join(named), 0, subject)
    body = message.get_body(("plain", "html"))
    if body is not None and body.get_content_subtype() == "html":
        yield from (
            each._replace(heading=each.heading or subject) for each in _html_sections(body.get_content().encode())
        )
    elif body is not None:
        yield Section(body.get_content(), 0, subject)
    attached = [part.get_filename() or "" for part in message.iter_attachments()]
    yield Section("\n".join(f"Attached: {name}" for name in attached if name), 0, subject)


_READERS: dict[str, Callable[[IO[bytes]], Iterator[Section]]] = {
    "pdf": _pdf,
    "docx": _docx,
    "pptx": _pptx,
    "xlsx": _xlsx,
    "epub": _epub,
    "html": _html,
    "email": _email,
}
