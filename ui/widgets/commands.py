"""The window's keyboard commands, each with its description and keys: the shortcuts, and the overview made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from ui.text.language import mark, translate

CHAT, CHATS, WINDOW = mark("Commands", "This chat"), mark("Commands", "Chats"), mark("Commands", "Window")

LONG_ROW = 3


@dataclass(frozen=True, slots=True)
class CommandRow:
    """A line of the overview, in the user's language: group, what it does, its keys."""

    group: str
    words: str
    keys: str


class Commands(QObject):
    """The commands of one window, in the order in which they were added."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._rows: list[tuple[str, str, tuple[QKeySequence, ...]]] = []
        self._suspendable: dict[str, list[QAction]] = {}  # by group

    def add(
        self, group: str, words: str, keys: str | Sequence[str], slot: Callable[[], object], *, suspendable: bool = True
    ) -> QAction:
        """Let ``keys`` ("Ctrl+N", or several) call ``slot`` anywhere in the window.

        ``group`` and ``words`` are marked texts of the context "Commands". A ``suspendable`` command is disabled with
        its group.
        """
        sequences = [QKeySequence(text) for text in ((keys,) if isinstance(keys, str) else keys)]
        action = QAction(translate("Commands", words), self._window)
        action.setShortcuts(sequences)
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        action.triggered.connect(lambda: slot())  # noqa: PLW0108 (the signal brings an argument of its own)
        self._window.addAction(action)
        self._rows.append((group, words, tuple(sequences)))
        if suspendable:
            self._suspendable.setdefault(group, []).append(action)
        return action

    def set_suspended(self, group: str, suspended: bool) -> None:
        """Disable the commands of a group, so that their keys go to the focus, or enable them again."""
        for action in self._suspendable.get(group, ()):
            action.setEnabled(not suspended)

    def bind(self, group: str, key: str, slot: Callable[[], object]) -> None:
        """Let ``key`` call ``slot`` anywhere in the window, without a line in the overview."""
        action = QAction(self._window)
        self._suspendable.setdefault(group, []).append(action)
        action.setShortcut(QKeySequence(key))
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        action.triggered.connect(lambda _checked=False: slot())
        self._window.addAction(action)

    def describe(self, group: str, words: str, keys: str | Sequence[str]) -> None:
        """Add keys to the overview that a part handles itself while it has the focus."""
        sequences = (QKeySequence(text) for text in ((keys,) if isinstance(keys, str) else keys))
        self._rows.append((group, words, tuple(sequences)))

    def rows(self) -> list[CommandRow]:
        """Every command, by group."""
        groups = list(dict.fromkeys(group for group, _, _ in self._rows))
        ordered = sorted(self._rows, key=lambda row: groups.index(row[0]))
        return [
            CommandRow(translate("Commands", group), translate("Commands", words), _keys_text(keys))
            for group, words, keys in ordered
        ]


def _keys_text(keys: Sequence[QKeySequence]) -> str:
    """Two keys of which each does; of a longer row the first and the last."""
    texts = [_as_printed(key).toString(QKeySequence.SequenceFormat.NativeText) for key in keys]
    return ", ".join(texts) if len(texts) < LONG_ROW else f"{texts[0]} … {texts[-1]}"


def _as_printed(key: QKeySequence) -> QKeySequence:
    """The large key that Qt calls Return is called Enter on keyboards, as is the small one."""
    first = key[0]  # type: ignore[index]
    return QKeySequence(first.keyboardModifiers() | Qt.Key.Key_Enter) if first.key() == Qt.Key.Key_Return else key
