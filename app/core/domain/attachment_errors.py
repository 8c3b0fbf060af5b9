"""Why a file cannot be attached to a message: one class for each reason, with what to do."""

from __future__ import annotations

from app.core.domain.errors import AppError


class AttachmentError(AppError):
    """A file could not be attached."""

    title = "The file could not be attached"
    default_advice = "Attach another file, or paste the part that matters."


class FileUnreadableError(AttachmentError):
    """The file is gone, may not be read, or is none."""

    default_advice = "Check that it is still there and that you may read it."


class FileTooLargeError(AttachmentError):
    """The file is longer than any context."""

    default_advice = "Attach the part that matters, or paste it into the message."


class NotTextError(AttachmentError):
    """The file holds no text."""

    default_advice = (
        "Attach text, code, a PDF with text, an office document, or a book as EPUB; others can be exported as one."
    )


class NoTextError(AttachmentError):
    """There is no text in the file."""

    default_advice = "Choose another file."


class DocumentLockedError(AttachmentError):
    """The document asks for a password."""

    default_advice = "Save a copy without a password, and attach that."


class DocumentDamagedError(AttachmentError):
    """The document cannot be understood, or takes too long."""

    default_advice = "Open it in its own program and save or print it again, or copy the text that matters."


class TooManyFilesError(AttachmentError):
    """The message has as many attachments as it may have."""

    title = "Not all files were attached"
    default_advice = "Remove some, or send them in several messages."
