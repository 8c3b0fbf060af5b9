"""Screen reader support: roles that Qt lacks, and announcements during an answer."""

import re
from functools import cache

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget, QLabel, QWidget

from app.core.domain.messages import MessageView
from app.core.domain.thinking import split_thinking
from app.core.domain.tools.calls import CallStatus
from ui.text.language import mark, translate

ROLES = {  # by class or object names
    "messageList": QAccessible.Role.List,
    "UserCard": QAccessible.Role.ListItem,
    "AnswerCard": QAccessible.Role.ListItem,
    "ToolCard": QAccessible.Role.ListItem,
}
HEADINGS = ("title", "heading", "section")  # label kinds that are headings
_SENTENCE_END = re.compile(r"[.!?:…。！？]+(?=\s)|\n+")
_MARKS = str.maketrans("", "", "*`#|")  # Markdown characters
_CALLS = {
    CallStatus.ASKED: mark("AnswerSpeech", "{tool} waits for your permission."),
    CallStatus.RUNNING: mark("AnswerSpeech", "{tool} is running."),
    CallStatus.DONE: mark("AnswerSpeech", "{tool} is done."),
    CallStatus.FAILED: mark("AnswerSpeech", "{tool} has failed."),
}


class HeadingInterface(QAccessibleWidget):
    """A label that is reported as a heading."""

    def text(self, kind: QAccessible.Text) -> str:
        shown = self.object()
        if kind != QAccessible.Text.Name or not isinstance(shown, QLabel):
            return ""
        return shown.accessibleName() or shown.text()


def interface_of(name: str, item: QObject) -> QAccessibleInterface | None:
    """The accessible interface of a widget; None leaves it to Qt."""
    role = ROLES.get(name) or ROLES.get(item.objectName())
    if role is not None and isinstance(item, QWidget):
        return QAccessibleWidget(item, role)
    if isinstance(item, QLabel) and item.property("kind") in HEADINGS:
        return HeadingInterface(item, QAccessible.Role.Heading)
    return None


@cache
def _install_roles() -> None:
    """Install the roles once per process: Qt asks each installed factory."""
    QAccessible.installFactory(interface_of)


class AnswerSpeech:
    """Announces the answer on the page. ``level``: the setting `announce`: "words", "events" or "nothing"."""

    def __init__(self, page: QWidget) -> None:
        self.level = "words"
        self._page = page
        self._raw, self._num_announced = "", 0
        self._is_reading = False
        _install_roles()

    def begin(self) -> None:
        self._raw, self._num_announced, self._is_reading = "", 0, False

    def reading(self) -> None:
        if not self._is_reading:
            self._is_reading = True
            self._say(translate("AnswerSpeech", "Reading the prompt."))

    def add_text(self, text: str) -> None:
        """Announce complete sentences of the answer."""
        if not QAccessible.isActive() or self.level == "nothing":
            return
        if not self._raw:
            self._say(translate("AnswerSpeech", "The answer begins."))
        self._raw += text
        self._say_words(is_end=False)

    def show_call(self, view: MessageView) -> None:
        call = view.call
        if call is not None and call.status in _CALLS:
            self._say(translate("AnswerSpeech", _CALLS[call.status]).format(tool=call.title or call.name))

    def end(self, figures: str) -> None:
        self._say_words(is_end=True)
        self._say(translate("MainWindow", "Answer finished. {figures}").format(figures=figures).strip())

    def _say_words(self, *, is_end: bool) -> None:
        """Announce the rest of the answer without its reasoning."""
        if self.level != "words" or not self._raw:
            return
        rest = split_thinking(self._raw, final=is_end).answer(self._raw)[self._num_announced :]
        ends = [len(rest)] if is_end else [found.end() for found in _SENTENCE_END.finditer(rest)]
        if ends:
            self._num_announced += ends[-1]
            self._say(" ".join(rest[: ends[-1]].translate(_MARKS).split()))

    def _say(self, words: str) -> None:
        if words and self.level != "nothing" and QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._page, words))
