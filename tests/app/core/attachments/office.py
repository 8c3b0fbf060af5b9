"""Office documents in the supported formats, created with the usual libraries."""

import io
import zipfile

import docx
import openpyxl
import pptx
from pptx.util import Inches


def word(*blocks: str) -> bytes:
    """A Word document from blocks: ``# `` begins a heading, ``|`` a table row."""
    document = docx.Document()
    for block in blocks:
        if block.startswith("# "):
            document.add_heading(block[2:], 1)
        elif block.startswith("|"):
            cells = block.strip("|").split("|")
            row = document.add_table(1, len(cells)).rows[0]
            for cell, text in zip(row.cells, cells, strict=True):
                cell.text = text
        else:
            document.add_paragraph(block)
    return _saved(document.save)


def slides(*texts: tuple[str, str]) -> bytes:
    """A presentation with a title and a text per slide."""
    shown = pptx.Presentation()
    for title, text in texts:
        slide = shown.slides.add_slide(shown.slide_layouts[5])
        slide.shapes.title.text = title
        slide.shapes.add_textbox(Inches(1), Inches(2), Inches(5), Inches(2)).text_frame.text = text
    return _saved(shown.save)


def sheet(title: str, *rows: tuple[object, ...]) -> bytes:
    """A workbook with one sheet."""
    book = openpyxl.Workbook()
    book.active.title = title
    for row in rows:
        book.active.append(row)
    return _saved(book.save)


def book(*chapters: str) -> bytes:
    """An EPUB from the XHTML bodies of its chapters."""
    out = io.BytesIO()
    names = [f"ch{number}.xhtml" for number in range(len(chapters))]
    items = "".join(
        f'<item id="i{n}" href="text/{name}" media-type="application/xhtml+xml"/>' for n, name in enumerate(names)
    )
    spine = "".join(f'<itemref idref="i{number}"/>' for number in range(len(names)))
    with zipfile.ZipFile(out, "w") as packed:
        packed.writestr("mimetype", "application/epub+zip")
        packed.writestr(
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
        )
        packed.writestr(
            "OEBPS/book.opf",
            f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{items}</manifest><spine>{spine}</spine></package>',
        )
        for name, body in zip(names, chapters, strict=True):
            page = f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body>{body}</body></html>'
            packed.writestr(f"OEBPS/text/{name}", page)
    return out.getvalue()


def _saved(save: object) -> bytes:
    out = io.BytesIO()
    assert callable(save)
    save(out)
    return out.getvalue()
