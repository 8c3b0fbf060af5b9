"""Prints a chat or saves it as PDF: title, authors, code with colours, tables, pictures, formulas, page numbers.

Lays out the HTML of copied text in screen pixels and scales it as vectors.
"""

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import QMarginsF, QObject, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QFont,
    QImage,
    QPagedPaintDevice,
    QPageLayout,
    QPainter,
    QPalette,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtWidgets import QWidget

from app.core.domain.messages import MessageView
from ui.markdown.html_writer import formula_address
from ui.markdown.portable import HtmlFormats
from ui.text.formatting import count
from ui.text.language import translate
from ui.text.model_titles import title_of
from ui.theme.palette import LIGHT
from ui.theme.theme import Theme
from ui.transcript.cards.answer_card import UNKNOWN_AUTHOR
from ui.transcript.cards.prose_view import FormulaObject, document_style
from ui.transcript.cards.tool_card import call_text
from ui.transcript.excerpt import ExcerptPart, code_html, portable_part

FONT_PX, FOOTER_PX, PX_PER_INCH = 14, 36, 96
MAX_PICTURE_PX = 420
MARGIN_MM = 15
_STYLE = f"""
    p.author {{ color: {LIGHT.text_muted}; font-weight: 600; margin: 22px 0 4px 0; }}
    p.picture {{ line-height: 100%; }}
    pre {{ margin: 8px 0 10px 0; white-space: pre-wrap; }}
    pre, code {{ font-size: {FONT_PX - 2}px; }}
    table {{ margin: 10px 0 10px 0; }}
"""


def chat_document(theme: Theme, title: str, messages: Sequence[MessageView], parent: QObject) -> QTextDocument:
    document, font = QTextDocument(parent), QFont(theme.font().families())  # without font features: PDFs lose letters
    font.setPixelSize(FONT_PX)
    document.setDefaultFont(font)
    style = document_style(LIGHT, FONT_PX, theme.code_font().family())
    document.setDefaultStyleSheet(style + _STYLE)
    document.setDocumentMargin(0)
    drawing = HtmlFormats(code_html, lambda source: _formula(theme, source))
    html = f"<h1>{escape(title)}</h1>\n"
    for view in messages:
        raw = call_text(view) if view.role == "tool" else view.text
        html += f'<p class="author">{escape(_author(view))}</p>\n{_pictures(document, view)}'
        html += portable_part(ExcerptPart(view.role, raw), drawing).html
    # Qt sets the direction of a part of a line only by these control characters.
    document.setHtml(html.replace("<code ", "\u2066<code ").replace("</code>", "</code>\u2069"))
    formulas = FormulaObject(document, theme.formulas)
    formulas.px = FONT_PX
    document.documentLayout().registerHandler(QTextFormat.ObjectTypes.ImageObject.value, formulas)
    formulas.align(document)
    return document


def _author(view: MessageView) -> str:
    if view.role == "user":
        return translate("UserCard", "You")
    if view.role == "tool":
        return translate("Printing", "Tool call")
    return title_of(view.target) or UNKNOWN_AUTHOR


def _formula(theme: Theme, source: str) -> str:
    if not theme.formulas.typeset_later(source):
        return f"<code>{escape(source)}</code>"
    return f'<img src="{formula_address(source)}"/>'


def _pictures(document: QTextDocument, view: MessageView) -> str:
    """A message's pictures, and the names of its other files."""
    html = ""
    for attachment in view.attachments:
        shown = attachment.picture
        if shown is None:
            html += f"<p>{escape(attachment.name)}</p>\n"
            continue
        image = QImage.fromData(shown.data or shown.thumbnail)
        address = f"picture:{shown.digest}"
        document.addResource(QTextDocument.ResourceType.ImageResource.value, address, image)
        size = image.size().boundedTo(
            image.size().scaled(MAX_PICTURE_PX, MAX_PICTURE_PX, Qt.AspectRatioMode.KeepAspectRatio)
        )
        html += f'<p class="picture"><img src="{address}" width="{size.width()}" height="{size.height()}"/></p>\n'
    return html


def paint_pages(document: QTextDocument, device: QPagedPaintDevice, title: str) -> int:
    """Paint a document on numbered pages; returns their count."""
    device.setPageMargins(QMarginsF(*[MARGIN_MM] * 4), QPageLayout.Unit.Millimeter)
    page = QRectF(device.pageLayout().paintRectPixels(PX_PER_INCH))
    room = QSizeF(page.width(), page.height() - FOOTER_PX)
    document.setPageSize(room)
    painter = QPainter(device)
    scale = device.logicalDpiX() / PX_PER_INCH
    total = document.pageCount()
    for number in range(total):
        if number:
            device.newPage()
        painter.save()
        painter.scale(scale, scale)
        painter.save()
        painter.translate(0, -number * room.height())
        context = QAbstractTextDocumentLayout.PaintContext()
        context.clip = QRectF(0, number * room.height(), room.width(), room.height())
        context.palette.setColor(QPalette.ColorRole.Text, LIGHT.text)  # the window's text may be light
        painter.setClipRect(context.clip)
        document.documentLayout().draw(painter, context)
        painter.restore()
        font = QFont(document.defaultFont())
        font.setPixelSize(FONT_PX - 4)
        painter.setFont(font)
        painter.setPen(LIGHT.text_muted)
        foot = QRectF(0, room.height(), room.width(), FOOTER_PX)
        words = translate("Printing", "{number} of {total}").format(number=count(number + 1), total=count(total))
        below = Qt.AlignmentFlag.AlignBottom
        painter.drawText(foot.adjusted(0, 0, -80, 0), below | Qt.TextFlag.TextSingleLine, title)
        painter.drawText(foot, below | Qt.AlignmentFlag.AlignRight, words)
        painter.restore()
    painter.end()
    return total


def ask_print(window: QWidget, theme: Theme, title: str, messages: Sequence[MessageView]) -> None:
    """Let the user choose a printer or a PDF file, and print a chat."""
    from PySide6.QtPrintSupport import QPrintDialog, QPrinter  # noqa: PLC0415  (the first paint waits for no printer)

    printer = QPrinter(QPrinter.PrinterMode.HighResolution)
    printer.setDocName(title)
    dialog = QPrintDialog(printer, window)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.accepted.connect(lambda: paint_pages(chat_document(theme, title, messages, dialog), printer, title))
    dialog.show()
