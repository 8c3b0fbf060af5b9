"""What is asked of the servers of tools, from wherever in the window: here before a dialog is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from app.core.domain.tools.servers import ImportView, ToolServerView


class ToolServerRequests(QObject):
    """What the settings ask of the servers; changes hold at once.

    ``read`` gives them as they are; ``names`` those that are switched on, and starts none. ``places`` are the files of
    other programs that are there, with the programs' names; ``preview`` is what a file would add.

    Signals:
        switched(str, bool), restart_requested(str), remove_requested(str): by the name of a server.
        sign_in_requested(str), sign_in_stopped(str), sign_out_requested(str): likewise.
        sign_in_page(str, str): a server's name, and the address at which to sign in to it: to be shown in a browser.
        add_requested(str): a command or an address.
        import_requested(str, object): the path of another program's file, and the names of what is wanted of it.
        changed: there are others, or others are switched on.
    """

    switched = Signal(str, bool)
    restart_requested = Signal(str)
    remove_requested = Signal(str)
    sign_in_requested = Signal(str)
    sign_in_stopped = Signal(str)
    sign_out_requested = Signal(str)
    sign_in_page = Signal(str, str)
    add_requested = Signal(str)
    import_requested = Signal(str, object)
    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.read: Callable[[], Sequence[ToolServerView]] = tuple
        self.names: Callable[[], Sequence[str]] = tuple
        self.places: Callable[[], Sequence[tuple[str, str]]] = tuple
        self.preview: Callable[[str], ImportView] = ImportView
