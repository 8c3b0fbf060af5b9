"""The README of a repository: Markdown from a stranger, shown without HTML, scripts or anything that is loaded."""

from __future__ import annotations

import re

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from ui.markdown.html_writer import render_tokens
from ui.markdown.parser import SafeParser
from ui.text.language import mark, translate
from ui.theme.theme import Theme
from ui.transcript.cards.prose_view import ProseView

MAX_CHARS = 60_000
CUT = mark("ReadmeView", "Read the rest on the repository's page.")
_FRONT_MATTER = re.compile(r"\A---\s*\n.*?\n---\s*\n", re.DOTALL)
_MAX_FRONT_CHARS = 20_000


def readme_html(markdown: str) -> str:
    """HTML for Qt's text documents; raw HTML stays visible as text, images become their descriptions."""
    text = markdown[:MAX_CHARS]
    head = _FRONT_MATTER.match(text[:_MAX_FRONT_CHARS])
    body = text[head.end() :] if head else text
    if len(markdown) > MAX_CHARS:
        body += f"\n\n*{translate('ReadmeView', CUT)}*"
    parser = SafeParser(formulas=False)
    return render_tokens(parser, parser.parse(body))


class ReadmeView(ProseView):
    """As high as its text.

    Signals:
        link_activated(str): from `ProseView`; nothing has been opened.
    """

    shown = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setAccessibleName(translate("ReadmeView", "Description"))
        self.setFont(theme.font(0))

    def set_markdown(self, markdown: str) -> None:
        self.set_html(readme_html(markdown))
        self.shown.emit()
