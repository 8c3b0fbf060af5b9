"""A window without a display, and records to fill it."""

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.core.domain.conversations import ConversationRow
from app.core.domain.engine_view import EngineState, EngineView
from app.core.domain.settings.fields import FieldKind, SettingField
from engine.records import Mode, ModelInfo
from tests.conftest import PatientBot
from tests.run_stats import DRAFTED
from ui.text import clock
from ui.text.language import ENGLISH, install_language
from ui.theme.theme import Theme
from ui.window.main_window import MainWindow

NOW = datetime.now(UTC)
ASSETS = Path(__file__).parents[2] / "assets"

FIELDS = (
    SettingField("target_path", "Models", "Target", FieldKind.MODEL_FILE, "", "The model.", automatic="built-in"),
    SettingField("models_dir", "Models", "Library", FieldKind.FOLDER, "", "The folder.", automatic="the app's own"),
    SettingField(
        "mode", "Speculation", "Mode", FieldKind.MODE, "draft", "How.", choices=tuple((mode, mode) for mode in Mode)
    ),
    SettingField(
        "overflow",
        "Chat",
        "Full context",
        FieldKind.CHOICE,
        "drop",
        "When full.",
        choices=(("drop", "D"), ("stop", "S")),
    ),
    SettingField("depth", "Speculation", "Depth", FieldKind.INTEGER, None, "Length.", 0, 64, 1, automatic="automatic"),
    SettingField("temperature", "Sampling", "Temperature", FieldKind.NUMBER, 0.8, "Heat.", 0.0, 5.0, 0.05),
    SettingField("system_prompt", "Chat", "System prompt", FieldKind.TEXT, "", "Told first.", maximum=100),
    SettingField("sound", "Chat", "Sound", FieldKind.SWITCH, False, "A sound at the end."),
)


def model(name: str = "tiny", **changes: object) -> ModelInfo:
    """A loaded model."""
    values: dict[str, object] = {
        "path": f"/models/{name}.gguf",
        "name": name,
        "architecture": "llama",
        "num_params": 8_100_000,
        "size_bytes": 8_900_000,
        "n_vocab": 4096,
        "n_ctx": 2048,
        "n_ctx_train": 2048,
        "threads": 2,
        "gpu_layers": 0,
        "template_name": "from the model",
    }
    return ModelInfo(**{**values, **changes})  # type: ignore[arg-type]


BUILTIN = EngineView(EngineState.READY, model(path=str(ASSETS / "pair" / "target.gguf")), model("little"))
READY = EngineView(EngineState.READY, model(), model("little"))
NO_DRAFT = EngineView(
    EngineState.READY,
    model(),
    unavailable={Mode.DRAFT: "No draft model is loaded.", Mode.HEAD: "This model has no head."},
)
STATS = DRAFTED


def rows() -> list[ConversationRow]:
    """Three conversations: of today, of yesterday, and an old one."""
    ages = ((1, "Weekend plans", 0), (2, "Regex help", 1), (3, "Trip notes", 30))
    return [ConversationRow(number, title, NOW - timedelta(days=days)) for number, title, days in ages]


@pytest.fixture(autouse=True)
def today(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fix the current day to that of `NOW`, even if midnight passes."""
    monkeypatch.setattr(clock, "today", lambda: NOW.astimezone().date())


@pytest.fixture
def theme(qtbot: QtBot) -> Iterator[Theme]:
    """The light theme on a new widget."""
    host = QWidget()
    qtbot.addWidget(host)
    result = Theme(ASSETS / "icons", host)
    result.apply("light", host)
    yield result
    host.close()


@pytest.fixture
def window(qtbot: QtBot) -> MainWindow:
    """A shown window with a model and a draft."""
    result = MainWindow(ASSETS, FIELDS)
    qtbot.addWidget(result)
    result.set_theme("light")
    result.set_engine(READY)
    result.show()
    qtbot.waitExposed(result)
    result.activateWindow()
    qtbot.waitUntil(result.isActiveWindow)
    result.composer.edit.setFocus()
    return result


@contextmanager
def _filled_window(request: pytest.FixtureRequest, language: str) -> Iterator[MainWindow]:
    """A filled window in a language. Dialogs that are opened later use the current language."""
    from tests.ui.filled_window import make_window  # imports this module

    application = request.getfixturevalue("qapp")
    install_language(application, ASSETS / "translations", language)
    made = make_window(PatientBot(request))
    install_language(application, ASSETS / "translations", ENGLISH)
    yield made
    made.close()
    made.deleteLater()


@pytest.fixture(scope="module")
def shared_window(request: pytest.FixtureRequest) -> Iterator[MainWindow]:
    """A filled window shared by all tests of a module; each leaves it unchanged, as `filled_window.opened` does."""
    with _filled_window(request, ENGLISH) as made:
        yield made


@pytest.fixture(scope="module")
def shared_german_window(request: pytest.FixtureRequest) -> Iterator[MainWindow]:
    """A shared window in German. A test must also set German for dialogs that it opens."""
    with _filled_window(request, "de") as made:
        yield made
