"""The line above the transcript: whose names it shows where there is not room for all of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.core.domain.context import ContextParts
from app.core.domain.engine_view import EngineState
from app.core.domain.local_server import Activity, ServerState, ServerView
from app.core.domain.model_name import model_name
from engine.records import DeviceUse, MemoryUse, Placement
from tests.ui.conftest import ASSETS, READY
from ui.composer.context_meter import ContextMeter
from ui.theme.theme import Theme
from ui.window.header import UNUSED_WORDS, Header, describe
from ui.window.local_server import ServerButton


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
    names_px = metrics.horizontalAdvance(f"{target} · {draft}")
    title_px = title.fontMetrics().horizontalAdvance(title.text())
    header.show()
    header.resize(1200, header.height())
    header.resize(1200 - header._models_px() + names_px + 4, header.height())
    assert draft in header.model_button.text()
    indicator.setFixedWidth(title_px - round(0.6 * names_px))  # the share of the names is 0.96 of them now
    indicator.show()
    qtbot.waitUntil(
        lambda: draft not in header.model_button.text() and target in header.model_button.text(), timeout=20_000
    )
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


def test_the_hover_says_whether_words_are_the_same_in_every_mode() -> None:
    model = READY.target
    assert "same words in every mode, to the letter" in describe(replace(model, inexact=""))
    told = describe(replace(model, inexact="On a GPU."))
    assert "On a GPU." in told
    assert "to the letter" not in told
    assert describe(replace(model, engine_url="http://127.0.0.1:1", inexact="It is up to it.")).endswith("up to it.")


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


def shown_at(header: Header, width: int, qtbot: QtBot) -> str:
    header.resize(width, header.height())
    qtbot.wait(1)
    return header.model_button.text()


def test_signs_lose_their_words_before_title_model_and_draft_do(qtbot: QtBot) -> None:
    header, meter, server = header_with_signs(qtbot, "New chat")
    both = "Qwen2.5 Coder 1.5B Instruct · Qwen2.5 Coder 0.5B Instruct"
    icon_only = Qt.ToolButtonStyle.ToolButtonIconOnly
    assert shown_at(header, 1200, qtbot) == both
    assert icon_only not in (meter.toolButtonStyle(), server.toolButtonStyle())
    wide = server.width()
    cut = next(width for width in range(1200, 300, -20) if shown_at(header, width, qtbot) != both)
    assert server.toolButtonStyle() is icon_only
    assert server.width() < wide
    assert meter.isVisible()
    assert header.model_button.text() == "Qwen2.5 Coder 1.5B · 0.5B", "without what they share"
    assert not header.title.is_elided()
    small = next(text for width in range(cut, 300, -20) if "…" in (text := shown_at(header, width, qtbot)))
    assert small.endswith("1.5B · 0.5B")
    assert not meter.isVisible()
    assert not header.title.is_elided()
    header.set_title("A title that is longer than everything else in this line of the window")
    qtbot.wait(1)
    assert header.title.width() >= header.title.fontMetrics().horizontalAdvance("New chat")


def test_what_changes_its_state_moves_nothing(qtbot: QtBot) -> None:
    header, meter, server = header_with_signs(qtbot, "New chat")
    shown_at(header, 1200, qtbot)

    def places() -> list[tuple[int, int]]:
        qtbot.wait(1)
        return [(one.x(), one.width()) for one in (header.title, meter, server, header.model_button)]

    before = places()
    server.set_view(ServerView(ServerState.ON, "http://127.0.0.1:8080", Activity(28, 2, 1)))
    meter.set_parts(ContextParts(20, 5000, 30, 8192))
    assert places() == before
    header.set_engine(replace(LONG, state=EngineState.LOADING, progress=0.4))
    assert header.progress.isVisible()
    assert [x for x, _ in places()[:1]] == [before[0][0]]
    assert header.progress.width() == header.width()


@pytest.mark.parametrize("title", ["New chat", "Eine lange Frage nach allem, was in dieser Zeile keinen Platz hat"])
def test_the_meter_of_the_context_is_whole_or_gone(qtbot: QtBot, title: str) -> None:
    header, meter, _ = header_with_signs(qtbot, title)
    shown_at(header, 1200, qtbot)
    whole = meter.width()
    seen = []
    for width in range(1200, 300, -10):
        shown_at(header, width, qtbot)
        seen.append(meter.isVisible())
        if meter.isVisible():
            assert meter.width() == whole
            assert meter.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonTextBesideIcon
            least = min(header.title.fontMetrics().horizontalAdvance(one) for one in (header.title.text(), "x" * 18))
            assert header.title.width() >= least
            assert header.model_button.text().endswith(("1.5B · 0.5B", "Qwen2.5 Coder 0.5B Instruct"))
            assert "…" not in header.model_button.text()
    assert seen == sorted(seen, reverse=True), "it goes once, and comes back at the same width"
    assert seen[0]
    assert not seen[-1]
    shown_at(header, 1200, qtbot)
    assert meter.isVisible()


def test_a_context_that_is_nearly_full_is_told_where_there_is_little_room(qtbot: QtBot) -> None:
    header, meter, server = header_with_signs(qtbot, "New chat")
    shown_at(header, 400, qtbot)
    assert server.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonIconOnly
    assert not meter.isVisible()
    meter.set_parts(ContextParts(20, 8000, 30, 8192))
    assert meter.isVisible()
    assert meter.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonTextBesideIcon
