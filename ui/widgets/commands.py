"""The window's commands with descriptions and keys, for shortcuts, overview, tool tips and the menu bar of macOS."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QMainWindow, QMenuBar, QWidget

from ui.text.language import Translator
from ui.widgets.popups import Menu

tr = Translator("Commands")

CHAT, CHATS, WINDOW = tr.mark("This chat"), tr.mark("Chats"), tr.mark("Window")

MENUS = {CHAT: tr.mark("Chat"), CHATS: CHATS, WINDOW: WINDOW}
HELP = tr.mark("Help")
EDIT = tr.mark("Edit")
# Slots of Qt's text widgets, by name.
EDITS = (
    ("undo", tr.mark("Undo"), QKeySequence.StandardKey.Undo),
    ("redo", tr.mark("Redo"), QKeySequence.StandardKey.Redo),
    ("", "", QKeySequence.StandardKey.UnknownKey),
    ("cut", tr.mark("Cut"), QKeySequence.StandardKey.Cut),
    ("copy", tr.mark("Copy"), QKeySequence.StandardKey.Copy),
    ("paste", tr.mark("Paste"), QKeySequence.StandardKey.Paste),
    ("selectAll", tr.mark("Select all"), QKeySequence.StandardKey.SelectAll),
)
LONG_ROW = 3


@dataclass(frozen=True, slots=True)
class CommandRow:
    """A line of the overview in the user's language: group, description, keys."""

    group: str
    words: str
    keys: str


class Commands(QObject):
    """The commands of a window, in the order in which they were added."""

    def __init__(self, window: QMainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._rows: list[tuple[str, str, tuple[QKeySequence, ...]]] = []
        self._actions: dict[str, list[QAction]] = {}  # by group; only actions with text
        self._suspendable: dict[str, list[QAction]] = {}  # by group
        self.help_actions: Sequence[QAction] = ()
        self.bar: QMenuBar | None = None

    def add(
        self,
        group: str,
        words: str,
        keys: str | Sequence[str],
        slot: Callable[[], object],
        *,
        suspendable: bool = True,
        tips: Sequence[QWidget | QAction] = (),
    ) -> QAction:
        """Add a command with ``keys`` ("Ctrl+N", or several).

        ``group`` and ``words`` are marked texts of the context "Commands". A ``suspendable`` command is disabled with
        its group. The tool tips of ``tips`` show its keys.
        """
        sequences = [QKeySequence(text) for text in ((keys,) if isinstance(keys, str) else keys)]
        action = QAction(tr(words), self._window)
        action.setMenuRole(QAction.MenuRole.NoRole)  # otherwise macOS moves actions by their text
        action.setShortcuts(sequences)
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        action.triggered.connect(lambda: slot())  # noqa: PLW0108 (the signal brings an argument of its own)
        self._window.addAction(action)
        self._rows.append((group, words, tuple(sequences)))
        self._actions.setdefault(group, []).append(action)
        if suspendable:
            self._suspendable.setdefault(group, []).append(action)
        for each in tips:
            each.setToolTip(f"{each.toolTip()} ({self.keys(words)})")
        return action

    def keys(self, words: str) -> str:
        """A command's first keys, in the system's notation."""
        return next((_keys_text(keys[:1]) for _, named, keys in self._rows if named == words), "")

    def set_suspended(self, group: str, suspended: bool) -> None:
        """Disable or enable a group, so that its keys go to the focused widget."""
        for action in self._suspendable.get(group, ()):
            action.setEnabled(not suspended)

    def describe(self, group: str, words: str, keys: str | Sequence[str]) -> None:
        """List keys in the overview that a widget handles itself."""
        sequences = (QKeySequence(text) for text in ((keys,) if isinstance(keys, str) else keys))
        self._rows.append((group, words, tuple(sequences)))

    def make_menu_bar(self) -> None:
        self.bar = bar = QMenuBar(self._window)
        for group, title in MENUS.items():
            self._add_menu(bar, title).addActions(self._actions.get(group, []))
            if group == CHAT:
                menu = self._add_menu(bar, EDIT)
                for slot, words, key in EDITS:
                    if not slot:
                        menu.addSeparator()
                        continue
                    # The keys are only shown: text widgets handle them, and a shortcut would take them away.
                    action = menu.addAction(f"{tr(words)}\t{_keys_text((QKeySequence(key),))}")
                    action.triggered.connect(partial(_edit_slot, slot))
        self._add_menu(bar, HELP).addActions(list(self.help_actions))
        self._window.setMenuBar(bar)

    @staticmethod
    def _add_menu(bar: QMenuBar, title: str) -> Menu:
        menu = Menu(bar)
        menu.setTitle(tr(title))
        bar.addMenu(menu)
        return menu

    def rows(self) -> list[CommandRow]:
        groups = list(dict.fromkeys(group for group, _, _ in self._rows))
        ordered = sorted(self._rows, key=lambda row: groups.index(row[0]))
        return [CommandRow(tr(group), tr(words), _keys_text(keys)) for group, words, keys in ordered]


def _edit_slot(slot: str) -> None:
    """Call a slot of the focused text widget, if it has the slot."""
    do = getattr(QApplication.focusWidget(), slot, None)
    if callable(do):
        do()


def native_keys(keys: str) -> str:
    """Keys such as "Ctrl+D" in the system's notation."""
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)


def _keys_text(keys: Sequence[QKeySequence]) -> str:
    """Keys as text: two alternatives, or the first and last of a longer series."""
    texts = [_as_printed(key).toString(QKeySequence.SequenceFormat.NativeText) for key in keys]
    return ", ".join(texts) if len(texts) < LONG_ROW else f"{texts[0]} … {texts[-1]}"


def _as_printed(key: QKeySequence) -> QKeySequence:
    """A key with "Return" renamed to Enter, the name on keyboards."""
    first = key[0]  # type: ignore[index]
    return QKeySequence(first.keyboardModifiers() | Qt.Key.Key_Enter) if first.key() == Qt.Key.Key_Return else key
