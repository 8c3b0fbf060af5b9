"""Hostile PDFs: bombs, cycles, endless trees, absurd numbers, impossible fonts and ciphers.

Each results in text or one sentence, in a child process with limited time and memory, and no process is left.
"""

import io
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from app.core.attachments import reading
from app.core.attachments.reading import MAX_CHARS, read_attachment
from app.core.domain.attachment_errors import AttachmentError, DocumentDamagedError

CATALOG = "<< /Type /Catalog /Pages 2 0 R >>"
ONE_PAGE = "<< /Type /Pages /Kids [4 0 R] /Count 1 >>"
FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
WORDS = b"BT /F1 12 Tf (words) Tj ET"
CMAP = (
    b"/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <0000> <FFFFFFFF> endcodespacerange\n"
    b"1 beginbfrange <00000000> <FFFFFFFF> <0000> endbfrange endcmap"
)
PIPES = "/Type /XObject /Subtype /Form /Resources << /XObject << /X {} 0 R >> >> "


def whole(objects: Sequence[str | bytes], more: str = "") -> bytes:
    """A PDF of these objects, numbered from 1; the first is the catalogue."""
    out = io.BytesIO(b"%PDF-1.7\n")
    out.seek(0, io.SEEK_END)
    places = []
    for number, each in enumerate(objects, start=1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, each if isinstance(each, bytes) else each.encode("latin-1")))
    start = out.tell()
    out.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode())
    out.writelines(f"{place:010} 00000 n \n".encode() for place in places)
    out.write(f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R {more}>>\nstartxref\n{start}\n%%EOF\n".encode())
    return out.getvalue()


def stream(content: bytes, more: str = "") -> bytes:
    return f"<< /Length {len(content)} {more}>>\nstream\n".encode() + content + b"\nendstream"


def page(contents: str, resources: str = "/Font << /F1 3 0 R >>") -> str:
    place = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792]"
    return f"{place} /Resources << {resources} >> /Contents {contents} >>"


def of_one_page(content: bytes, font: str = FONT, *others: bytes, more: str = "") -> bytes:
    return whole([CATALOG, ONE_PAGE, font, page("5 0 R"), content, *others], more)


def blanks(num_mb: int) -> bytes:
    """Spaces, deflated. One megabyte is compressed and repeated: compressing all would take ten seconds."""
    packer, count = zlib.compressobj(9), num_mb * 2**20
    packed = packer.compress(b" " * 2**20) + packer.flush(zlib.Z_FULL_FLUSH)
    head, block = packed[:2], packed[2:]
    sums = (count + 32 * count * (count + 1) // 2) % 65521, (1 + 32 * count) % 65521  # Adler-32, which 32 is added to
    return head + block * num_mb + zlib.compress(b"")[2:4] + struct.pack(">HH", *sums)


def forms(depth: int) -> bytes:
    """Forms that each draw the next one twice."""
    resources = "/XObject << /X 6 0 R >>"
    inner = [stream(b"/X Do /X Do", PIPES.format(number)) for number in range(7, 7 + depth)]
    return whole(
        [CATALOG, ONE_PAGE, FONT, page("5 0 R", resources), stream(b"/X Do"), *inner,
         stream(WORDS, "/Type /XObject /Subtype /Form ")]
    )  # fmt: skip


def tree(depth: int, kids: int) -> bytes:
    """Nested page nodes; each refers to the next one several times."""
    nodes = [f"<< /Type /Pages /Kids [{f'{number} 0 R ' * kids}] /Count 1 >>" for number in range(3, 3 + depth)]
    return whole([CATALOG, *nodes, "<< /Type /Page >>"])


BROKEN_CIPHER = (
    "/Encrypt << /Filter /Standard /V 5 /R 6 /Length 256 /O (x) /U (y) /OE (x) /UE (x) /Perms (x) /P -1 "
    "/CF << /StdCF << /CFM /AESV3 >> >> /StmF /StdCF /StrF /StdCF >> /ID [(a)(b)] "
)
HOSTILE = {
    "a bomb": of_one_page(stream(blanks(1500), "/Filter /FlateDecode ")),
    "a bomb within": of_one_page(stream(zlib.compress(blanks(500)), "/Filter [/FlateDecode /FlateDecode] ")),
    "runs": of_one_page(stream(b"\x81 " * 2_000_000, "/Filter /RunLengthDecode ")),
    "filters": of_one_page(stream(b"x", "/Filter [" + "/FlateDecode " * 20_000 + "] ")),
    "pages of themselves": whole([CATALOG, "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>"]),
    "a tree that doubles": tree(60, 2),
    "a deep tree": tree(20_000, 1),
    "a million times one page": whole([CATALOG, f"<< /Type /Pages /Kids [{'4 0 R ' * 10**6}] /Count 1 >>", FONT,
                                       page("5 0 R"), stream(WORDS)]),
    "deep lists": of_one_page(b"[" * 50_000 + b"]" * 50_000),
    "deep tables": of_one_page(b"<< /A " * 20_000 + b">>" * 20_000),
    "a length of itself": of_one_page(b"<< /Length 5 0 R >>\nstream\nxx\nendstream"),
    "a form of itself": whole([CATALOG, ONE_PAGE, FONT, page("5 0 R", "/XObject << /X 6 0 R >>"), stream(b"/X Do"),
                               stream(b"/X Do", PIPES.format(6))]),
    "forms that double": forms(40),
    "a font of four billion signs": of_one_page(
        stream(b"BT /F1 12 Tf <0001> Tj ET"),
        "<< /Type /Font /Subtype /Type0 /BaseFont /X /ToUnicode 6 0 R /Encoding /Identity-H /DescendantFonts "
        "[<< /Type /Font /Subtype /CIDFontType2 /W [0 4000000000 500] >>] >>", stream(CMAP)),
    "a font with widths for all": of_one_page(
        stream(WORDS), "<< /Type /Font /Subtype /Type1 /BaseFont /X /FirstChar 0 /LastChar 9999999999 /Widths [1] >>"),
    "open brackets": of_one_page(stream(b"BT " + b"(" * 500_000)),
    "an index of itself": of_one_page(stream(WORDS), more="/Prev 9 "),
    "an index of ten billion": b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\nxref\n0 9999999999\n"
    b"0000000000 65535 f \ntrailer\n<< /Size 9999999999 /Root 1 0 R >>\nstartxref\n43\n%%EOF\n",
    "a cipher that cannot be": of_one_page(stream(WORDS), more=BROKEN_CIPHER),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_it_ends_as_text_or_as_one_sentence(tmp_path: Path, name: str) -> None:
    path = tmp_path / "paper.pdf"
    path.write_bytes(HOSTILE[name])
    try:
        told = read_attachment(path)[0].text
        assert len(told) <= MAX_CHARS
    except AttachmentError as error:
        told = error.message
        assert "paper.pdf" in told
        assert "within 60" not in told
    assert told
    assert [each for each in psutil.Process().children() if "document" in each.cmdline()] == []


def test_a_count_that_lies_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "paper.pdf"
    lie = "<< /Type /Pages /Kids [4 0 R] /Count 1000000000 >>"
    path.write_bytes(whole([CATALOG, lie, FONT, page("5 0 R"), stream(WORDS)]))
    assert read_attachment(path)[0].text == "words"


def test_a_bomb_is_reported_as_one(tmp_path: Path) -> None:
    path = tmp_path / "paper.pdf"
    path.write_bytes(HOSTILE["a bomb"])
    with pytest.raises(DocumentDamagedError, match="more memory"):
        read_attachment(path)


def test_one_damaged_page_does_not_take_the_others_away(tmp_path: Path) -> None:
    path = tmp_path / "paper.pdf"
    kids = "<< /Type /Pages /Kids [4 0 R 6 0 R 4 0 R] /Count 3 >>"
    broken = stream(b"BT /F1 12 Tf (never) Tj ET", "/Filter /Nonsense ")
    path.write_bytes(whole([CATALOG, kids, FONT, page("5 0 R"), stream(WORDS), page("7 0 R"), broken]))
    attachment, notice = read_attachment(path)
    assert attachment.text == "words\n\nwords"
    assert "1 of the 3 pages" in notice


def test_a_page_that_takes_for_ever_is_given_up_and_its_reader_ended(tmp_path: Path) -> None:
    path = tmp_path / "paper.pdf"
    path.write_bytes(
        of_one_page(stream(zlib.compress(b"BT /F1 12 Tf (a) Tj ET " * 3_000_000), "/Filter /FlateDecode "))
    )
    with pytest.raises(DocumentDamagedError, match="within 1 seconds"):
        reading.read_document(path, "paper.pdf", MAX_CHARS, limit_s=1.0)
    assert [each for each in psutil.Process().children() if "document" in each.cmdline()] == []
