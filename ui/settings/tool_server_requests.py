"""Signals to control the tool servers and functions to query them; created before any dialog."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from app.core.domain.tools.servers import ToolServer


class ToolServerRequests(QObject):
    """Changes to the tool servers, which take effect at once.

    ``read`` returns the servers.
    """

    # a server's name
    switched = Signal(str, bool)
    restart_requested = Signal(str)
    remove_requested = Signal(str)
    sign_in_requested = Signal(str)
    sign_in_stopped = Signal(str)
    sign_out_requested = Signal(str)
    sign_in_page = Signal(str, str)  # a server's name, and the sign-in address to open in a browser
    add_requested = Signal(str)  # a command, an address, or the text of an mcp.json
    changed = Signal()  # servers were added, removed or switched

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.read: Callable[[], Sequence[ToolServer]] = tuple
