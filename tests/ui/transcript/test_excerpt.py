"""Tests copied text and HTML: code with its colours, reasoning only if it is shown."""

import re

from PySide6.QtWidgets import QApplication

from app.core.domain.messages import MessageView
from ui.theme.theme import Theme
from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.cards.code_block import CodeBlock
from ui.transcript.cards.user_card import UserCard
from ui.transcript.excerpt import ExcerptPart, code_html, excerpt_of

ANSWER = "<think>Hm **so**</think>The *answer*\n\n```py\ndef f(): ...\n```\n"


def test_code_has_the_colours_of_a_light_page() -> None:
    html = code_html("def 𝒇(): # <x>\n\treturn 'é'", "python")
    assert re.search(r'<span style="color: #[0-9a-fA-F]+">def</span>', html)
    assert "# &lt;x&gt;</span>\n" in html
    assert re.sub("<[^>]*>", "", html).count("\n") == 1
    assert code_html("a < b", "nonsense") == "a &lt; b"


def test_reasoning_is_copied_where_it_is_open() -> None:
    assert excerpt_of([ExcerptPart("assistant", ANSWER)]).text.startswith("The answer\n\ndef")
    assert excerpt_of([ExcerptPart("assistant", ANSWER, with_reasoning=True)]).text.startswith(
        "Hm so\n\nThe answer\n\ndef"
    )
    assert (
        excerpt_of([ExcerptPart("user", "<b>"), ExcerptPart("assistant", "**b**")]).html
        == "<p>&lt;b&gt;</p>\n<p><strong>b</strong></p>\n"
    )


def test_the_buttons_give_both(theme: Theme) -> None:
    clipboard = QApplication.clipboard()
    answer = AnswerCard(theme, MessageView(1, "assistant", ANSWER))
    while answer.build_next():
        pass
    answer.copy_button.click()
    assert clipboard.text() == "The *answer*\n\n```py\ndef f(): ...\n```\n"
    assert "<em>answer</em>" in clipboard.mimeData().html()
    code = next(part for part in answer.body.segments if isinstance(part, CodeBlock))
    code.copy_button.click()
    assert clipboard.text() == "def f(): ...\n"
    assert clipboard.mimeData().html().startswith('<pre dir="ltr" ')
    UserCard(theme, MessageView(2, "user", "Ask *this*")).copy_text()
    assert (clipboard.text(), clipboard.mimeData().html()) == ("Ask *this*", "<p>Ask *this*</p>\n")
    clipboard.clear()
