"""Qt's own messages into the log."""

from __future__ import annotations

import logging

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

log = logging.getLogger("qt")

_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


def log_qt_messages() -> None:
    """Send what Qt says to the log from now on."""
    qInstallMessageHandler(_log)


def stop_logging_qt_messages() -> None:
    """Give Qt its own handler back."""
    qInstallMessageHandler(None)


def _log(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    log.log(_LEVELS.get(kind, logging.WARNING), "%s (%s)", message, context.category or "default")
