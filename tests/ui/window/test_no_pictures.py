"""Images in an answer are not loaded: no socket is opened, no file is read, nothing is drawn."""

import base64
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QBuffer, QIODevice, QUrl
from PySide6.QtGui import QColor, QImage, QTextDocument
from PySide6.QtWidgets import QTextBrowser, QWidget
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageView
from tests.ui.conftest import STATS
from ui.theme.theme import Theme
from ui.transcript.cards.prose_view import ProseView
from ui.window.main_window import MainWindow

STRIKING = QColor(255, 0, 254)


def picture() -> bytes:
    image = QImage(40, 40, QImage.Format.Format_RGB32)
    image.fill(STRIKING)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]  (the stubs want bytes, Qt takes text)
    return bytes(buffer.data().data())


class Ear:
    """Listens on this machine and counts connections."""

    def __init__(self) -> None:
        self.num_callers = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                caller, _ = self._socket.accept()
            except OSError:
                return
            self.num_callers += 1
            caller.close()

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def ear() -> Iterator[Ear]:
    made = Ear()
    yield made
    made.close()


@pytest.fixture
def addresses(ear: Ear, tmp_path: Path) -> list[str]:
    file = tmp_path / "picture.png"
    file.write_bytes(picture())
    return [
        f"http://127.0.0.1:{ear.port}/picture.png",
        file.as_uri(),
        str(file),
        f"//127.0.0.1:{ear.port}/share/picture.png",
        f"\\\\127.0.0.1@{ear.port}\\share\\picture.png",
        f"file://127.0.0.1{file}",
        "data:image/png;base64," + base64.b64encode(picture()).decode(),
    ]


def is_drawn(widget: QWidget) -> bool:
    image = widget.grab().toImage()
    return any(
        image.pixelColor(x, y) == STRIKING for x in range(0, image.width(), 8) for y in range(0, image.height(), 8)
    )


def show(widget: QWidget, qtbot: QtBot) -> None:
    qtbot.addWidget(widget)
    widget.resize(400, 600)
    widget.show()
    qtbot.waitExposed(widget)


def html(addresses: list[str]) -> str:
    return "".join(f'<p>x <img src="{address}" width="40" height="40"></p>' for address in addresses)


def test_an_ordinary_browser_would_draw_them(addresses: list[str], qtbot: QtBot) -> None:
    """Proves that the checks below can find something."""
    browser = QTextBrowser()
    browser.setHtml(html(addresses))
    show(browser, qtbot)
    assert is_drawn(browser)


def as_markdown(address: str) -> str:
    written = (f"![words](<{address}>)", f"<img src='{address}'>", f"<link rel='stylesheet' href='{address}'>")
    return "\n\n".join((*written, f"[words]({address})"))


def test_an_answer_draws_none(window: MainWindow, addresses: list[str], ear: Ear, qtbot: QtBot) -> None:
    text = "\n\n".join(map(as_markdown, addresses))
    window.resize(900, 900)
    window.show_conversation("t", [MessageView(1, "assistant", f"<think>{text}</think>{text}", stats=STATS)])
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    assert not is_drawn(window)
    assert ear.num_callers == 0


def test_prose_draws_none_whatever_html_gets_into_it(
    addresses: list[str], ear: Ear, theme: Theme, qtbot: QtBot
) -> None:
    view = ProseView(theme)
    view.setHtml(html(addresses))
    show(view, qtbot)
    assert not is_drawn(view)
    for address in addresses:
        for kind in QTextDocument.ResourceType:
            assert view.loadResource(kind.value, QUrl(address)).width() == 1
    assert ear.num_callers == 0
