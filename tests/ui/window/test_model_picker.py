"""The list of models in the header, by mouse and by keys."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.core.domain.engine_view import EngineState, EngineView
from app.core.domain.engines import EngineFacts, EngineKind, EngineRecord, RemoteModel
from app.core.domain.models import LibraryRow, PickerView
from tests.ui.conftest import BUILTIN, READY, model
from ui.widgets.choice_list import Choice
from ui.window.header import ModelPicker
from ui.window.main_window import MainWindow


def row(name: str, size_bytes: int, **more: str) -> LibraryRow:
    path = f"/models/{name}.gguf"
    return LibraryRow(path, path, name, size_bytes, **more)  # type: ignore[arg-type]


MODELS = PickerView(
    (
        row("tiny", 2_500_000_000, quantization="Q4_K_M", paired_with="little"),
        row("other", 92_000_000, quantization="Q4_1"),
    ),
    (row("little", 639_000_000, quantization="Q8_0"), row("less", 400_000_000)),
)


@pytest.fixture
def picker(window: MainWindow) -> ModelPicker:
    window.header.set_models(MODELS)
    QTest.mouseClick(window.header.model_button, Qt.MouseButton.LeftButton)
    assert window.header.picker.isVisible()
    return window.header.picker


def rows_of(picker: ModelPicker) -> tuple[Choice, ...]:
    return picker.list.rows.rows


def ticked(picker: ModelPicker) -> list[str]:
    return [each.title for each in rows_of(picker) if each.icon == "check"]


def take(picker: ModelPicker, title: str, *, last: bool = False) -> None:
    lines = [line for line, each in enumerate(rows_of(picker)) if each.title == title]
    index = picker.list.model().index(lines[-1 if last else 0], 0)
    picker.list.scrollTo(index)
    QTest.mouseClick(picker.list.viewport(), Qt.MouseButton.LeftButton, pos=picker.list.visualRect(index).center())


def test_models_come_first_then_drafts_then_what_else_there_is(picker: ModelPicker) -> None:
    rows = rows_of(picker)
    assert [each.title for each in rows if not each.key] == ["Models on this computer", "Draft for tiny", "More"]
    assert [each.title for each in rows if each.key][:5] == ["tiny", "other", "little", "less", "No draft"]
    assert rows[1].lines == ("Q4_K_M · draft: little",)
    assert rows[1].side == "2.50 GB"
    assert "Open a GGUF file…" in [each.title for each in rows]
    assert "Find and download models…" in [each.title for each in rows]
    assert ticked(picker) == ["tiny", "little"]


def test_a_click_takes_a_model_or_a_draft_or_none(window: MainWindow, picker: ModelPicker, qtbot: QtBot) -> None:
    with qtbot.waitSignal(window.header.target_picked) as caught:
        take(picker, "other")
    assert caught.args == ["/models/other.gguf"]
    assert not picker.isVisible()
    window.header.open_models()
    with qtbot.waitSignal(window.header.draft_picked) as caught:
        take(picker, "less")
    assert caught.args == ["/models/less.gguf"]
    window.header.open_models()
    with qtbot.waitSignal(window.header.remove_draft):
        take(picker, "No draft")


def test_keys_go_from_the_model_in_use_to_the_others(window: MainWindow, picker: ModelPicker, qtbot: QtBot) -> None:
    assert picker.list.current_key() == "target:/models/tiny.gguf"
    QTest.keyClick(picker.list, Qt.Key.Key_Down)
    with qtbot.waitSignal(window.header.target_picked) as caught:
        QTest.keyClick(picker.list, Qt.Key.Key_Return)
    assert caught.args == ["/models/other.gguf"]
    window.header.open_models()
    QTest.keyClicks(picker.list, "find")
    with qtbot.waitSignal(window.header.browse_action.triggered):
        QTest.keyClick(picker.list, Qt.Key.Key_Return)


def test_opening_it_asks_for_the_models(window: MainWindow, qtbot: QtBot) -> None:
    with qtbot.waitSignal(window.header.models_wanted):
        window.header.open_models()
    window.header.set_models(MODELS)
    assert "other" in [each.title for each in rows_of(window.header.picker)], "it follows while it is open"


def test_a_file_beside_the_library_is_listed_while_it_is_in_use(window: MainWindow) -> None:
    window.set_engine(EngineView(EngineState.READY, model("mine"), model("helper")))
    window.header.set_models(replace(MODELS, drafts=()))
    window.header.open_models()
    picker = window.header.picker
    assert [each.title for each in rows_of(picker) if each.key][:3] == ["mine", "tiny", "other"]
    assert ticked(picker) == ["mine", "helper"]


def test_the_quick_demo_has_the_tick_while_it_is_in_use(window: MainWindow) -> None:
    window.set_engine(BUILTIN)
    window.header.open_models()
    assert ticked(window.header.picker) == ["Quick demo"]


def test_without_a_model_the_list_begins_with_opening_one(window: MainWindow) -> None:
    window.set_engine(EngineView())
    window.header.open_models()
    picker = window.header.picker
    assert picker.list.current_key() == next(each.key for each in rows_of(picker) if each.title == "Open a GGUF file…")
    assert not next(each for each in rows_of(picker) if each.title == "Open a GGUF as draft…").enabled


def test_loading_can_be_stopped_from_it(window: MainWindow, qtbot: QtBot) -> None:
    window.set_engine(replace(READY, state=EngineState.LOADING))
    window.header.open_models()
    with qtbot.waitSignal(window.composer.stop_requested):
        take(window.header.picker, "Stop loading")
    window.set_engine(READY)
    window.header.open_models()
    assert "Stop loading" not in [each.title for each in rows_of(window.header.picker)]


def test_a_strangers_name_is_text_and_no_key(window: MainWindow) -> None:
    name = "<img src=x>&Model"
    window.header.set_models(PickerView((row(name, 1_000_000),)))
    window.header.open_models()
    listing = window.header.picker.list
    assert listing.rows.rows[2].title == name
    hover = listing.rows.data(listing.rows.index(2, 0), Qt.ItemDataRole.ToolTipRole)
    assert hover is not None
    assert "<img" not in hover


def test_an_engine_that_is_added_while_the_list_is_open_is_seen_at_once(
    picker: ModelPicker, window: MainWindow
) -> None:
    facts = EngineFacts(EngineKind.VLLM, "0.32.0", (RemoteModel("org/large", 8192),), "")
    before = {each.title for each in rows_of(picker)}
    window.header.set_engines([EngineRecord("https://gpu.example.org", facts)])
    assert picker.isVisible()
    new = [each for each in rows_of(picker) if each.title not in before]
    assert any("large" in each.title for each in new)
    window.header.set_engines([])
    assert {each.title for each in rows_of(picker)} == before


def places_of(picker: ModelPicker) -> dict[str, tuple[int, int]]:
    """Where each row that can be clicked is on the screen, and how high."""
    listing = picker.list
    rects = {
        each.key: listing.visualRect(listing.model().index(line, 0))
        for line, each in enumerate(rows_of(picker))
        if each.key
    }
    return {key: (listing.viewport().mapToGlobal(rect.topLeft()).y(), rect.height()) for key, rect in rects.items()}


def test_nothing_moves_in_a_list_that_is_open(window: MainWindow) -> None:
    window.header.set_models(PickerView(MODELS.targets[:1]))
    QTest.mouseClick(window.header.model_button, Qt.MouseButton.LeftButton)
    picker = window.header.picker
    before = places_of(picker)
    window.header.set_models(replace(MODELS, targets=MODELS.targets[::-1]))
    after = places_of(picker)
    assert {key: after[key] for key in before} == before
    lowest = max(before.values())
    late = {key: place for key, place in after.items() if key not in before}
    assert {"target:/models/other.gguf", "draft:/models/less.gguf"} <= set(late)
    assert all(place > lowest for place in late.values())
    picker.close()
    QTest.mouseClick(window.header.model_button, Qt.MouseButton.LeftButton)
    titles = [each.title for each in rows_of(picker) if not each.key]
    assert titles == ["Models on this computer", "Draft for tiny", "More"], "in their places when it opens again"


def test_what_is_gone_from_an_open_list_stays_there_and_cannot_be_chosen(picker: ModelPicker) -> None:
    before = [each.key for each in rows_of(picker)]
    picker.parent().set_models(PickerView(MODELS.targets[:1]))  # type: ignore[union-attr]
    assert [each.key for each in rows_of(picker)] == before
    assert not next(each for each in rows_of(picker) if each.title == "other").enabled
