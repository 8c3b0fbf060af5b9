"""Small handwritten PDFs: with text, without text, encrypted, damaged."""

import io
from collections.abc import Sequence

import pypdf


def with_text(pages: Sequence[str]) -> bytes:
    """A PDF with one line of text per page; an empty line makes a page without text."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(count))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, line in enumerate(pages):
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> "
            f"/Contents {5 + 2 * number} 0 R >>"
        )
        stream = f"BT /F1 12 Tf 72 720 Td ({line}) Tj ET" if line else ""
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    out = io.BytesIO()
    out.write(b"%PDF-1.4\n")
    places = []
    for number, text in enumerate(objects, start=1):
        places.append(out.tell())
        out.write(f"{number} 0 obj\n{text}\nendobj\n".encode("latin-1"))
    start = out.tell()
    out.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode())
    out.writelines(f"{place:010} 00000 n \n".encode() for place in places)
    out.write(f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode())
    return out.getvalue()


def locked(password: str, algorithm: str = "RC4-128") -> bytes:
    """A PDF with this password; an empty password opens it for everybody."""
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(with_text(["behind the door"])))
    writer.encrypt(user_password=password, algorithm=algorithm)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()
