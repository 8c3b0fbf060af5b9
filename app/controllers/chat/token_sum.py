"""Counts the tokens of the next message with the loaded vocabulary and shows the sum in the composer."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from PySide6.QtCore import QTimer, Signal

from app.controllers.parts import Parts, PartsController
from app.core.domain.attachments import Attachment
from app.core.domain.errors import StorageError
from app.core.domain.framing import as_prompt
from app.core.domain.requests import picture_sizes, prompt_messages
from engine.records import MIN_ANSWER_TOKENS, CountRequest, PictureSize, TokensCounted
from engine.requests import next_request_id
from ui.composer.context_meter import ContextSum

log = logging.getLogger(__name__)

TYPING_PAUSE_MS = 250  # pause after the last key
TEMPLATE_TOKENS_PER_MESSAGE = 8  # approximate length of the template's text around a message

CountKey = tuple[str, int | str]


class TokenSumController(PartsController):
    """Counts each text once, and again for another model."""

    counted = Signal()  # an attachment was counted, or can no longer be counted

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._attachments: tuple[Attachment, ...] = ()
        self._size: int | None = None  # tokens of the context; None: no text can be counted
        self._counts: dict[CountKey, int] = {}
        self._sizes: tuple[PictureSize, ...] = ()  # the conversation's pictures, if the model has vision
        self._unanswered: tuple[str, ...] = ()  # the unanswered questions, once the conversation was read
        self._waiting: dict[int, tuple[CountKey, ...]] = {}
        self._timer = QTimer(self, singleShot=True, interval=TYPING_PAUSE_MS)
        self._timer.timeout.connect(self.update)
        self._window.composer.text_changed.connect(self._on_text)
        self._state.chat_settings_changed.connect(self.update)
        self._state.tools_changed.connect(self.update)

    @property
    def can_count(self) -> bool:
        return self._size is not None

    def count_of(self, attachment_id: int) -> int | None:
        """Tokens of an attachment; None while it is not counted."""
        return self._counts.get(("attachment", attachment_id))

    def set_attachments(self, attachments: Sequence[Attachment]) -> None:
        self._attachments = tuple(attachments)
        self.update()

    def model_changed(self, num_tokens: int) -> None:
        """Count everything again for a model with a context of ``num_tokens``."""
        self._size = num_tokens or None  # 0: a remote model, whose tokens cannot be counted
        self._counts.clear()
        self._waiting.clear()
        self.update()
        self.counted.emit()

    def conversation_changed(self) -> None:
        self._counts = {key: count for key, count in self._counts.items() if key[0] == "attachment"}
        self.update()

    def on_counted(self, event: TokensCounted) -> None:
        keys = self._waiting.pop(event.request_id, ())
        if event.counts is None or not keys:
            return
        self._counts = {key: count for key, count in self._counts.items() if key[0] != "typed" or key in self._typed()}
        self._counts.update(zip(keys, event.counts, strict=True))
        self._show()
        if any(name == "attachment" for name, _ in keys):
            self.counted.emit()

    def update(self) -> None:
        self._timer.stop()
        if self._size is None or self._is_empty:
            self._show()
            return
        asked = {key for keys in self._waiting.values() for key in keys}
        missing = {key: text for key, text in self._texts().items() if key not in self._counts and key not in asked}
        if missing:
            number = next_request_id()
            self._waiting[number] = tuple(missing)
            self._worker.submit(CountRequest(number, tuple(missing.values())))
        self._show()

    def stop(self) -> None:
        self._timer.stop()
        self._size = None

    @property
    def _is_empty(self) -> bool:
        return not self._attachments and not self._window.composer.text.strip()

    def _typed(self) -> dict[CountKey, str]:
        text = self._window.composer.text
        return {("typed", text): text}

    def _texts(self) -> dict[CountKey, str | PictureSize]:
        """The parts of the sum by key; a conversation that is already counted has an empty text."""
        texts: dict[CountKey, str | PictureSize] = {**self._typed()}
        has_vision = self._parts.decode is not None
        for attachment in self._attachments:
            shown = attachment.picture if has_vision else None
            size = (shown.width, shown.height) if shown is not None else None
            texts[("attachment", attachment.id)] = size or as_prompt(attachment)
        key = self._conversation_key
        if key is not None:
            texts |= self._tools_text()
            texts[key] = "" if key in self._counts else self._history()
            texts |= {("question", question): question for question in self._unanswered}
            texts |= {_picture_key(size): size for size in self._sizes}
        return texts

    def _tools_text(self) -> dict[CountKey, str]:
        text = self._state.tools_text
        return {("tools", text): text} if text else {}

    @property
    def _conversation_key(self) -> CountKey | None:
        """None once the engine has reported the conversation's tokens."""
        return None if self._window.composer.context_used else ("conversation", self._state.chat_id or 0)

    def _history(self) -> str:
        """The messages without unanswered questions at the end; those are counted separately."""
        conversation_id = self._state.chat_id
        try:
            views = self._store.history(conversation_id) if conversation_id is not None else ()
        except StorageError as error:
            log.warning("A conversation could not be counted: %s", error.message)
            views = ()
        self._sizes = picture_sizes(views) if self._parts.decode is not None else ()
        messages = prompt_messages("", views)
        texts = [message.content for message in messages]
        self._unanswered = ()
        if views and views[-1].role == "assistant" and views[-1].text:
            texts.append(views[-1].text)
        elif messages:
            self._unanswered = messages[-1].questions or (messages[-1].content,)
            texts.pop()
        return "\n".join((self._state.settings.text("system_prompt"), *texts))

    def _show(self) -> None:
        if self._size is None or self._is_empty:
            self._window.composer.show_sum(None)
            return
        key = self._conversation_key
        conversation = self._window.composer.context_used if key is None else self._with_unanswered(key)
        typed = self._counts.get(("typed", self._window.composer.text))
        attached = [self.count_of(attachment.id) for attachment in self._attachments]
        parts = (conversation, typed, *attached)
        self._window.composer.show_sum(
            ContextSum(
                conversation=conversation or 0,
                attached=sum(count or 0 for count in attached),
                typed=(typed or 0) + TEMPLATE_TOKENS_PER_MESSAGE,
                size=self._size,
                complete=all(part is not None for part in parts),
            )
        )

    def _with_unanswered(self, key: CountKey) -> int | None:
        """Tokens of the conversation, without unanswered questions that alone exceed the context."""
        counts = [self._counts.get(("question", question)) for question in self._unanswered]
        conversation = self._counts.get(key)
        besides = (*self._tools_text(), *(_picture_key(size) for size in self._sizes))
        others = [self._counts.get(key) for key in besides]
        if conversation is None or None in counts or None in others:
            return None
        conversation += sum(count or 0 for count in others)
        return conversation + sum(count for count in counts if count and count <= (self._size or 0) - MIN_ANSWER_TOKENS)

    def _on_text(self, _text: str) -> None:
        if self._is_empty:
            self.update()
        else:
            self._timer.start()


def _picture_key(size: PictureSize) -> CountKey:
    return "picture", f"{size[0]} {size[1]}"
