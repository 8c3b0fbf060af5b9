"""Tests a printed chat: all texts and authors, drawn pictures and formulas, page numbers."""

import io
from pathlib import Path

from PIL import Image
from pypdf import PdfReader
from PySide6.QtGui import QColor, QPdfWriter, QTextDocument

from app.core.domain.attachments import Attachment, AttachmentKind, StoredPicture
from app.core.domain.messages import MessageView
from app.core.domain.tools.calls import CallStatus, StoredCall
from ui.theme.theme import Theme
from ui.transcript.marks.provenance import OBJECT_CHAR
from ui.transcript.printing import chat_document, paint_pages

ANSWER = "The **sum** is $x^2$:\n\n```py\ndef f(): ...\n```\n\n| a | b |\n|---|---|\n| c | d |\n\n" + "Words. " * 900


def picture() -> StoredPicture:
    written = io.BytesIO()
    Image.new("RGB", (300, 200), "#00ff00").save(written, "PNG")
    return StoredPicture("d", 300, 200, written.getvalue())


def views() -> list[MessageView]:
    files = (
        Attachment(1, "green.png", AttachmentKind.PICTURE, 9, picture=picture()),
        Attachment(2, "notes.txt", AttachmentKind.TEXT, 9),
    )
    call = StoredCall("c", "Clock", "now", "{}", status=CallStatus.DONE)
    return [
        MessageView(1, "user", "How *much*?", attachments=files),
        MessageView(2, "tool", "It is noon", call=call),
        MessageView(3, "assistant", ANSWER, target="/m/tiny.gguf"),
    ]


def printed(theme: Theme, file: Path) -> tuple[QTextDocument, PdfReader]:
    document = chat_document(theme, "Sums & more", views(), theme)
    assert paint_pages(document, QPdfWriter(str(file)), "Sums & more") == 3
    return document, PdfReader(file)


def test_all_of_it_is_on_the_pages_with_their_numbers(theme: Theme, tmp_path: Path) -> None:
    theme.apply("dark", theme.parent())  # type: ignore[arg-type]
    _, pdf = printed(theme, tmp_path / "chat.pdf")
    assert len(pdf.pages) == 3
    pages = [" ".join(page.extract_text().split()) for page in pdf.pages]
    for words in (
        "Sums & more",
        "You",
        "How *much*?",
        "notes.txt",
        "Clock",
        "It is noon",
        "The sum is",
        "def f",
    ):
        assert words in pages[0] + pages[1]
    assert [f"{number} of 3" in page for number, page in enumerate(pages, start=1)] == [True] * 3


def test_it_is_drawn_for_paper_whatever_the_window_looks_like(theme: Theme, tmp_path: Path) -> None:
    theme.apply("dark", theme.parent())  # type: ignore[arg-type]
    document, _ = printed(theme, tmp_path / "chat.pdf")
    assert OBJECT_CHAR in document.toPlainText()  # the picture, and the formula
    assert "$x^2$" not in document.toPlainText()
    html = document.toHtml()
    assert "background-color:#f2f3f5" in html  # code has its own background
    assert theme.tokens.text not in html
    assert "picture:d" in html
    shown = document.resource(QTextDocument.ResourceType.ImageResource.value, "picture:d")
    assert shown.pixelColor(9, 9) == QColor("#00ff00")
