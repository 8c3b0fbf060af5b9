"""Helpers that read the models panel and press its buttons."""

from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget


def said(widget: QWidget) -> str:
    QApplication.processEvents()  # the event loop shows new widgets of a layout
    return "\n".join(label.text() for label in widget.findChildren(QLabel) if label.isVisible())


def pressed(widget: QWidget, name: str) -> QPushButton:
    QApplication.processEvents()
    found = [one for one in widget.findChildren(QPushButton) if one.accessibleName() == name and one.isVisible()]
    assert found, f"no button {name!r} among {[one.accessibleName() for one in widget.findChildren(QPushButton)]}"
    return found[0]


def asked(signal: object) -> list[tuple[object, ...]]:
    calls: list[tuple[object, ...]] = []
    signal.connect(lambda *values: calls.append(values))  # type: ignore[attr-defined]
    return calls
