"""Shows in the composer how many tokens the next message takes, with the conversation before it."""

import logging
from collections.abc import Sequence

from PySide6.QtCore import QTimer, Signal

from app.controllers.parts import Parts, PartsController
from app.controllers.token_counts import Countable
from app.core.domain.attachments import Attachment
from app.core.domain.errors import StorageError
from app.core.domain.framing import as_prompt
from app.core.domain.requests import picture_sizes, prompt_messages
from engine.records import MIN_ANSWER_TOKENS
from ui.composer.context_meter import ContextSum

log = logging.getLogger(__name__)

TYPING_PAUSE_MS = 250  # pause after the last key
TEMPLATE_TOKENS_PER_MESSAGE = 8  # approximate length of the template's text around a message


class TokenSumController(PartsController):
    changed = Signal()  # an attachment was counted, or can no longer be counted

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._counts = parts.counts
        self._attachments: tuple[Attachment, ...] = ()
        # The conversation's texts and pictures, and its unanswered questions at the end; None: read them again.
        self._conversation: tuple[list[Countable], tuple[str, ...]] | None = None
        self._timer = QTimer(self, singleShot=True, interval=TYPING_PAUSE_MS)
        self._timer.timeout.connect(self.update)
        self._window.composer.text_changed.connect(self._on_text)
        self._state.chat_settings_changed.connect(self.update)
        self._state.tools_changed.connect(self.update)
        self._counts.counted.connect(self._on_counted)

    def count_of(self, attachment_id: int) -> int | None:
        """Tokens of an unsent attachment; None while it is not counted."""
        found = next((one for one in self._attachments if one.id == attachment_id), None)
        return None if found is None else self._counts.of(self._countable(found))

    def set_attachments(self, attachments: Sequence[Attachment]) -> None:
        self._attachments = tuple(attachments)
        self.update()

    def conversation_changed(self) -> None:
        self._conversation = None
        self.update()

    def stop(self) -> None:
        self._timer.stop()
        self._counts.size = 0

    def _on_counted(self) -> None:
        self.update()
        self.changed.emit()

    def update(self) -> None:
        """Request the counts that are missing, and show the sum of those that are known."""
        self._timer.stop()
        text, size = self._window.composer.text, self._counts.size
        if not size or self._is_empty:
            self._window.composer.show_sum(None)
            return
        attached = [self._countable(one) for one in self._attachments]
        self._counts.request([text, *attached])
        typed, counts = self._counts.of(text), [self._counts.of(one) for one in attached]
        conversation = self._window.composer.context_used or self._count_conversation()
        self._window.composer.show_sum(
            ContextSum(
                conversation=conversation or 0,
                attached=sum(count or 0 for count in counts),
                typed=(typed or 0) + TEMPLATE_TOKENS_PER_MESSAGE,
                size=size,
                complete=None not in (conversation, typed, *counts),
            )
        )

    @property
    def _is_empty(self) -> bool:
        return not self._attachments and not self._window.composer.text.strip()

    def _countable(self, attachment: Attachment) -> Countable:
        shown = attachment.picture if self._parts.decode is not None else None
        return as_prompt(attachment) if shown is None else (shown.width, shown.height)

    def _count_conversation(self) -> int | None:
        """Tokens of the conversation, without unanswered questions that alone exceed the context."""
        if self._conversation is None:
            self._conversation = self._read_conversation()
        texts, questions = self._conversation
        texts = [*texts, self._state.tools_text]
        self._counts.request([*texts, *questions])
        told, asked = self._counts.of_all(texts), [self._counts.of(question) for question in questions]
        if told is None or None in asked:
            return None
        return told + sum(count for count in asked if count and count <= self._counts.size - MIN_ANSWER_TOKENS)

    def _read_conversation(self) -> tuple[list[Countable], tuple[str, ...]]:
        conversation_id = self._state.chat_id
        try:
            views = self._store.history(conversation_id) if conversation_id is not None else ()
        except StorageError as error:
            log.warning("A conversation could not be counted: %s", error.message)
            views = ()
        messages = prompt_messages("", views)
        texts, unanswered = [message.content for message in messages], tuple[str, ...]()
        if views and views[-1].role == "assistant" and views[-1].text:
            texts.append(views[-1].text)
        elif messages:
            unanswered = messages[-1].questions or (messages[-1].content,)
            texts.pop()
        sizes = picture_sizes(views) if self._parts.decode is not None else ()
        return ["\n".join((self._state.settings.text("system_prompt"), *texts)), *sizes], unanswered

    def _on_text(self, _text: str) -> None:
        if self._is_empty:
            self.update()
        else:
            self._timer.start()
