"""Tests the seed of an answer, which generates it again; from the menu to the file."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.core.domain.engine_view import EngineState
from app.core.domain.messages import MessageView
from app.core.domain.settings.layers import Layer
from app.core.paths import builtin_draft, builtin_target, find_paths
from app.core.storage.exchange.transfer import export_chats, import_chats
from engine.records import Event, FinishReason, Mode
from engine.session.worker import EngineWorker, probing_session
from tests.app.controllers.chat.test_answers import answer
from tests.app.core.storage.exchange.test_exchange import fresh
from tests.app.fakes import AppHarness, keep_settings, open_app
from tests.menus import come_back, open_menu, take
from ui.transcript.cards.answer_card import AnswerCard

SEED = 77


def last_card(harness: AppHarness, qtbot: QtBot) -> AnswerCard:
    qtbot.waitUntil(lambda: not harness.window.transcript.is_building)
    card = harness.window.transcript.last_answer()
    assert card is not None
    return card


def choose(harness: AppHarness, qtbot: QtBot, *words: str) -> None:
    """Open the menu of the last answer with the mouse, and choose an entry."""
    come_back(harness.window, qtbot)
    qtbot.mouseClick(last_card(harness, qtbot).more_button, Qt.MouseButton.LeftButton)
    take(qtbot, *words)
    come_back(harness.window, qtbot)


def seeds_of(harness: AppHarness, qtbot: QtBot) -> list[str]:
    """The entries of the menu about the seed."""
    qtbot.mouseClick(last_card(harness, qtbot).more_button, Qt.MouseButton.LeftButton)
    menu = open_menu(qtbot)
    found = [action.text() for action in menu.actions() if "seed" in action.text()]
    menu.close()
    return found


def give(harness: AppHarness, qtbot: QtBot, text: str, reason: FinishReason = FinishReason.END) -> MessageView:
    """Let the engine send an answer."""
    num_finished = len(harness.window.finished)
    harness.engine.say(text)
    harness.engine.finish(reason)
    qtbot.waitUntil(lambda: len(harness.window.finished) > num_finished)
    return harness.messages()[-1]


def own(harness: AppHarness, **values: object) -> None:
    harness.controller.conversations.change(Layer.CHAT, values)  # type: ignore[arg-type]


@pytest.fixture
def seeded(harness: AppHarness, qtbot: QtBot) -> AppHarness:
    """The app with one answer that was sampled with a seed."""
    own(harness, seed=SEED, temperature=0.7)
    answer(harness, qtbot, "one", "first")
    return harness


def test_a_seeded_answer_is_given_again_beside_the_old_one(seeded: AppHarness, qtbot: QtBot) -> None:
    assert seeds_of(seeded, qtbot) == [f"Repeat with seed {SEED}", "Copy the seed"]
    assert last_card(seeded, qtbot).figures.text().endswith(f"seed {SEED}")
    before = seeded.messages()[-1]
    choose(seeded, qtbot, "Repeat with seed")
    first, again = seeded.engine.requests
    assert (again.messages, again.sampling) == (first.messages, first.sampling)
    given = give(seeded, qtbot, "first")
    assert given.notice == f"Seed {SEED} gave the same answer again."
    assert len(given.versions) == 2
    assert given.drawn == before.drawn
    assert last_card(seeded, qtbot).notice.text() == given.notice


def test_it_is_drawn_as_it_was_whatever_the_chat_has_now(seeded: AppHarness, qtbot: QtBot) -> None:
    own(seeded, seed=5, temperature=1.3, top_k=7, mode=Mode.OFF.value)
    choose(seeded, qtbot, "Repeat with seed")
    first, again = seeded.engine.requests
    assert again.sampling == first.sampling
    assert again.mode is Mode.OFF
    given = give(seeded, qtbot, "first")
    assert given.notice == f"Seed {SEED} gave the same answer again."
    assert seeded.controller.state.chat.settings.integer("seed") == 5


@pytest.mark.parametrize(
    ("text", "reason", "words"),
    [
        ("fir", FinishReason.CANCELLED, "gave the same text, up to the end of the shorter answer."),
        ("second", FinishReason.END, "gave another answer than before"),
    ],
)
def test_an_answer_is_compared_with_the_one_it_repeats(
    seeded: AppHarness, qtbot: QtBot, text: str, reason: FinishReason, words: str
) -> None:
    choose(seeded, qtbot, "Repeat with seed")
    assert give(seeded, qtbot, text, reason).notice.startswith(f"Seed {SEED} {words}")


def test_without_a_seed_there_is_nothing_to_repeat(harness: AppHarness, qtbot: QtBot) -> None:
    answer(harness, qtbot, "one", "first")
    assert harness.engine.requests[0].sampling.seed is None
    assert seeds_of(harness, qtbot) == []


def test_at_temperature_0_there_is_nothing_to_repeat(harness: AppHarness, qtbot: QtBot) -> None:
    own(harness, seed=SEED, temperature=0.0)
    answer(harness, qtbot, "one", "first")
    assert seeds_of(harness, qtbot) == []
    assert "seed" not in last_card(harness, qtbot).figures.text()


def test_one_that_goes_on_is_drawn_as_it_began(seeded: AppHarness, qtbot: QtBot) -> None:
    choose(seeded, qtbot, "Repeat with seed")
    half = give(seeded, qtbot, "Half", FinishReason.LENGTH)
    assert half.drawn is not None
    seeded.controller.conversations.reset(Layer.CHAT, ["seed"])
    own(seeded, max_tokens=500)
    seeded.window.transcript.continue_requested.emit(half.id)
    assert seeded.engine.requests[-1].sampling.seed == half.drawn.seed
    whole = give(seeded, qtbot, " a word.")
    assert whole.drawn is not None
    assert whole.drawn.seed == half.drawn.seed


def test_one_that_goes_on_otherwise_is_given_again_by_no_seed(seeded: AppHarness, qtbot: QtBot) -> None:
    choose(seeded, qtbot, "Repeat with seed")
    half = give(seeded, qtbot, "Half", FinishReason.LENGTH)
    own(seeded, temperature=1.1)
    seeded.window.transcript.continue_requested.emit(half.id)
    assert give(seeded, qtbot, " a word.").drawn is None
    assert seeds_of(seeded, qtbot) == []


def test_the_seed_outlives_a_restart_a_copy_and_an_export(seeded: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    before = seeded.messages()[-1].drawn
    copy = seeded.store.library.branch_off(seeded.messages()[-1].id)
    assert seeded.store.messages(copy)[-1].drawn == before
    file = tmp_path / "out.json"
    export_chats(seeded.store, file, "json", seeded.controller.state.chat_id)
    seeded.window.close()
    again = open_app()
    again.engine.ready()
    qtbot.waitUntil(lambda: again.window.engine.target is not None)
    assert again.messages()[-1].drawn == before
    choose(again, qtbot, "Repeat with seed")
    assert again.engine.requests[-1].sampling.seed == SEED
    assert "the same answer" in give(again, qtbot, "first").notice
    again.close()
    elsewhere = fresh(tmp_path)
    assert import_chats(elsewhere, file).num_new == 1
    (row,) = elsewhere.conversations()
    assert elsewhere.messages(row.id)[-1].drawn == before
    elsewhere.close()


def real_engine(on_event: Callable[[Event], None]) -> EngineWorker:
    return EngineWorker(on_event, lambda: probing_session(find_paths().cache))


@pytest.fixture
def real(qtbot: QtBot, tried: None) -> Iterator[AppHarness]:
    """The app with the real built-in pair."""
    keep_settings({"target_path": str(builtin_target()), "draft_path": str(builtin_draft()), "max_tokens": 24})
    harness = open_app(real_engine)
    qtbot.waitUntil(lambda: harness.window.engine.target is not None)
    yield harness
    harness.close()


def test_every_mode_repeats_a_real_answer(real: AppHarness, qtbot: QtBot) -> None:
    own(real, temperature=1.0, seed=SEED)
    real.window.composer.submitted.emit("Tell me a story about a fox.")

    def ended(count: int) -> None:
        qtbot.waitUntil(lambda: len(real.window.finished) == count)
        qtbot.waitUntil(lambda: real.window.engine.state is EngineState.READY)

    ended(1)
    first = real.messages()[-1]
    assert first.drawn is not None
    for place, mode in enumerate((Mode.OFF, Mode.NGRAM, Mode.DRAFT, Mode.AUTO)):
        own(real, mode=mode.value)
        choose(real, qtbot, "Repeat with seed")
        ended(2 + place)
        again = real.messages()[-1]
        assert again.text == first.text
        assert again.notice.startswith(f"Seed {first.drawn.seed} gave the same answer again.")
        assert again.stats is not None
        assert again.stats.mode is mode
