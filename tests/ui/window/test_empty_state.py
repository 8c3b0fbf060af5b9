"""The empty page suits the model: demo messages, questions, code, or texts to continue."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.core.domain.engine_view import EngineState, EngineView
from engine.records import FROM_MODEL
from tests.ui.conftest import model
from ui.theme.theme import Theme
from ui.window.empty_state import BUILTIN, CHAT, EmptyState


@pytest.fixture
def page(theme: Theme, qtbot: QtBot) -> EmptyState:
    made = EmptyState(theme)
    qtbot.addWidget(made)
    made.show()
    return made


def view(name: str = "Some Model 7B", template: str = FROM_MODEL) -> EngineView:
    return EngineView(EngineState.READY, replace(model(), name=name, template_name=template))


def offered(page: EmptyState) -> list[str]:
    return [text for _, _, text in page.examples]


def test_the_built_in_examples_are_for_the_built_in_pair_only(page: EmptyState) -> None:
    page.set_engine(view(), builtin=True)
    assert offered(page) == [text for _, _, text in BUILTIN]
    page.set_engine(view(), builtin=False)
    assert offered(page) == [text for _, _, text in CHAT]


def test_a_model_without_a_template_says_so_and_continues_texts_if_that_is_chosen(page: EmptyState) -> None:
    page.set_engine(view(template="User/Assistant (fallback)"), builtin=False)
    assert "has no chat template" in page.text.text()
    page.set_completing(True)
    assert offered(page) == []
    assert page.title.text() == "Continue a text"


def test_an_example_is_sent_by_a_click(page: EmptyState, qtbot: QtBot) -> None:
    page.set_engine(view(), builtin=False)
    with qtbot.waitSignal(page.prompt_chosen) as sent:
        qtbot.mouseClick(page.prompt_buttons[0], Qt.MouseButton.LeftButton)
    assert sent.args == [CHAT[0][2]]


def test_nothing_is_said_of_the_built_in_model_while_another_is_loaded(page: EmptyState) -> None:
    page.set_engine(replace(view(), state=EngineState.LOADING), builtin=True)
    assert page.title.text() == "Loading the model"
    assert not page.prompts.isVisible()
    assert not page.browse_button.isVisible(), "there is nothing to look for while one is on its way"
    page.set_engine(replace(view(), state=EngineState.LOADING, loading="big-q4"), builtin=True)
    assert page.title.text() == "Loading big-q4"
    page.set_engine(view(), builtin=True)
    assert page.title.text() == "Quick demo"
    assert page.prompts.isVisible()


def test_the_examples_are_stacked_where_two_are_too_wide(page: EmptyState, qtbot: QtBot) -> None:
    page.set_engine(view(), builtin=False)

    def columns() -> int:
        return len({each.x() for each in page.prompt_buttons})

    page.resize(700, 600)
    qtbot.waitUntil(lambda: columns() == 2)
    page.resize(330, 600)
    qtbot.waitUntil(lambda: columns() == 1)
    assert not page.horizontalScrollBar().maximum()
