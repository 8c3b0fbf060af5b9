"""The help menu: opens the log folder and the page of releases, copies diagnostics, shows the about box."""

import re
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication

import app
from app.controllers.parts import Parts, PartsController
from app.core.domain.settings.values import Settings
from app.core.logs import LOG_NAME
from app.core.paths import Paths
from engine.records import ModelInfo
from ui.text.language import mark, translate

RELEASES = "https://github.com/paceline/paceline/releases"
ABOUT = mark(
    "HelpMenu",
    "Paceline {version}: chat with local language models, made faster by speculative decoding without "
    "changing their answers. MIT licence; third-party licences are in assets/THIRD_PARTY.md.",
)
COPIED = mark("HelpMenu", "Diagnostics copied. They contain nothing from your chats.")


class HelpMenuController(PartsController):
    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        button = parts.window.sidebar.help_button
        button.shortcuts.triggered.connect(parts.window.dialogs.open_shortcuts)
        button.log_folder.triggered.connect(self._open_logs)
        button.diagnostics.triggered.connect(self._gather_diagnostics)
        button.updates.triggered.connect(lambda: QDesktopServices.openUrl(QUrl(RELEASES)))
        button.about.triggered.connect(
            lambda: parts.window.show_notice(translate("HelpMenu", ABOUT).format(version=app.__version__))
        )

    def _open_logs(self) -> None:
        folder = self._parts.paths.logs
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
            self._parts.window.show_notice(translate("HelpMenu", "The logs are in {folder}.").format(folder=folder))

    def _gather_diagnostics(self) -> None:
        """Collect on a thread: a helper process has to load llama.cpp."""
        models, settings, paths = self._state.engine, self._state.settings, self._parts.paths

        def gather(_stop: object) -> str:
            from app.controllers.window.help_menu import diagnostics  # noqa: PLC0415  (the start does not wait for it)

            return diagnostics(settings, (models.target, models.draft), paths)

        self._jobs.run("diagnostics", gather, self._copy_diagnostics)

    def _copy_diagnostics(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self._parts.window.show_notice(translate("HelpMenu", COPIED))


# Settings that contain text of the user.
PRIVATE_KEYS = frozenset({"system_prompt", "allowed_tools", "unused_servers"})
_SERVER = re.compile(r"(engine):[^,#\s]+")  # contains the address of another computer
NUM_LOG_LINES = 60
LOG_TAIL_BYTES = 64_000


def diagnostics(settings: Settings, models: tuple[ModelInfo | None, ModelInfo | None], paths: Paths) -> str:
    """Blocks: a helper process has to load llama.cpp."""
    from app.core.doctor import examine, private  # noqa: PLC0415  (the start does not wait for it)

    lines = [
        *(f"{one.subject}: {one.message}" for one in examine(paths)),
        *(_model(role, info) for role, info in zip(("target", "draft"), models, strict=True)),
        "settings: " + ", ".join(_setting(key, value) for key, value in sorted(settings.values.items())),
        f"last lines of {LOG_NAME}:",
        *_tail(paths.logs / LOG_NAME),
    ]
    return private("\n".join(lines)) + "\n"


def _model(role: str, info: ModelInfo | None) -> str:
    if info is None:
        return f"{role}: none"
    sizes = f"{info.num_params:,} parameters, {info.size_bytes:,} bytes"
    devices = info.memory.devices if info.memory else ()
    placed = "".join(f", {one.num_layers} layers and {one.all_bytes:,} bytes on {one.name}" for one in devices[:-1])
    if placed and info.placement.cpu_moe_layers:
        placed += f", experts of {info.placement.cpu_moe_layers} layers in main memory"
    how = f"context {info.n_ctx:,}, {info.threads} threads, {info.gpu_layers} GPU layers"
    return f"{role}: {Path(info.path).name}, {info.architecture}, {sizes}, {how}{placed}"


def _setting(key: str, value: object) -> str:
    if key in PRIVATE_KEYS:
        return f"{key}=({len(str(value))} characters)"
    written = _SERVER.sub(r"\1:(a server)", value) if isinstance(value, str) else value
    return f"{key}={'automatic' if written is None else written}"


def _tail(file: Path) -> list[str]:
    try:
        with file.open("rb") as stream:
            stream.seek(max(0, file.stat().st_size - LOG_TAIL_BYTES))
            text = stream.read().decode("utf-8", "replace")
    except OSError as error:
        return [f"(not readable: {error.strerror or error})"]
    return text.splitlines()[-NUM_LOG_LINES:]
