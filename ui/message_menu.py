"""The menu of one message: copy it in two forms, give it again in another mode, let it go on, delete it."""

from __future__ import annotations

from functools import partial

from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QApplication, QMenu

from engine.records import Mode
from ui.formatting import MODE_LABELS
from ui.message_card import AnswerCard, MessageCard, UserCard


def plain_text(markdown: str) -> str:
    """The words of a Markdown text without its marks."""
    document = QTextDocument()
    document.setMarkdown(markdown, QTextDocument.MarkdownFeature.MarkdownNoHTML)
    return document.toPlainText()


def make_menu(card: MessageCard) -> QMenu:
    """Make the menu of a card; what does not apply to it is left out."""
    menu, theme = QMenu(card), card.theme
    if isinstance(card, AnswerCard):
        menu.addAction(theme.icon("copy"), "Copy as Markdown", card.copy_text)
        menu.addAction("Copy as text", lambda: QApplication.clipboard().setText(plain_text(card.text)))
        menu.addSeparator()
        again = menu.addMenu(theme.icon("refresh-cw"), "Regenerate in mode")
        for mode in Mode:
            again.addAction(MODE_LABELS[mode], partial(card.regenerate_in_mode.emit, card.message_id, mode))
        if card.can_go_on:
            menu.addAction(theme.icon("play"), "Continue", lambda: card.continue_requested.emit(card.message_id))
    else:
        menu.addAction(theme.icon("copy"), "Copy", card.copy_text)
        if isinstance(card, UserCard):
            menu.addAction(theme.icon("pencil"), "Edit", card.begin_edit)
    menu.addSeparator()
    delete = "Delete from here on…"
    menu.addAction(theme.icon("trash-2"), delete, lambda: card.delete_requested.emit(card.message_id))
    return menu
