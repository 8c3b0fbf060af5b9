"""Tests attached files of all kinds: text is decoded correctly, anything else is rejected with a useful sentence."""

import codecs
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.attachments import reading
from app.core.attachments.reading import MAX_CHARS, MAX_TEXT_BYTES, read_attachment, text_attachment
from app.core.domain.attachment_errors import (
    AttachmentError,
    DocumentDamagedError,
    DocumentLockedError,
    FileTooLargeError,
    FileUnreadableError,
    NoTextError,
    NotTextError,
)
from app.core.domain.attachments import AttachmentKind
from app.core.domain.file_kinds import kind_of, shown_name
from app.core.domain.text_decoding import decode
from tests.app.core.attachments import office, pdfs
from tests.engine.warm_helpers import run_instead

WORDS = "Größe: naïve café, 10 €\nsecond line\n"


def put(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"], ids=str
)
def test_text_of_every_usual_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    attachment, notice = read_attachment(put(tmp_path, "notes.txt", WORDS.replace("\n", "\r\n").encode(encoding)))
    assert attachment.text == WORDS
    assert attachment.kind is AttachmentKind.TEXT
    assert bool(notice) is (encoding == "cp1252")


@given(st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1))
def test_every_utf_8_text_is_read_as_it_is(text: str) -> None:
    assert decode(text.encode(), "x").text == text.removeprefix("\ufeff")


@given(st.binary(min_size=1, max_size=3000))
def test_any_bytes_are_text_or_a_sentence(raw: bytes) -> None:
    try:
        text = decode(raw, "x").text
    except NotTextError as refused:
        text = refused.message
    assert text or raw in (
        codecs.BOM_UTF8,
        codecs.BOM_UTF16_LE,
        codecs.BOM_UTF16_BE,
        codecs.BOM_UTF32_LE,
        codecs.BOM_UTF32_BE,
    )
    assert "\0" not in text


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.md", AttachmentKind.MARKDOWN),
        ("A.CSV", AttachmentKind.CSV),
        ("main.py", AttachmentKind.CODE),
        ("Makefile", AttachmentKind.CODE),
        ("report.pdf", AttachmentKind.PDF),
        ("README", AttachmentKind.TEXT),
        ("x.unknown", AttachmentKind.TEXT),
    ],
)
def test_the_kind_comes_from_the_name(name: str, kind: AttachmentKind) -> None:
    assert kind_of(name) is kind


def refusal(path: Path) -> AttachmentError:
    with pytest.raises(AttachmentError) as caught:
        read_attachment(path)
    assert caught.value.message.endswith(".")
    assert caught.value.advice
    return caught.value


@pytest.mark.parametrize(
    ("content", "kind", "words"),
    [
        (b"", NoTextError, "is empty"),
        (b" \n\t\n", NoTextError, "is empty"),
        (b"abc\0def", NotTextError, "NUL"),
        (bytes(range(1, 32)) * 90, NotTextError, "binary"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 50, FileUnreadableError, "not a PNG, JPEG, WebP or GIF picture"),
        (b"PK\x03\x04" + b"x" * 50, NotTextError, "office document"),
        (b"\xff\xfea", NotTextError, "begins like UTF-16"),
    ],
    ids=["empty", "blank", "nul", "binary", "picture", "docx", "half utf-16"],
)
def test_what_is_no_text_is_refused_by_name(
    tmp_path: Path, content: bytes, kind: type[AttachmentError], words: str
) -> None:
    error = refusal(put(tmp_path, "secret.txt", content))
    assert type(error) is kind
    assert "“secret.txt”" in error.message
    assert words in error.message


@pytest.mark.parametrize(("name", "limit"), [("huge.log", "16 MB"), ("huge.pdf", "200 MB")])
def test_a_file_of_five_gigabytes_is_refused_without_reading_it(tmp_path: Path, name: str, limit: str) -> None:
    path = tmp_path / name
    with path.open("wb") as handle:
        handle.write(b"a line\n" * 1000)
        handle.truncate(5_000_000_000)
    error = refusal(path)
    assert type(error) is FileTooLargeError
    assert "5.0 GB" in error.message
    assert limit in error.message


def test_a_long_text_is_refused_with_both_figures() -> None:
    with pytest.raises(FileTooLargeError, match=f"{MAX_CHARS + 1:,} characters.*{MAX_CHARS:,}"):
        text_attachment("long.txt", "x" * (MAX_CHARS + 1))
    assert MAX_TEXT_BYTES >= MAX_CHARS


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    assert "no longer exists" in refusal(tmp_path / "gone.txt").message
    assert "is a folder" in refusal(tmp_path).message
    assert type(refusal(Path("a\0b"))) is FileUnreadableError


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    error = []
    thread = threading.Thread(target=lambda: error.append(refusal(tmp_path / "pipe")), daemon=True)
    thread.start()
    thread.join(30)
    assert "not a regular file" in error[0].message


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no devices among its files")
def test_a_device_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "endless.txt").symlink_to("/dev/zero")
    assert "not a regular file" in refusal(tmp_path / "endless.txt").message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_put_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, "a.txt", b"words")
    facts = path.stat()
    path.unlink()
    os.mkfifo(path)
    monkeypatch.setattr(Path, "stat", lambda _path: facts)
    assert "not a regular file" in refusal(path).message


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
@pytest.mark.parametrize("begin", ["", "a", "ab", "abc"])
def test_a_too_long_text_is_named_wherever_its_beginning_is_cut(tmp_path: Path, encoding: str, begin: str) -> None:
    """The last bytes of the beginning may be part of a character: this says nothing about the file."""
    line = "ab\U0001f601c" if encoding == "utf-16-le" else "\N{EURO SIGN}\U0001f601"
    path = tmp_path / "table.csv"
    with path.open("wb") as handle:
        handle.write((begin + line * 1000).encode(encoding))
        handle.truncate(MAX_TEXT_BYTES + 4)
    error = refusal(path)
    assert isinstance(error, FileTooLargeError)
    assert "16 MB" in error.message


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_rights_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path, "private.txt", b"x")
    path.chmod(0)
    assert "cannot be read" in refusal(path).message


def test_names_become_one_line() -> None:
    assert shown_name("a\nb\x1b[0m\udce9.txt") == "a b [0m?.txt"
    assert shown_name("\n") == "file"
    long = shown_name("x" * 300 + ".csv")
    assert len(long) == 120
    assert long.endswith(".csv")


# ---- PDF --------------------------------------------------------------------------------------------------------


def test_the_text_of_a_pdf_is_read(tmp_path: Path) -> None:
    attachment, notice = read_attachment(put(tmp_path, "paper.pdf", pdfs.with_text(["First page.", "", "Third page."])))
    assert attachment.text == "First page.\n\nThird page."
    assert attachment.kind is AttachmentKind.PDF
    assert "1 of the 3 pages" in notice


@pytest.mark.parametrize(("name", "content"), [("a.txt", pdfs.with_text(["Here."])), ("a.pdf", pdfs.locked(""))])
def test_a_pdf_is_known_by_its_content_and_may_open_without_a_password(
    tmp_path: Path, name: str, content: bytes
) -> None:
    attachment, _notice = read_attachment(put(tmp_path, name, content))
    assert attachment.kind is AttachmentKind.PDF
    assert attachment.text


def test_a_cipher_that_is_not_known_here_is_no_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most PDFs that are protected against changes are encrypted with AES, and open without a password."""
    pytest.importorskip("cryptography", reason="only with it such a PDF can be made")
    path = put(tmp_path, "a.pdf", pdfs.locked("", "AES-256"))
    assert "behind the door" in read_attachment(path)[0].text
    hidden = "import sys; sys.modules.update({'cryptography': None, 'Crypto': None})"
    child = f"{hidden}; from engine.sandbox.helper import main; sys.exit(main(['document', *sys.argv[1:]]))"
    run_instead(monkeypatch, child)
    error = refusal(path)
    assert "password" not in f"{error.message} {error.advice}"
    assert "kind of encryption that is not supported" in error.message


@pytest.mark.parametrize(
    ("content", "kind", "words"),
    [
        (pdfs.with_text([""]), NoTextError, "pages are scanned images"),
        (pdfs.locked("secret"), DocumentLockedError, "password"),
        (b"%PDF-1.7\nnothing of a PDF", DocumentDamagedError, "damaged"),
        (b"just words", DocumentDamagedError, "not the kind of file that its name says"),
        (pdfs.with_text(["x"])[:200], DocumentDamagedError, "damaged"),
    ],
    ids=["scanned", "locked", "damaged", "text", "cut"],
)
def test_a_pdf_that_cannot_be_used_says_why(
    tmp_path: Path, content: bytes, kind: type[AttachmentError], words: str
) -> None:
    error = refusal(put(tmp_path, "a.pdf", content))
    assert type(error) is kind
    assert words in error.message


def test_a_pdf_that_takes_too_long_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, "slow.pdf", pdfs.with_text(["x"]))
    run_instead(monkeypatch, "import time; time.sleep(60)")
    with pytest.raises(DocumentDamagedError, match="within 0 seconds"):
        reading.read_document(path, "slow.pdf", MAX_CHARS, limit_s=0.0)
    with pytest.raises(AttachmentError, match="cancelled"):
        reading.read_document(path, "slow.pdf", MAX_CHARS, should_stop=lambda: True)


def test_a_reader_that_dies_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, "a.pdf", pdfs.with_text(["x"]))
    run_instead(monkeypatch, "import os; os.abort()")
    assert "stopped unexpectedly" in refusal(path).message


def test_text_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path, "a.pdf", pdfs.with_text(["many words"] * 5))
    with pytest.raises(FileTooLargeError, match="more than 20 characters"):
        reading.read_document(path, "a.pdf", 20)


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("terms.docx", office.word("# Terms", "Pay in 30 days."), "Terms\n\nPay in 30 days."),
        (
            "a.xlsx",
            office.sheet("Rent", ("Month", "Sum"), ("May", 900), ("June", 910)),
            "Month | Sum\nMay | 900\nJune | 910",
        ),
    ],
)
def test_an_office_document_is_attached_as_its_text(tmp_path: Path, name: str, content: bytes, text: str) -> None:
    attachment, _notice = read_attachment(put(tmp_path, name, content))
    assert (attachment.kind, attachment.text) == (AttachmentKind.DOCUMENT, text)
