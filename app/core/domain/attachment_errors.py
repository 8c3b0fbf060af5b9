"""The reasons why a file cannot be attached: one class each, with advice."""

from app.core.domain.errors import AppError


class AttachmentError(AppError):
    title = "The file could not be attached"
    default_advice = "Attach another file, or paste the part that matters."


class FileUnreadableError(AttachmentError):
    default_advice = "Check that it is still there and that you may read it."


class FileTooLargeError(AttachmentError):
    default_advice = "Attach the part that matters, or paste it into the message."


class NotTextError(AttachmentError):
    default_advice = (
        "Attach text, code, a PDF with text, an office document, or a book as EPUB; export other files to one of these."
    )


class NoTextError(AttachmentError):
    default_advice = "Choose another file."


class DocumentLockedError(AttachmentError):
    default_advice = "Save a copy without a password, and attach that."


class DocumentDamagedError(AttachmentError):
    default_advice = "Open it in its own program and save or print it again, or copy the text that matters."


class TooManyFilesError(AttachmentError):
    title = "Not all files were attached"
    default_advice = "Remove some, or send them in several messages."
