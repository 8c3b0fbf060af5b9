"""The attachments of the unsent message: read, stored, shown and removed; opens shown attachments.

Files are read by `app.core.attachments`.
"""

import itertools
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice
from PySide6.QtGui import QImage

from app.controllers.chat.transfer import TransferController
from app.controllers.chat.unsent import UnsentController
from app.controllers.parts import Parts, PartsController
from app.core.domain.attachment_errors import AttachmentError, TooManyFilesError
from app.core.domain.attachments import Attachment
from app.core.domain.context import estimated_picture_tokens, estimated_tokens
from app.core.domain.errors import AppError, StorageError
from app.core.domain.file_kinds import kind_of, shown_name
from app.core.domain.framing import as_prompt
from engine.records import Problem
from engine.sentences import i18n, joined
from ui.composer.message_edit import fits_box
from ui.text.language import Translator

tr = Translator("Attachments")

log = logging.getLogger(__name__)

MAX_ATTACHMENTS = 12  # attachments of one message
MAX_SHOWN_REFUSALS = 3


@dataclass(frozen=True, slots=True)
class _ReadRequest:
    """A file, or a pasted ``text`` or ``picture``, for the unsent message of a chat.

    ``picture`` returns the bytes of a picture file; it is called on the reading thread.
    """

    key: int
    conversation_id: int | None
    name: str
    path: Path | None
    text: str
    may_import: bool
    picture: Callable[[], bytes] | None


class AttachmentController(PartsController):
    """Manages the attachments of the open chat's unsent message; `UnsentController` manages its text."""

    def __init__(self, parts: Parts, unsent: UnsentController, transfer: TransferController) -> None:
        super().__init__(parts)
        self._transfer = transfer
        self._unsent_attachments: list[Attachment] = []
        self._reading: dict[int, _ReadRequest] = {}  # requested files by key; the first is being read
        self._is_reading = False
        self._refused: list[Problem] = []
        self._num_requests = 0
        unsent.opened.connect(self._open)
        self._state.models_changed.connect(self._show)  # another model may see pictures
        composer, window = self._window.composer, self._window
        composer.files_offered.connect(self.attach_files)
        composer.text_offered.connect(self.attach_text)
        composer.edit.picture_pasted.connect(self.attach_picture)
        composer.attachment_removed.connect(self.remove)
        composer.attachment_opened.connect(self.open_attachment)
        window.transcript.attachment_opened.connect(self.open_attachment)
        window.drop_zone.files_dropped.connect(self._on_dropped)
        self._show()

    def attach_files(self, paths: Sequence[str], *, may_import: bool = False) -> None:
        """Read files and attach them to the unsent message; with ``may_import`` an export is imported instead."""
        files = [(Path(path).name or path, Path(path), "") for path in paths]
        self._request(files, may_import=may_import)

    def attach_text(self, text: str) -> None:
        self._request([(self._unused_name(tr("Pasted text"), "txt"), None, text)])

    def attach_picture(self, image: QImage) -> None:
        name = self._unused_name(tr("Pasted picture"), "png")
        self._request([(name, None, "")], picture=lambda: _png(image))

    def remove(self, attachment_id: int) -> None:
        """Remove an attachment; a file that is still being read is cancelled."""
        if self._reading.pop(-attachment_id, None) is None and any(
            each.id == attachment_id for each in self._unsent_attachments
        ):
            self._unsent_attachments = [each for each in self._unsent_attachments if each.id != attachment_id]
            try:
                self._store.attachments.remove(attachment_id)
            except StorageError as error:
                log.warning("An attachment could not be removed: %s", error.message)
        self._show()

    def open_attachment(self, attachment_id: int) -> None:
        found = self._attempt(lambda: self._store.attachments.read(attachment_id))
        if found is not None:
            from ui.composer.attachments.reader import AttachmentDialog  # noqa: PLC0415  (opened by a click)

            AttachmentDialog(self._window.theme, self._with_tokens(found), self._window).open()

    def _open(self, conversation_id: int | None) -> None:
        try:
            self._unsent_attachments = list(self._store.attachments.unsent(conversation_id))
        except StorageError as error:
            log.warning("The unsent attachments could not be read: %s", error.message)
            self._unsent_attachments = []
        self._show()

    def _show(self) -> None:
        shown = [replace(self._with_tokens(each), text="") for each in self._unsent_attachments]
        notes = [self._picture_note if each.picture else "" for each in shown]
        reading = self._reading_here
        shown += [Attachment(-request.key, shown_name(request.name), kind_of(request.name), 0) for request in reading]
        notes += [tr("reading")] * len(reading)
        self._window.composer.show_attachments(shown, notes, reading=bool(reading))
        blind = bool(self._picture_note) and any(each.picture for each in self._unsent_attachments)
        words = tr("This model cannot see pictures. It only gets their names.") if blind else ""
        self._window.composer.tray.show_vision_note(words)

    def _with_tokens(self, attachment: Attachment) -> Attachment:
        picture = attachment.picture if self._parts.decode is not None else None
        tokens = estimated_tokens(as_prompt(attachment))
        tokens = tokens if picture is None else estimated_picture_tokens(picture.width, picture.height)
        return replace(attachment, num_tokens=tokens)

    @property
    def _picture_note(self) -> str:
        """The note on an attached picture if the loaded model has no vision; otherwise empty."""
        models = self._state.models
        return "" if models.loaded is None or models.has_vision else tr("this model cannot see it")

    @property
    def _reading_here(self) -> list[_ReadRequest]:
        here = self._state.chat_id
        return [request for request in self._reading.values() if request.conversation_id == here]

    def _on_dropped(self, paths: Sequence[str]) -> None:
        self._window.show_chat()
        self.attach_files(paths, may_import=True)
        self._window.composer.setFocus()

    def _request(
        self,
        files: Sequence[tuple[str, Path | None, str]],
        *,
        may_import: bool = False,
        picture: Callable[[], bytes] | None = None,
    ) -> None:
        here = self._state.chat_id
        room = MAX_ATTACHMENTS - len(self._unsent_attachments) - len(self._reading_here)
        for name, path, text in files[: max(room, 0)]:
            self._num_requests += 1
            request = _ReadRequest(self._num_requests, here, name, path, text, may_import, picture)
            self._reading[request.key] = request
        self._read_next()
        if len(files) > room:
            self._refused.append(TooManyFilesError(_too_many(len(files) - max(room, 0))).problem)
            self._report_refusals()
        self._show()

    def _unused_name(self, first: str, ending: str) -> str:
        taken = {each.name for each in self._unsent_attachments} | {each.name for each in self._reading_here}
        names = (f"{first}{f' {number}' if number > 1 else ''}.{ending}" for number in itertools.count(1))
        return next(name for name in names if name not in taken)

    def _read_next(self) -> None:
        """Read the next file, one at a time."""
        if self._is_reading or not self._reading:
            return
        self._is_reading = True
        request = next(iter(self._reading.values()))
        self._jobs.run(
            "attachment",
            lambda stop: self._read(request, lambda: stop() or request.key not in self._reading),
            partial(self._on_read, request),
            partial(self._on_refused, request),
            writes=True,
        )

    def _read(self, request: _ReadRequest, should_stop: Callable[[], bool]) -> tuple[Attachment | None, str]:
        """Read and store a file; also a notice about parts not read. None for an export of chats, to import.

        Raises:
            AppError: it cannot be read or stored.
        """
        # Imported with the first file, on its thread: the readers of all formats load slowly.
        from app.core.attachments.reading import read_attachment, text_attachment  # noqa: PLC0415
        from app.core.storage.exchange.reading import may_be_export  # noqa: PLC0415
        from app.core.storage.pictures import picture_attachment  # noqa: PLC0415

        notice = ""
        try:
            if request.picture is not None:
                attachment = picture_attachment(request.name, request.picture())
            elif request.path is None:
                attachment = text_attachment(request.name, request.text)
            elif request.may_import and may_be_export(request.path):
                return None, ""
            else:
                attachment, notice = read_attachment(request.path, should_stop)
            return self._store.attachments.add_unsent(request.conversation_id, attachment), notice
        except AppError:
            raise
        except Exception as error:  # noqa: BLE001  (whatever a strange file brings about, the next one is read)
            kind = type(error).__name__
            log.error("an attachment could not be read: %s", kind)  # noqa: TRY400 (no contents)
            words = i18n("“{name}” could not be read ({kind}).", name=shown_name(request.name), kind=kind)
            raise AttachmentError(words) from None

    def _on_read(self, request: _ReadRequest, read: tuple[Attachment | None, str]) -> None:
        made, notice = read
        if self._reading.pop(request.key, None) is None:  # the user removed it before it was stored
            if made is not None:
                self._store.attachments.remove(made.id)
        elif made is None and request.path is not None:
            self._transfer.import_files([request.path])
        elif made is not None and request.conversation_id == self._state.chat_id:
            # If the chat was opened after storing, it is already listed.
            others = [each for each in self._unsent_attachments if each.id != made.id]
            self._unsent_attachments = [*others, made]
        if notice:
            self._window.show_notice(notice)
        self._after_reading()

    def _on_refused(self, request: _ReadRequest, problem: Problem) -> None:
        if self._reading.pop(request.key, None) is not None:  # else the user removed it
            self._refused.append(problem)
            # Pasted text returns to the composer; text that does not fit is still in the clipboard.
            if request.path is None and request.text and fits_box(request.text):
                self._window.composer.edit.insertPlainText(request.text)
        self._after_reading()

    def _after_reading(self) -> None:
        self._is_reading = False
        self._read_next()
        self._report_refusals()
        self._show()

    def _report_refusals(self) -> None:
        """Report rejected files as one problem, since the window shows one at a time."""
        if self._reading or not self._refused:
            return
        refused, self._refused = self._refused, []
        if len(refused) == 1:
            self._window.show_problem(refused[0])
            return
        sentences = [problem.message for problem in refused[:MAX_SHOWN_REFUSALS]]
        if len(refused) > MAX_SHOWN_REFUSALS:
            sentences.append(
                i18n("{num_more} more could not be attached either.", num_more=len(refused) - MAX_SHOWN_REFUSALS)
            )
        title = i18n("{num_files} files could not be attached", num_files=len(refused))
        self._window.show_problem(Problem(title, joined(sentences), refused[0].advice))


def _png(image: QImage) -> bytes:
    """Encode a picture for the process that decodes pictures."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())


def _too_many(num_files: int) -> str:
    """The problem for more files than a message may have."""
    if num_files == 1:
        return i18n("A message can have {limit} attachments; 1 more was chosen.", limit=MAX_ATTACHMENTS)
    return i18n(
        "A message can have {limit} attachments; {num_files} more were chosen.",
        limit=MAX_ATTACHMENTS,
        num_files=num_files,
    )
