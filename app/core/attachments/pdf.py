"""The text of a PDF, read by a child process with bounded time and memory: the file is a stranger's.

The child process is `app.core.attachments.pdf_child`; here it is started, watched, and its failures become sentences.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from app.core.attachments import READER_FLAG
from app.core.domain.attachment_errors import (
    AttachmentError,
    FileTooLargeError,
    FileUnreadableError,
    NoTextError,
    PdfDamagedError,
    PdfLockedError,
)
from engine.sandbox.process import child_environment, creation_flags
from engine.sentences import said

log = logging.getLogger(__name__)

MAX_PDF_BYTES = 200_000_000
LIMIT_S = 60.0
_POLL_S = 0.1
_OCR = said("Recognise its text first (OCR), or paste the text that matters.")


def read_pdf(
    path: Path, name: str, max_chars: int, should_stop: Callable[[], bool] = lambda: False, limit_s: float = LIMIT_S
) -> tuple[str, str]:
    """Give the text, and what a person should know of it.

    Raises:
        AttachmentError: it cannot be used; the sentence says why.
    """
    answer = _ask_child(path, name, max_chars, should_stop, limit_s)
    kind = answer.get("error")
    if kind is not None:
        raise _refusal(str(kind), name, max_chars)
    text, empty, pages = str(answer["text"]), int(str(answer["empty_pages"])), int(str(answer["pages"]))
    if not text.strip():
        raise NoTextError(said("“{name}” has no text: its pages are scanned images.", name=name), _OCR)
    if not empty:
        return text, ""
    if empty == 1:
        return text, said("1 of the {pages} pages of “{name}” has no text that could be read.", pages=pages, name=name)
    return text, said(
        "{empty} of the {pages} pages of “{name}” have no text that could be read.", empty=empty, pages=pages, name=name
    )


def _ask_child(
    path: Path, name: str, max_chars: int, should_stop: Callable[[], bool], limit_s: float
) -> dict[str, object]:
    its_end, our_end = os.pipe()  # the child ends when ours closes, so it does not outlive us
    child = subprocess.Popen(  # noqa: S603  (our own interpreter and module)
        [*_command(), str(path.absolute()), str(max_chars), str(int(limit_s) + 1)],
        stdin=its_end,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # a library's complaints may quote the file
        env=child_environment(bare=True),
        creationflags=creation_flags(),
    )
    os.close(its_end)
    try:
        output = _wait(child, name, should_stop, limit_s)
    finally:
        child.kill()
        child.communicate()
        os.close(our_end)
    try:
        answer: dict[str, object] = json.loads(output.splitlines()[-1])
    except (ValueError, IndexError) as error:
        log.info("the reader of a PDF ended with %s and without an answer", child.returncode)
        raise PdfDamagedError(
            said("“{name}” could not be read: it took too much memory, or reading stopped unexpectedly.", name=name)
        ) from error
    return answer


def _command() -> list[str]:
    if getattr(sys, "frozen", False):
        return [sys.executable, READER_FLAG]
    # -P: a stray module in the current folder must not be imported.
    return [sys.executable, "-P", "-m", "app.core.attachments.pdf_child"]


def _wait(child: subprocess.Popen[bytes], name: str, should_stop: Callable[[], bool], limit_s: float) -> bytes:
    end = time.monotonic() + limit_s
    while True:
        try:
            return child.communicate(timeout=_POLL_S)[0]
        except subprocess.TimeoutExpired:
            if time.monotonic() > end:
                message = said("“{name}” could not be read within {limit_s:.0f} seconds.", name=name, limit_s=limit_s)
                raise PdfDamagedError(message, "Attach a PDF of the pages that matter.") from None
            if should_stop():
                raise AttachmentError(
                    said("Reading “{name}” was cancelled.", name=name), "Attach it again if you need it."
                ) from None


def _refusal(kind: str, name: str, max_chars: int) -> AttachmentError:
    if kind == "locked":
        return PdfLockedError(said("“{name}” is password-protected.", name=name))
    if kind == "cipher":
        return PdfDamagedError(said("“{name}” uses a kind of encryption that is not supported.", name=name))
    if kind == "long":
        return FileTooLargeError(
            said("“{name}” has more than {limit:,} characters of text.", name=name, limit=max_chars)
        )
    if kind == "gone":
        return FileUnreadableError(said("“{name}” no longer exists or cannot be read.", name=name))
    if kind == "memory":
        return PdfDamagedError(said("Reading “{name}” takes more memory than a PDF of its size should.", name=name))
    return PdfDamagedError(said("“{name}” is damaged or not a PDF.", name=name))
