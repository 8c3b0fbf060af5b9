"""A view of prose says from which height on it changed, whatever was marked before."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from engine.records import Source
from ui.theme.theme import Theme
from ui.transcript.cards.prose_view import ProseView
from ui.transcript.marks.provenance import MarkedRange


@pytest.mark.parametrize("shorter", ["", "<p>One</p>"])
def test_marks_of_text_that_is_gone_can_be_taken_away(qtbot: QtBot, theme: Theme, shorter: str) -> None:
    """A race writes its next round into the same view, whose text is then shorter than what was marked."""
    view = ProseView(theme)
    qtbot.addWidget(view)
    view.set_html("<p>One</p><p>Two and three</p>")
    view.mark_words([MarkedRange(0, 3, Source.DRAFT), MarkedRange(8, 9, Source.NGRAM)])
    view.set_html(shorter)
    top = view.mark_words([MarkedRange(0, 3, Source.DRAFT)] if shorter else [])
    assert top is not None
    assert 0 <= top <= view.document().size().height()
