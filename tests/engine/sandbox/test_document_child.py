"""Tests documents of every format: text in order, with page, heading and line; hostile files give one error."""

import zipfile
from pathlib import Path

import pytest

from engine.sandbox import document_child
from tests.app.core.attachments import office, pdfs

MAIL = (
    b"From: Ada <ada@example.org>\r\nTo: Bob <bob@example.org>\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n"
    b"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n"
    b"The key is \xc3\xbcber the door.\r\n"
)
PAGE = (
    b"<html><head><title>t</title><style>p {}</style></head><body><h1>Garden</h1><p>Beans grow\n  <b>fast</b>.</p>"
    b"<script>alert(1)</script><h2>Winter</h2><ul><li>Cover the pots.</li></ul><pre>a\n  b</pre>"
    b"<table><tr><td>Bean</td><td>7</td></tr></table></body></html>"
)


@pytest.fixture(autouse=True)
def _no_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable the limits, which would apply to the test process."""
    monkeypatch.setattr(document_child, "limit_memory", lambda *_: None)


def read(folder: Path, name: str, content: bytes, max_chars: int = 10_000) -> dict[str, object]:
    path = folder / name
    path.write_bytes(content)
    return document_child.answer(path, max_chars)


@pytest.mark.parametrize(
    ("name", "content", "sections"),
    [
        (
            "a.docx",
            office.word("# Terms", "Pay in 30 days.", "|Rent|900|"),
            [("Terms", 0, "Terms", 0), ("Pay in 30 days.", 0, "Terms", 0), ("Rent | 900", 0, "Terms", 0)],
        ),
        (
            "a.pptx",
            office.slides(("One", "first"), ("Two", "second")),
            [("One\nfirst", 1, "One", 0), ("Two\nsecond", 2, "Two", 0)],
        ),
        (
            "a.xlsx",
            office.sheet("Rent", ("Month", "Sum"), (None, None), ("May", 900)),
            [("Month | Sum", 0, "Rent", 1), ("May | 900", 0, "Rent: Month | Sum", 3)],
        ),
        (
            "a.epub",
            office.book("<h1>I</h1><p>Ships.</p>", "<p>Harbour.</p>"),
            [("I", 1, "I", 1), ("Ships.", 1, "I", 1), ("Harbour.", 2, "", 1)],
        ),
        (
            "a.html",
            PAGE,
            [
                ("Garden", 0, "Garden", 1),
                ("Beans grow fast.", 0, "Garden", 1),
                ("Winter", 0, "Winter", 2),
                ("Cover the pots.", 0, "Winter", 2),
                ("a\n  b", 0, "Winter", 2),
                ("Bean | 7", 0, "Winter", 3),
            ],
        ),
        (
            "a.eml",
            MAIL,
            [
                ("From: Ada <ada@example.org>\nTo: Bob <bob@example.org>\nSubject: Grüße", 0, "Grüße", 0),
                ("The key is über the door.", 0, "Grüße", 0),
            ],
        ),
        ("a.pdf", pdfs.with_text(["One.", "", "Three."]), [("One.", 1, "", 0), ("Three.", 3, "", 0)]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_format_gives_its_text_with_the_place_of_each_piece(
    tmp_path: Path, name: str, content: bytes, sections: list[tuple[str, int, str, int]]
) -> None:
    assert read(tmp_path, name, content).get("sections") == sections


def test_the_format_is_that_of_the_content_and_not_of_the_name(tmp_path: Path) -> None:
    assert read(tmp_path, "a.txt", office.word("Here."))["sections"] == [("Here.", 0, "", 0)]


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.docx", b"PK\x03\x04 and no archive", "damaged"),
        ("a.docx", office.word("x")[:300], "damaged"),
        ("a.odd", office.sheet("x", (1,)).replace(b"xl/workbook.xml", b"xl/workbooq.xml"), "unknown"),
        ("a.pdf", pdfs.locked("secret"), "locked"),
        ("a.epub", office.book("<p>x</p>").replace(b"text/ch0", b"text/chX"), "damaged"),
    ],
)
def test_what_cannot_be_read_is_told_by_its_kind(tmp_path: Path, name: str, content: bytes, kind: str) -> None:
    assert read(tmp_path, name, content) == {"error": kind}


def test_more_text_than_wanted_is_not_collected(tmp_path: Path) -> None:
    assert read(tmp_path, "a.docx", office.word("many words " * 50), 100) == {"error": "long"}


def test_entities_of_a_book_reach_no_file_of_the_machine(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the secret")
    out = tmp_path / "a.epub"
    out.write_bytes(office.book("<p>x</p>"))
    hostile = f'<!DOCTYPE p [<!ENTITY s SYSTEM "{secret.as_uri()}">]>'
    with zipfile.ZipFile(out) as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    parts["OEBPS/text/ch0.xhtml"] = f"{hostile}<html><body><p>&s;</p></body></html>".encode()
    parts["OEBPS/book.opf"] = hostile.encode() + parts["OEBPS/book.opf"]
    with zipfile.ZipFile(out, "w") as packed:
        for name, content in parts.items():
            packed.writestr(name, content)
    assert "the secret" not in str(document_child.answer(out, 10_000))
