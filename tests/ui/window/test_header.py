"""The line above the transcript: whose names it shows where there is not room for all of them."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.domain.model_name import model_name
from engine.records import DeviceUse, MemoryUse, Placement
from tests.ui.conftest import ASSETS, READY
from ui.theme.theme import Theme
from ui.window.header import UNUSED_WORDS, Header, describe


def test_the_hover_says_how_much_a_draft_with_another_vocabulary_speaks(qtbot: QtBot) -> None:
    header = Header(Theme(ASSETS / "icons"))
    qtbot.addWidget(header)
    header.set_engine(READY)
    assert "another vocabulary" not in header.model_button.toolTip()
    assert READY.draft is not None
    header.set_engine(replace(READY, draft=replace(READY.draft, speaks=0.898)))
    assert "It has another vocabulary and speaks 90% of the target's tokens." in header.model_button.toolTip()


def test_the_draft_gives_way_to_the_title_as_soon_as_something_beside_them_takes_the_room(qtbot: QtBot) -> None:
    header, indicator = Header(Theme(ASSETS / "icons")), QWidget()
    qtbot.addWidget(header)
    indicator.hide()
    header.add_indicator(indicator)
    header.set_engine(READY)
    header.set_title("Tell me a story about a fox and a river.")
    target, draft = model_name(READY.target), model_name(READY.draft)
    metrics, title = header.model_button.fontMetrics(), header.title
    names_px = metrics.horizontalAdvance(f"{target} · {draft} ✓")
    title_px = title.fontMetrics().horizontalAdvance(title.text())
    header.show()
    header.resize(1200, header.height())
    header.resize(1200 - header._models_px() + names_px + 4, header.height())
    assert draft in header.model_button.text()
    indicator.setFixedWidth(title_px - round(0.4 * names_px))  # the share of the names is 0.84 of them now
    indicator.show()
    qtbot.waitUntil(lambda: draft not in header.model_button.text())
    assert target in header.model_button.text()
    indicator.hide()
    qtbot.waitUntil(lambda: draft in header.model_button.text())


def test_the_hover_says_which_device_has_how_many_layers() -> None:
    uses = (DeviceUse("CUDA0", 20, 5, 6, 7), DeviceUse("CUDA1", 1, 1, 1, 1), DeviceUse("CPU", 0, 2, 0, 0))
    memory = MemoryUse(8, 7, 8, True, uses)
    shared = replace(READY.target, gpu_layers=21, memory=memory, placement=Placement(cpu_moe_layers=12))
    assert "20 layers on CUDA0, 1 layer on CUDA1, experts of 12 layers in main memory" in describe(shared)
    alone = replace(shared, memory=replace(memory, devices=uses[::2]), placement=Placement())
    assert "21 layers on the GPU\n" in describe(alone)
    assert "CPU only\n" in describe(replace(alone, gpu_layers=0))


def test_the_hover_says_what_of_a_model_chats_do_not_use(qtbot: QtBot) -> None:
    header = Header(Theme(ASSETS / "icons"))
    qtbot.addWidget(header)
    assert READY.target is not None
    header.set_engine(READY)
    assert "Not used in chats" not in header.model_button.toolTip()
    header.set_engine(replace(READY, target=replace(READY.target, unused=tuple(UNUSED_WORDS))))
    left_out = ", ".join(UNUSED_WORDS.values())
    told = " ".join(header.model_button.toolTip().split())  # its lines are broken
    assert f"Not used in chats, which are text only: {left_out}" in told
