"""Tests the header, and which names it shows if not all fit."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.core.domain.context import ContextParts
from app.core.domain.engine_view import EngineState, EngineView
from app.core.domain.engines import RemoteModel, ServerFacts, ServerKind, ServerRecord
from app.core.domain.local_server import Activity, ServerState, ServerView
from app.core.domain.models import LibraryRow, PickerView
from engine.records import DeviceUse, MemoryUse, Placement
from tests.ui.conftest import ASSETS, BUILTIN, READY, model
from ui.composer.context_meter import ContextMeter
from ui.theme.theme import Theme
from ui.widgets.choice_list import Choice
from ui.window.header import UNUSED_WORDS, Header, ModelPicker, describe
from ui.window.local_server import ServerButton
from ui.window.main_window import MainWindow


def test_the_hover_says_how_much_a_draft_with_another_vocabulary_speaks(qtbot: QtBot) -> None:
    header = Header(Theme(ASSETS / "icons"))
    qtbot.addWidget(header)
    header.set_engine(READY)
    assert "vocabulary differs" not in header.model_button.toolTip()
    assert READY.draft is not None
    header.set_engine(replace(READY, draft=replace(READY.draft, coverage=0.898)))
    assert "Its vocabulary differs and has 90% of the target's tokens." in header.model_button.toolTip()


def test_the_hover_says_which_device_has_how_many_layers() -> None:
    uses = (DeviceUse("CUDA0", 20, 5, 6, 7), DeviceUse("CUDA1", 1, 1, 1, 1), DeviceUse("CPU", 0, 2, 0, 0))
    memory = MemoryUse(8, 7, 8, uses)
    shared = replace(READY.target, gpu_layers=21, memory=memory, placement=Placement(cpu_moe_layers=12))
    assert "20 layers on CUDA0, 1 layer on CUDA1, experts of 12 layers in main memory" in describe(shared)
    alone = replace(shared, memory=replace(memory, devices=uses[::2]), placement=Placement())
    assert "21 layers on the GPU\n" in describe(alone)
    assert "CPU only\n" in describe(replace(alone, gpu_layers=0))


def test_the_hover_says_whether_words_are_the_same_in_every_mode() -> None:
    model = READY.target
    assert "Every mode gives exactly the same answer" in describe(replace(model, inexact_reason=""))
    told = describe(replace(model, inexact_reason="On a GPU."))
    assert "On a GPU." in told
    assert "exactly the same answer" not in told
    assert describe(replace(model, engine_url="http://127.0.0.1:1", inexact_reason="Up to it.")).endswith("Up to it.")


def test_the_hover_says_what_of_a_model_chats_do_not_use(qtbot: QtBot) -> None:
    header = Header(Theme(ASSETS / "icons"))
    qtbot.addWidget(header)
    assert READY.target is not None
    header.set_engine(READY)
    assert "its mmproj file is not loaded" not in header.model_button.toolTip()
    header.set_engine(replace(READY, target=replace(READY.target, unused_abilities=tuple(UNUSED_WORDS))))
    left_out = ", ".join(UNUSED_WORDS.values())
    told = " ".join(header.model_button.toolTip().split())  # joins its lines
    assert f"Not available, because its mmproj file is not loaded: {left_out}" in told


assert READY.target is not None
assert READY.draft is not None
LONG = replace(
    READY,
    target=replace(READY.target, path="/m/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf", name="Qwen2.5 Coder 1.5B Instruct"),
    draft=replace(READY.draft, path="/m/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf", name="Qwen2.5 Coder 0.5B Instruct"),
)


def header_with_signs(qtbot: QtBot, title: str) -> tuple[Header, ContextMeter, ServerButton]:
    theme = Theme(ASSETS / "icons")
    header, meter, server = Header(theme), ContextMeter(theme), ServerButton(theme)
    qtbot.addWidget(header)
    for sign in (meter, server):
        header.add_indicator(sign)
    meter.set_parts(ContextParts(20, 100, 30, 8192))
    server.set_view(ServerView(ServerState.ON, "http://127.0.0.1:8080", Activity()))
    header.set_engine(LONG)
    header.set_title(title)
    header.show()
    return header, meter, server


def test_the_names_are_elided_where_there_is_little_room_and_a_part_of_the_title_stays(qtbot: QtBot) -> None:
    header, meter, server = header_with_signs(qtbot, "A title that is longer than everything else in this line")
    for width in (1600, 800, 420):
        header.resize(width, header.height())
        qtbot.waitUntil(lambda width=width: header.stats_button.geometry().right() in range(width - 40, width))
        assert header.title.width() >= header.title.fontMetrics().horizontalAdvance("New chat")
    assert header.model_button.width() < header.model_button.sizeHint().width()
    assert meter.isVisible()
    assert server.isVisible()
    meter.set_parts(ContextParts(20, 8000, 30, 8192))
    assert "nearly full" in meter.text()


def test_the_words_of_a_nearly_full_context_are_elided_where_there_is_little_room(qtbot: QtBot) -> None:
    header, meter, _server = header_with_signs(qtbot, "A long title of a chat")
    meter.set_parts(ContextParts(20, 8000, 30, 8192))
    assert header.minimumSizeHint().width() <= 420
    header.resize(1600, header.height())
    qtbot.waitUntil(lambda: meter.width() == meter.sizeHint().width())


def test_loading_moves_nothing(qtbot: QtBot) -> None:
    header, _meter, server = header_with_signs(qtbot, "New chat")
    before = server.width()
    server.set_view(ServerView(ServerState.ON, "http://127.0.0.1:8080", Activity(28, 2, 1)))
    header.set_engine(replace(LONG, state=EngineState.LOADING, progress=0.4))
    assert header.progress.isVisible()
    assert header.progress.width() == header.width()
    assert server.width() == before


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
    with qtbot.waitSignal(window.header.models_opening):
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
    facts = ServerFacts(ServerKind.VLLM, "0.32.0", (RemoteModel("org/large", 8192),), "")
    before = {each.title for each in rows_of(picker)}
    window.header.set_engines([ServerRecord("https://gpu.example.org", facts)])
    assert picker.isVisible()
    new = [each for each in rows_of(picker) if each.title not in before]
    assert any("large" in each.title for each in new)
    window.header.set_engines([])
    assert {each.title for each in rows_of(picker)} == before
