"""Tests turns with tools in the whole app: a scripted model calls tools of a scripted provider."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.core.domain.attachments import Attachment
from app.core.domain.engine_view import EngineState
from app.core.domain.messages import MessageState
from app.core.domain.settings.layers import Layer
from app.core.domain.tools.calls import CallStatus
from app.core.storage.exchange.file_names import JSON
from app.core.storage.exchange.transfer import export_chats, import_chats
from app.core.storage.pictures import picture_attachment
from app.core.tools.interface import ToolDefinition, ToolResult, arguments_of
from app.core.tools.turn import MAX_UNREADABLE
from engine.records import EngineReady, FinishReason, Message, ToolCall, ToolFormat
from tests.app.fakes import AppHarness, info, keep_settings, open_app
from tests.engine.sandbox.pictures import WIDTH, encoded, sample
from ui.composer.attachments.reader import AttachmentDialog
from ui.transcript.cards.tool_card import ToolCard
from ui.widgets.choice_list import ChoiceList


class ScriptedTools:
    """A provider whose calls wait for the test."""

    def __init__(self) -> None:
        self.calls: list[ToolCall] = []
        self.done: list[Callable[[ToolResult], None]] = []
        self.cancelled: list[str] = []
        self.is_closed = False

    def definitions(self) -> tuple[ToolDefinition, ...]:
        schema = {"type": "object", "properties": {"path": {"type": "string"}}}
        return tuple(ToolDefinition(name, f"{name}s.", schema, "files", name.title()) for name in ("read", "write"))

    def call(self, call: ToolCall, done: Callable[[ToolResult], None]) -> Callable[[], None]:
        self.calls.append(call)
        self.done.append(done)
        return lambda: self.cancelled.append(call.call_id)

    def close(self) -> None:
        self.is_closed = True

    def give(self, text: str, *, is_error: bool = False, cut: int = 0, pictures: tuple[Attachment, ...] = ()) -> None:
        self.done[-1](ToolResult(self.calls[-1].call_id, text, is_error, cut, pictures))


def opened(qtbot: QtBot, **settings: str | bool) -> tuple[AppHarness, ScriptedTools]:
    keep_settings({"tools": True, "built_in_tools": "", "allowed_tools": "files/read, files/write", **settings})
    harness = open_app()
    tools = ScriptedTools()
    harness.controller.answers.tools.providers.extra_providers = (tools,)
    harness.engine.is_loaded = True
    harness.engine.tell(EngineReady(replace(info("models/target.gguf"), tool_format=ToolFormat.HERMES)))
    qtbot.waitUntil(lambda: harness.window.engine.target is not None)
    return harness, tools


@pytest.fixture
def app(qtbot: QtBot) -> Iterator[tuple[AppHarness, ScriptedTools]]:
    """The app with tools that are allowed."""
    harness, tools = opened(qtbot)
    yield harness, tools
    harness.close()
    assert tools.is_closed


@pytest.fixture
def asking(qtbot: QtBot) -> Iterator[tuple[AppHarness, ScriptedTools]]:
    """The app with tools that need permission."""
    harness, tools = opened(qtbot, allowed_tools="")
    yield harness, tools
    harness.close()


def written(*calls: tuple[str, str]) -> str:
    each = (json.dumps({"name": name, "arguments": {"path": path}}) for name, path in calls)
    return "\n".join(f"<tool_call>\n{one}\n</tool_call>" for one in each)


def answer(app: AppHarness, qtbot: QtBot, text: str, reason: FinishReason = FinishReason.END) -> None:
    """Let the model send an answer in chunks."""
    num = len(app.window.finished)
    for start in range(0, len(text), 7):
        app.engine.say(text[start : start + 7])
    app.engine.finish(reason)
    qtbot.waitUntil(lambda: len(app.window.finished) > num)


def statuses(app: AppHarness) -> list[CallStatus]:
    return [view.call.status for view in app.messages() if view.call is not None]


def cards(app: AppHarness) -> list[ToolCard]:
    return [card for card in app.window.transcript.cards if isinstance(card, ToolCard)]


def test_a_call_is_run_and_the_model_goes_on(app: tuple[AppHarness, ScriptedTools], qtbot: QtBot) -> None:
    harness, tools = app
    harness.window.composer.submitted.emit("Read a.txt")
    assert [tool["function"]["name"] for tool in harness.engine.requests[-1].tools] == ["read", "write"]
    answer(harness, qtbot, "Let me see. " + written(("read", "a.txt")))
    assert harness.window.text.strip() == "Let me see."  # the JSON of the call was never shown
    assert harness.window.engine.state is EngineState.ANSWERING
    assert [(call.name, arguments_of(call)) for call in tools.calls] == [("read", {"path": "a.txt"})]
    assert statuses(harness) == [CallStatus.RUNNING]
    (card,) = cards(harness)
    assert (card.author.text(), card.server.text(), card.arguments.text()) == ("Read", "files · read", "path: a.txt")
    tools.give("<b>one</b>\ntwo", cut=3)
    qtbot.waitUntil(lambda: len(harness.engine.requests) == 2)
    assert card.status.text().startswith("Done in")
    assert card.preview.text() == "<b>one</b>\ntwo"
    assert "3" in card.note.text()
    call_id = tools.calls[0].call_id
    *_, said, result = harness.engine.requests[-1].messages
    assert (said.role, said.content.strip(), said.tool_calls[0].call_id) == ("assistant", "Let me see.", call_id)
    text = "<b>one</b>\ntwo\n[3 more characters were left out]"
    assert result == Message("tool", text, tool_call_id=call_id, name="read")
    answer(harness, qtbot, "It says one.")
    assert [view.role for view in harness.messages()] == ["user", "assistant", "tool", "assistant"]
    assert harness.messages()[-1].text == "It says one."
    assert harness.window.engine.state is EngineState.READY
    for view in harness.messages():
        assert sum(span.num_chars for span in view.spans) in (0, len(view.text))


def test_pictures_of_a_result_are_seen_shown_kept_and_go_with_the_chat(
    app: tuple[AppHarness, ScriptedTools], qtbot: QtBot
) -> None:
    harness, tools = app
    target = harness.window.engine_view.target
    assert target is not None
    harness.engine.tell(EngineReady(replace(target, has_vision=True)))
    qtbot.waitUntil(lambda: bool(harness.window.engine_view.target and harness.window.engine_view.target.has_vision))
    harness.window.composer.submitted.emit("Draw a slope.")
    answer(harness, qtbot, written(("read", "a.png")))
    picture = picture_attachment("picture 1", encoded(sample(), "PNG"))
    tools.give("[picture 1]", pictures=(picture, picture))
    qtbot.waitUntil(lambda: len(harness.engine.requests) == 2)
    result = harness.engine.requests[-1].messages[-1]
    assert (result.role, result.content) == ("tool", "[picture 1]")
    assert [(place, seen.rgb) for place, seen in result.pictures] == [(0, sample().tobytes())] * 2
    answer(harness, qtbot, "A slope.")
    (card,) = cards(harness)
    assert card.pictures is not None
    qtbot.mouseClick(card.pictures.chips[1], Qt.MouseButton.LeftButton)
    viewer = QApplication.activeModalWidget()
    assert isinstance(viewer, AttachmentDialog)
    viewer.copy_button.click()
    assert QApplication.clipboard().image().width() == WIDTH
    qtbot.keyClick(viewer, Qt.Key.Key_Escape)
    # A model without vision gets their names in the next question.
    harness.engine.tell(EngineReady(target))
    qtbot.waitUntil(lambda: not (harness.window.engine_view.target and harness.window.engine_view.target.has_vision))
    harness.window.composer.submitted.emit("And now?")
    told = next(one for one in harness.engine.requests[-1].messages if one.role == "tool")
    assert told.pictures == ()
    assert "Attached picture, which you cannot see: picture 1" in told.content
    answer(harness, qtbot, "I cannot see it.")
    # stored once, exported and imported, and deleted with its chat
    store, file = harness.store, harness.paths.data / "chats.json"

    def num_pictures() -> int:
        return int(store.read(lambda db: db.execute("SELECT count(*) FROM pictures").fetchone()[0]))

    assert num_pictures() == 1
    export_chats(store, file, JSON)
    store.deletions.delete_permanently([row.id for row in store.conversations()])
    assert num_pictures() == 0
    import_chats(store, file)
    (row,) = store.conversations()
    (view,) = (one for one in store.history(row.id) if one.call is not None)
    assert [one.picture.width for one in view.attachments if one.picture is not None] == [WIDTH, WIDTH]


def test_what_is_asked_by_a_seed_goes_on_by_it_after_a_call(
    app: tuple[AppHarness, ScriptedTools], qtbot: QtBot
) -> None:
    harness, tools = app
    harness.controller.conversations.change(Layer.CHAT, {"seed": 7, "temperature": 0.7})
    harness.window.composer.submitted.emit("Read a.txt")
    answer(harness, qtbot, "There is none.")
    harness.controller.conversations.reset(Layer.CHAT, ["seed"])
    harness.window.transcript.repeat_requested.emit(harness.messages()[-1].id)
    answer(harness, qtbot, written(("read", "a.txt")))
    tools.give("one")
    qtbot.waitUntil(lambda: len(harness.engine.requests) == 3)
    seeds = [request.sampling.seed for request in harness.engine.requests]
    assert seeds == [7, 7, 7]
    answer(harness, qtbot, "It says one.")
    for view in harness.messages():
        if view.role == "assistant":
            assert view.drawn is not None
            assert view.drawn.seed == seeds[1]
    harness.window.composer.submitted.emit("And now?")
    assert harness.engine.requests[-1].sampling.seed is None
    answer(harness, qtbot, "Nothing.")


def test_a_person_is_asked_and_may_refuse(asking: tuple[AppHarness, ScriptedTools], qtbot: QtBot) -> None:
    harness, tools = asking
    harness.window.composer.submitted.emit("Write it")
    answer(harness, qtbot, written(("write", "a"), ("read", "b")))
    assert statuses(harness) == [CallStatus.ASKED, CallStatus.WAITING]
    assert tools.calls == []
    first, second = cards(harness)
    assert list(first.buttons) == ["once", "chat", "always", "refused"]
    assert not any(button.isDefault() or button.autoDefault() or button.hasFocus() for button in first.buttons.values())
    first.buttons["refused"].click()
    assert first.reason is not None
    first.reason.setText("not there")
    first.reason.returnPressed.emit()
    assert statuses(harness) == [CallStatus.REFUSED, CallStatus.ASKED]
    assert "not there" in harness.messages()[2].text
    second.buttons["once"].click()
    assert [call.name for call in tools.calls] == ["read"]
    tools.give("B")
    qtbot.waitUntil(lambda: len(harness.engine.requests) == 2)
    answer(harness, qtbot, written(("read", "again")))
    assert statuses(harness)[-1] is CallStatus.ASKED  # the permission was for one call


@pytest.mark.parametrize("answered", ["chat", "always"])
def test_a_permission_is_kept(asking: tuple[AppHarness, ScriptedTools], qtbot: QtBot, answered: str) -> None:
    harness, tools = asking
    harness.window.composer.submitted.emit("Read")
    answer(harness, qtbot, written(("read", "a")))
    cards(harness)[0].buttons[answered].click()
    tools.give("A")
    qtbot.waitUntil(lambda: len(harness.engine.requests) == 2)
    answer(harness, qtbot, "Done.")
    harness.window.composer.submitted.emit("And again")
    answer(harness, qtbot, written(("read", "b")))
    assert [arguments_of(call)["path"] for call in tools.calls] == ["a", "b"]
    assert ("files/read" in str(harness.window.values["allowed_tools"])) is (answered == "always")
    tools.give("B")
    qtbot.waitUntil(lambda: len(harness.engine.requests) == 4)
    answer(harness, qtbot, "Done.")
    harness.window.sidebar.new_chat.emit()
    harness.window.composer.submitted.emit("In another chat")
    answer(harness, qtbot, written(("read", "c")))
    assert statuses(harness) == [CallStatus.RUNNING if answered == "always" else CallStatus.ASKED]


def test_stop_cancels_what_runs_and_loses_nothing(app: tuple[AppHarness, ScriptedTools], qtbot: QtBot) -> None:
    harness, tools = app
    harness.window.composer.submitted.emit("Both")
    answer(harness, qtbot, "I try. " + written(("read", "a"), ("write", "b")))
    harness.window.composer.stop_requested.emit()
    assert tools.cancelled == [tools.calls[0].call_id]
    assert statuses(harness) == [CallStatus.STOPPED, CallStatus.STOPPED]
    assert harness.window.engine.state is EngineState.READY
    tools.give("too late")
    qtbot.wait(20)
    assert statuses(harness) == [CallStatus.STOPPED, CallStatus.STOPPED]
    harness.window.composer.submitted.emit("And now?")
    said, *results, question = harness.engine.requests[-1].messages[1:]
    assert [call.name for call in said.tool_calls] == ["read", "write"]
    assert [result.content for result in results] == ["The user stopped this call."] * 2
    assert question.content == "And now?"


def test_stop_while_the_model_writes_a_call(app: tuple[AppHarness, ScriptedTools], qtbot: QtBot) -> None:
    harness, tools = app
    harness.window.composer.submitted.emit("Read")
    answer(harness, qtbot, "Let me. " + written(("read", "a")), FinishReason.CANCELLED)
    assert tools.calls == []
    assert [view.role for view in harness.messages()] == ["user", "assistant"]
    assert harness.messages()[-1].state is MessageState.STOPPED
    assert harness.window.engine.state is EngineState.READY


def test_an_answer_is_given_again_below_the_same_results(app: tuple[AppHarness, ScriptedTools], qtbot: QtBot) -> None:
    harness, tools = app
    harness.window.composer.submitted.emit("Read")
    answer(harness, qtbot, written(("read", "a")))
    tools.give("A")
    qtbot.waitUntil(lambda: len(harness.engine.requests) == 2)
    answer(harness, qtbot, "First.")
    harness.window.transcript.regenerate_requested.emit(harness.messages()[-1].id)
    assert [message.role for message in harness.engine.requests[-1].messages] == ["user", "assistant", "tool"]
    answer(harness, qtbot, "Second.")
    assert [view.text for view in harness.messages()][-2:] == ["A", "Second."]
    assert len(harness.messages()[-1].versions) == 2


def test_a_model_without_a_form_of_calls_is_told_of_no_tools(qtbot: QtBot) -> None:
    keep_settings({"tools": True})
    harness = open_app()
    harness.engine.ready()
    qtbot.waitUntil(lambda: harness.window.engine.target is not None)
    harness.window.composer.submitted.emit("Hello")
    assert harness.engine.requests[-1].tools == ()
    assert "This model cannot use tools" in harness.window.notices[-1]
    harness.close()


def test_a_call_of_which_nobody_knows_is_not_repeated_by_itself(
    app: tuple[AppHarness, ScriptedTools], qtbot: QtBot
) -> None:
    harness, tools = app
    harness.window.composer.submitted.emit("Write")
    answer(harness, qtbot, written(("write", "a"), ("read", "b")))
    stored = harness.messages()[-2]
    assert stored.call is not None
    harness.window.composer.stop_requested.emit()
    harness.store.calls.change(stored.id, replace(stored.call, status=CallStatus.UNKNOWN))  # as after a kill
    harness.controller.conversations.show()
    card, _ = cards(harness)
    assert "was not finished" in card.note.text()
    assert len(tools.calls) == 1
    assert card.repeat_button is not None
    card.repeat_button.click()
    assert [arguments_of(call)["path"] for call in tools.calls] == ["a", "a"]
    tools.give("written")
    qtbot.waitUntil(lambda: len(harness.engine.requests) == 2)
    results = [message.content for message in harness.engine.requests[-1].messages[-2:]]
    assert results == ["written", "The user stopped this call."]


def test_a_chat_chooses_its_servers_and_built_in_tools(app: tuple[AppHarness, ScriptedTools], qtbot: QtBot) -> None:
    harness, _tools = app
    names = lambda: [tool["function"]["name"] for tool in harness.engine.requests[-1].tools]  # noqa: E731
    harness.window.composer.submitted.emit("Here")
    answer(harness, qtbot, "Yes.")
    own = {"unused_servers": "files, gone", "built_in_tools": "calculate"}
    harness.window.chat_settings.changed.emit(Layer.CHAT, own)
    harness.window.composer.submitted.emit("And here")
    assert names() == ["calculate"]
    answer(harness, qtbot, "Yes.")
    harness.window.sidebar.new_chat.emit()
    harness.window.composer.submitted.emit("In another chat")
    assert names() == ["read", "write"]
    answer(harness, qtbot, "Yes.")


@pytest.mark.parametrize("holds", [False, True, None])
def test_calls_are_held_in_their_form_unless_that_is_switched_off(qtbot: QtBot, holds: bool | None) -> None:
    harness, _tools = opened(qtbot, **({} if holds is None else {"hold_calls": holds}))
    harness.window.composer.submitted.emit("Read")
    assert harness.engine.requests[-1].constrains_calls is (holds is not False)
    answer(harness, qtbot, "Yes.")
    harness.close()


def test_calls_that_cannot_be_read_end_in_a_sentence(app: tuple[AppHarness, ScriptedTools], qtbot: QtBot) -> None:
    harness, tools = app
    harness.window.composer.submitted.emit("Read")
    for number in range(MAX_UNREADABLE):
        qtbot.waitUntil(lambda wanted=number + 1: len(harness.engine.requests) == wanted)
        harness.engine.say('<tool_call>\n{{"name": "read"}}\n</tool_call>')
        harness.engine.finish()
    qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.READY)
    assert len(harness.engine.requests) == MAX_UNREADABLE
    assert not tools.calls
    answers = [view for view in harness.messages() if view.role == "assistant"]
    assert [view.text for view in answers] == [""] * 3
    assert answers[-1].notice.startswith("The model wrote 3 invalid tool calls in a row")


def picker(harness: AppHarness) -> ChoiceList:
    popup = harness.window.composer.tools_popup
    assert popup is not None
    return popup.list


def shown_tools(harness: AppHarness) -> dict[str, tuple[str, str, str]]:
    """The title, cost and state of each row by key."""
    return {row.key: (row.title, row.side, row.spoken) for row in picker(harness).rows.rows if row.key}


def click_row(harness: AppHarness, qtbot: QtBot, key: str) -> None:
    view = picker(harness)
    line = next(line for line, row in enumerate(view.rows.rows) if row.key == key)
    view.scrollTo(view.rows.index(line, 0))
    place = view.visualRect(view.rows.index(line, 0)).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_the_picker_switches_servers_and_tools_and_says_what_they_cost(
    app: tuple[AppHarness, ScriptedTools], qtbot: QtBot
) -> None:
    harness, _tools = app
    composer = harness.window.composer
    qtbot.mouseClick(composer.tools_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: all(row[1] for key, row in shown_tools(harness).items() if "\n" in key and key != "\n"))
    rows = shown_tools(harness)
    assert rows["\n"][2] == "on"
    assert rows["Built in\ncalculate"][0::2] == ("Calculator", "off")
    assert rows["files\n"][0::2] == ("All tools of this server", "on")
    assert "files" in [row.title for row in picker(harness).rows.rows if not row.key]
    assert rows["files\nread"][0::2] == ("Read", "on")
    assert rows["files\n"][1].endswith("tokens")
    before = composer.tools_button.accessibleName()
    assert before.startswith("Tools are on. They take about ")
    click_row(harness, qtbot, "files\nwrite")
    assert picker(harness).isVisible()  # stays open for the next choice
    assert shown_tools(harness)["files\nwrite"][2] == "off"
    assert composer.tools_button.accessibleName() != before
    click_row(harness, qtbot, "Built in\ncalculate")
    composer.tools_popup.close()
    composer.submitted.emit("Read")
    offered = [tool["function"]["name"] for tool in harness.engine.requests[-1].tools]  # type: ignore[index]
    assert offered == ["calculate", "read"]
    answer(harness, qtbot, "Yes.")
