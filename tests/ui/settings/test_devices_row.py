"""Devices are ticked in a menu of detected devices, or typed; impossible names are reported at once."""

import pytest
from PySide6.QtGui import QAction
from pytestqt.qtbot import QtBot

from app.core.domain.settings.table import FIELD_BY_KEY
from engine.records import Device, DeviceKind
from ui.settings.rows import DevicesRow, TextLineRow

GB = 10**9
FOUND = (
    Device("CUDA0", "NVIDIA RTX 4090 & Co", 24 * GB, 20 * GB),
    Device("Vulkan0", "Radeon 780M", None, None, DeviceKind.INTEGRATED),
)


@pytest.fixture(name="row")
def fixture_row(qtbot: QtBot) -> DevicesRow:
    row = DevicesRow(FIELD_BY_KEY["device"])
    qtbot.addWidget(row)
    row.set_value("")
    row.set_devices(FOUND)
    row.show()
    return row


def actions(row: DevicesRow) -> list[QAction]:
    row.menu.aboutToShow.emit()
    return [action for action in row.menu.actions() if not action.isSeparator()]


def ticked(row: DevicesRow) -> list[str]:
    return [action.text() for action in actions(row) if action.isChecked()]


def choose(row: DevicesRow, begins: str) -> None:
    next(action for action in actions(row) if action.text().startswith(begins)).trigger()


def test_the_menu_has_what_was_found_with_its_memory(row: DevicesRow) -> None:
    assert [action.text() for action in actions(row)] == [
        "All GPUs",
        "CPU only",
        "CUDA0: NVIDIA RTX 4090 && Co, 20.0 GB of 24.0 GB free",
        "Vulkan0: Radeon 780M",
    ]
    assert ticked(row) == ["All GPUs"]


def test_ticks_are_names_between_commas(row: DevicesRow) -> None:
    choose(row, "CUDA0")
    assert row.value() == "CUDA0"
    choose(row, "Vulkan0")
    assert row.value() == "CUDA0, Vulkan0"
    assert [text.split(":")[0] for text in ticked(row)] == ["CUDA0", "Vulkan0"]
    choose(row, "CUDA0")
    assert row.value() == "Vulkan0"
    choose(row, "CPU only")
    assert row.value() == "none"
    assert ticked(row) == ["CPU only"]
    choose(row, "CUDA0")
    assert row.value() == "CUDA0"
    choose(row, "All GPUs")
    assert row.value() == ""


def test_what_was_typed_stays_beside_what_is_ticked(row: DevicesRow, qtbot: QtBot) -> None:
    qtbot.keyClicks(row.edit, "CUDA7")
    choose(row, "CUDA0")
    assert row.value() == "CUDA7, CUDA0"
    assert row.problem() == ""


@pytest.mark.parametrize(
    ("key", "text", "sentence"),
    [
        ("device", "CUDA0; CUDA1", "CUDA0; CUDA1 is not a device name"),
        ("device", "none, CUDA0", "name it without other devices"),
        ("tensor_split", "3:1", "shares of the devices must be numbers such as 3,1"),
    ],
)
def test_what_cannot_be_taken_is_reported_below_the_line(key: str, text: str, sentence: str, qtbot: QtBot) -> None:
    field = FIELD_BY_KEY[key]
    row = DevicesRow(field) if key == "device" else TextLineRow(field)
    qtbot.addWidget(row)
    row.show()
    qtbot.keyClicks(row.edit, text)
    assert sentence in row.complaint.text()
    assert row.complaint.isVisible()
    row.edit.clear()
    assert not row.complaint.isVisible()
