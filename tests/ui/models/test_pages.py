"""Tests the pages of the models panel with real clicks and keys: requests and texts."""

from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from app.core.domain.engines import RemoteModel, ServerFacts, ServerKind, ServerRecord
from app.core.domain.models import (
    ModelRef,
    Presence,
    Suitability,
    VocabularyMatch,
)
from app.core.domain.speed.pair_speed import PairSpeed, RaceSpeed
from engine.records import Problem
from tests.ui.models import records as r
from tests.ui.models.reading import asked, pressed, said
from ui.models.panel import ModelsPanel
from ui.widgets.popups import NoWheelComboBox

LEFT = Qt.MouseButton.LeftButton
OFFLINE = Problem("The hub cannot be reached", "No connection.", "Check the network.")


# ---- search --------------------------------------------------------------------------------------------------------


def test_typing_asks_after_a_pause_and_old_answers_are_ignored(place: ModelsPanel, qtbot: QtBot) -> None:
    queries = asked(place.requests.search_requested)
    place.open("search")
    assert queries == [("",)]
    qtbot.keyClicks(place.search.field, "qwen")
    qtbot.waitUntil(lambda: len(queries) == 2, timeout=30_000)
    assert queries[1] == ("qwen",)
    place.search.set_results("", r.results())
    assert place.search.list.rows.rowCount() == 0
    place.search.set_results("qwen", r.results())
    assert place.search.list.rows.rowCount() == len(r.results())
    assert place.search.status.text() == "5 models"


def test_a_result_says_size_verdict_and_gate_in_words(place: ModelsPanel) -> None:
    place.open("search")
    place.search.set_results("", r.results())
    rows = place.search.list.rows
    spoken = rows.data(rows.index(1, 0), Qt.ItemDataRole.AccessibleTextRole)
    assert spoken is not None
    assert all(word in spoken for word in ("gemma-3-12b-it-GGUF", "Tight", "Gated", "640 k downloads", "google"))


def test_nothing_found_and_no_network_say_what_to_do(place: ModelsPanel, qtbot: QtBot) -> None:
    place.open("search")
    qtbot.keyClicks(place.search.field, "zzz")
    place.search.search()
    queries = asked(place.requests.search_requested)
    place.search.set_results(place.search.field.text(), [])
    assert "Nothing found" in said(place.search)
    qtbot.mouseClick(pressed(place.search, "Clear the search"), LEFT)
    assert queries == [("",)]
    place.search.set_problem(OFFLINE)
    assert "No connection. Check the network." in said(place.search)
    qtbot.mouseClick(pressed(place.search, "Try again"), LEFT)
    assert len(queries) == 2


def test_files_are_shown_as_what_they_are(place: ModelsPanel, qtbot: QtBot) -> None:
    place.open("search")
    place.search.pane.show_details(r.details())
    shown = said(place.search.pane)
    for words in (
        "Q4_K_M",
        "4.68 GB",
        "3 parts",
        "Too large",
        "Image projector (mmproj)",
        "Quantization data (imatrix)",
    ):
        assert words in shown
    pulls, chats = asked(place.requests.pull_requested), asked(place.requests.chat_requested)
    qtbot.mouseClick(pressed(place, "Download Q2_K"), LEFT)
    qtbot.mouseClick(pressed(place, "Chat with Q4_K_M"), LEFT)
    assert pulls == [((ModelRef(r.REPO, "qwen2.5-7b-instruct-q2_k.gguf"),), False)]
    assert chats == [(r.TARGET_REF, None)]
    assert not any("mmproj" in one.accessibleName() for one in place.findChildren(QPushButton))


def test_a_download_that_was_begun_leaves_the_focus_in_its_row(place: ModelsPanel, qtbot: QtBot) -> None:
    place.open("search")
    details = r.details()
    place.search.pane.show_details(details)
    qtbot.mouseClick(pressed(place, "Download Q2_K"), LEFT)
    begun = [replace(file, presence=Presence.DOWNLOADING) if file.label == "Q2_K" else file for file in details.files]
    place.search.pane.show_details(replace(details, files=tuple(begun)))
    focused = QApplication.focusWidget()
    assert focused is not None
    assert focused.accessibleName() == "Q2_K is downloading"


def test_a_gated_model_takes_a_token_as_a_password_and_forgets_it(place: ModelsPanel, qtbot: QtBot) -> None:
    place.open("search")
    place.search.pane.show_details(r.details(gated=True))
    gate = place.search.pane.gate
    assert gate.isVisible()
    assert gate.field.echoMode() is QLineEdit.EchoMode.Password
    tokens = asked(place.requests.token_entered)
    qtbot.keyClicks(gate.field, "hf_secret")
    qtbot.keyClick(gate.field, Qt.Key.Key_Return)
    assert tokens == [("hf_secret",)]
    assert gate.field.text() == ""
    place.search.pane.show_details(r.details(gated=True, has_token=True))
    assert not gate.field.isVisible()
    assert gate.remove_button.isVisible()


# ---- pairs ---------------------------------------------------------------------------------------------------------


def offered(place: ModelsPanel) -> list[tuple[str, str]]:
    """The actions offered for the shown pair, each with its kind."""
    QApplication.processEvents()
    buttons = [one for one in place.recommended.card.findChildren(QPushButton) if one.isVisible()]
    return [(one.accessibleName(), one.property("kind") or "") for one in buttons]


def test_the_verdict_is_words_and_icon_and_the_fit_is_a_table(place: ModelsPanel, qtbot: QtBot) -> None:
    place.open("recommended")
    place.recommended.set_rows(r.catalog())
    place.recommended.card.set_pair(r.PAIR)
    shown = said(place.recommended.card)
    for words in ("The draft matches", "8,192 tokens", "6.54 GB of 7.20 GB free", "Tight", "4,096 tokens"):
        assert words in shown
    assert not place.recommended.card.verdict.picture.pixmap().isNull()
    pulls = asked(place.requests.pull_requested)
    qtbot.mouseClick(pressed(place.recommended, "Download"), LEFT)
    qtbot.mouseClick(pressed(place.recommended, "Download and chat"), LEFT)
    assert pulls == [((r.TARGET_REF, r.DRAFT_REF), False), ((r.TARGET_REF, r.DRAFT_REF), True)]


def test_a_refused_pair_names_the_token_and_is_not_offered(place: ModelsPanel, qtbot: QtBot) -> None:
    place.open("recommended")
    place.recommended.set_rows(r.catalog())
    place.recommended.card.set_pair(r.REFUSED)
    shown = said(place.recommended.card)
    assert "The draft does not match" in shown
    assert "Token 139 differs" in shown
    pulls = asked(place.requests.pull_requested)
    assert "Only the target is offered" in shown
    assert offered(place) == [("Download", ""), ("Download and chat", "primary")]
    qtbot.mouseClick(pressed(place.recommended, "Download"), LEFT)
    qtbot.mouseClick(pressed(place.recommended, "Download and chat"), LEFT)
    assert pulls == [((r.TARGET_REF,), False), ((r.TARGET_REF,), True)]
    place.recommended.card.set_pair(replace(r.REFUSED, target=replace(r.TARGET, presence=Presence.HERE)))
    assert offered(place) == [("Chat", "primary")]
    place.recommended.card.set_pair(r.PAIR)
    assert "Only the target is offered" not in said(place.recommended.card)


def test_what_may_still_be_refused_is_not_pressed_on_anybody(place: ModelsPanel, qtbot: QtBot) -> None:
    place.open("recommended")
    place.recommended.set_rows(r.catalog())
    here = {"target": replace(r.TARGET, presence=Presence.HERE), "draft": replace(r.DRAFT, presence=Presence.HERE)}
    pulls, chats = asked(place.requests.pull_requested), asked(place.requests.chat_requested)
    for changes, names in (({}, ["Download", "Download and chat"]), (here, ["Chat"])):
        place.recommended.card.set_pair(replace(r.PAIR, match=VocabularyMatch.CHECKING, **changes))
        assert offered(place) == [(name, "") for name in names]
        for name in names:
            assert not pressed(place.recommended, name).isEnabled()
            qtbot.mouseClick(pressed(place.recommended, name), LEFT)
        place.recommended.card.set_pair(replace(r.PAIR, match=VocabularyMatch.UNCHECKED, **changes))
        assert offered(place) == [(name, "") for name in names]
        assert all(pressed(place.recommended, name).isEnabled() for name in names)
        place.recommended.card.set_pair(replace(r.PAIR, **changes))
        assert offered(place)[-1] == (names[-1], "primary")
    assert (pulls, chats) == ([], [])


def test_what_a_pair_gave_here_stands_out(place: ModelsPanel) -> None:
    place.open("recommended")
    race = PairSpeed("t", "d", races=(RaceSpeed(1.0, "auto", 0.0, 1.62, 1.48, 1.77, 4, 1024),))
    pair, gain = r.catalog()[0].pair, place.recommended.card.gain
    for measured, words, tone in (
        (race, "Measured here: 1.62× the speed without drafting, in a race (1.48–1.77).", "tone-good"),
        (replace(race, races=(replace(race.races[0], speedup=0.9),)), "Measured here: 0.90×", "tone-warn"),
    ):
        place.recommended.card.set_pair(replace(pair, measured=measured))
        assert gain.text.text().startswith(words)
        assert gain.text.property("kind") == tone
    place.recommended.card.set_pair(pair)
    assert gain.isHidden()


def test_what_runs_well_here_is_looked_at_first_at_the_top_of_the_list(place: ModelsPanel) -> None:
    place.open("recommended")
    opened = asked(place.requests.catalog_requested)
    rows = [replace(row, suits=Suitability.POORLY) for row in r.catalog()]
    rows[1] = replace(rows[1], suits=Suitability.WELL, tokens_per_s=11.26)
    place.recommended.set_rows(rows[::-1])
    listing = place.recommended.list
    assert opened == [("q7",)]
    assert listing.current_key() == "q7"
    assert place.recommended.title.text() == "Qwen2.5 7B + 0.5B"
    titles = [row.title for row in listing.rows.rows]
    assert titles[:4] == [
        "Run well on this computer",
        "Qwen2.5 7B + 0.5B",
        "Fit this computer",
        "Qwen2.5 3B + 0.5B",
    ]
    assert listing.rows.rows[1].lines == ("Questions and code on a good laptop", "about 11 tokens per second")
    assert listing.verticalScrollBar().value() == 0
    place.recommended.list.choose("l8")
    place.recommended.set_rows(rows)
    assert place.recommended.list.current_key() == "l8", "what somebody chose stays"


def test_recommended_pairs_are_grouped_by_fit(place: ModelsPanel) -> None:
    wanted = asked(place.requests.recommendations_requested)
    place.open("recommended")
    assert wanted == [()]
    assert "Looking for models that fit this computer" in said(place.recommended)
    opened = asked(place.requests.catalog_requested)
    place.recommended.set_rows(r.catalog())
    headings = [row.title for row in place.recommended.list.rows.rows if not row.key]
    assert headings == ["Fit this computer", "A tight fit", "Too large for this computer"]
    assert opened == [("q3",)]
    place.recommended.set_pair("other", r.REFUSED)
    assert "does not match" not in said(place.recommended)
    place.recommended.set_pair("q3", r.PAIR)
    assert "The draft matches" in said(place.recommended)
    place.recommended.set_rows([])
    assert "No recommendations" in said(place.recommended)


# ---- engines of others ------------------------------------------------------------------


def test_an_engine_is_shown_with_what_it_tells(place: ModelsPanel) -> None:
    two = (RemoteModel("small", 2048), RemoteModel("large", 8192))
    facts = ServerFacts(ServerKind.VLLM, "0.32.0", two)
    place.open("engines")
    place.engines.set_engines(
        [
            ServerRecord("http://192.168.1.5:8000", facts, allows_plain=True),
            ServerRecord("https://gpu.example.org", replace(facts, models=two[:1], drafting="EAGLE3")),
            ServerRecord("https://other.example.org", replace(facts, models=two[:1])),
        ]
    )
    texts = said(place.engines)
    assert "2 models · drafting unknown · unencrypted" in texts
    assert "1 model · drafts: EAGLE3 · context of 2,048 tokens" in texts
    assert "1 model · drafting unknown · context of 2,048 tokens" in texts
    names = [box.itemText(0) for box in place.engines.findChildren(NoWheelComboBox)]
    assert sorted(names) == ["small", "small", "small · context of 2,048 tokens"]
