"""The menu of one message: copy it in two forms, give it again in another mode, let it go on, delete it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from html import escape

from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QApplication

from app.core.domain.engine_view import TargetChoice
from app.core.domain.seeds import SeedWish
from engine.records import Mode
from ui.markdown.blocks import BlockStream
from ui.markdown.html_writer import FORMULA_IMAGE, formula_source
from ui.text.formatting import as_written, hover, mode_label, on_button
from ui.text.language import translate
from ui.text.mode_words import mode_line
from ui.text.model_titles import title_of
from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.cards.card import MessageCard
from ui.transcript.cards.user_card import UserCard
from ui.widgets.popups import Menu


def plain_text(markdown: str) -> str:
    """The words of a Markdown text without its marks; formulas as their source."""
    stream, document, words = BlockStream(), QTextDocument(), ""
    for block in stream.feed(markdown) + stream.finish():
        if block.is_code:
            words += block.code.rstrip("\n") + "\n\n"
            continue
        document.setHtml(FORMULA_IMAGE.sub(lambda found: escape(formula_source(found[1])), block.html))
        words += document.toPlainText().strip() + ("\n" if block.goes_on else "\n\n")
    return words.removesuffix("\n\n")


def make_menu(card: MessageCard, targets: Sequence[TargetChoice] = (), modes: Mapping[Mode, str] | None = None) -> Menu:
    """Make the menu of a card; what does not apply to it is left out.

    ``targets`` may give an answer again; ``modes`` are those offered, each with why it cannot run now, or with nothing.
    """
    menu, theme = Menu(card), card.theme
    if isinstance(card, AnswerCard):
        _add_of_answer(menu, card, targets, dict.fromkeys(Mode, "") if modes is None else modes)
    else:
        menu.addAction(theme.icon("copy"), translate("MessageMenu", "Copy"), card.copy_text)
        if isinstance(card, UserCard):
            menu.addAction(theme.icon("pencil"), translate("MessageMenu", "Edit"), card.begin_edit)
    race = translate("MessageMenu", "Race this question…")
    menu.addAction(theme.icon("flag"), race, lambda: card.race_requested.emit(card.message_id))
    branch = translate("MessageMenu", "New chat from here")
    menu.addAction(theme.icon("message-square"), branch, lambda: card.branch_requested.emit(card.message_id))
    menu.addSeparator()
    delete_one = translate("MessageMenu", "Delete this message")
    menu.addAction(theme.icon("trash-2"), delete_one, lambda: card.delete_one_requested.emit(card.message_id))
    delete = translate("MessageMenu", "Delete from here on")
    menu.addAction(delete, lambda: card.delete_requested.emit(card.message_id))
    return menu


def _add_of_answer(menu: Menu, card: AnswerCard, targets: Sequence[TargetChoice], modes: Mapping[Mode, str]) -> None:
    theme, clipboard = card.theme, QApplication.clipboard()
    menu.addAction(theme.icon("copy"), translate("MessageMenu", "Copy as Markdown"), card.copy_text)
    menu.addAction(translate("MessageMenu", "Copy as text"), lambda: clipboard.setText(plain_text(card.text)))
    if card.reasoning is not None:
        whole = translate("MessageMenu", "Copy with reasoning")
        menu.addAction(whole, lambda: clipboard.setText(card.text_with_reasoning))
    menu.addAction(theme.icon("pencil"), translate("MessageMenu", "Edit"), card.begin_edit)
    menu.addSeparator()
    again = menu.add_submenu(translate("MessageMenu", "Regenerate in mode"), theme.icon("refresh-cw"))
    again.setToolTipsVisible(True)
    for mode, reason in modes.items():
        action = again.addAction(mode_label(mode), partial(card.regenerate_in_mode.emit, card.message_id, mode))
        action.setEnabled(not reason)
        action.setToolTip(hover(reason or mode_line(mode)))
    if targets:
        others = menu.add_submenu(translate("MessageMenu", "Regenerate with model"), theme.icon("cpu"))
        for choice, told in zip(targets, _told_apart([choice.name for choice in targets]), strict=True):
            name = on_button(told)
            label = translate("MessageMenu", "{name} (in use)").format(name=name) if choice.loaded else name
            action = others.addAction(label, partial(card.regenerate_with.emit, card.message_id, choice.path))
            action.setToolTip(as_written(choice.path))
    _add_seed(menu, card)
    if card.can_continue:
        go_on = translate("MessageMenu", "Continue")
        menu.addAction(theme.icon("play"), go_on, lambda: card.continue_requested.emit(card.message_id))


def _told_apart(names: Sequence[str]) -> list[str]:
    """Models by what a person reads, as the header has them; those that share a title by the names of their files."""
    titles = [title_of(name) for name in names]
    return [title if titles.count(title) == 1 else name for name, title in zip(names, titles, strict=True)]


def _add_seed(menu: Menu, card: AnswerCard) -> None:
    """What can be done with its seed; nothing at temperature 0, where every seed gives the same."""
    drawn = card.view.drawn
    if drawn is not None and drawn.is_greedy:
        return
    seed = drawn.seed if drawn is not None else None

    def add(words: str, wish: SeedWish, meaning: str) -> None:
        action = seeds.addAction(words, partial(card.seed_wanted.emit, card.message_id, wish))
        action.setToolTip(hover(meaning))

    with_seed, without = translate("MessageMenu", "Seed {seed}"), translate("MessageMenu", "Seed")
    title = without if seed is None else with_seed.format(seed=seed)
    seeds = menu.add_submenu(title, card.theme.icon("dices"))
    seeds.setToolTipsVisible(True)
    another = translate("MessageMenu", "With the settings that this answer was drawn with.")
    if seed is None:
        unseeded = seeds.addAction(translate("MessageMenu", "Drawn without a seed: it cannot be repeated"))
        unseeded.setEnabled(False)
        add(translate("MessageMenu", "Ask again with a seed"), SeedWish.ANOTHER, another)
        keep = translate("MessageMenu", "Every answer from now on can be repeated. Fewer drafted tokens are accepted.")
        add(translate("MessageMenu", "Use a seed in this chat"), SeedWish.KEEP, keep)
        return
    same = translate("MessageMenu", "The same answer in every mode, unless model or messages have changed.")
    add(translate("MessageMenu", "Repeat with this seed"), SeedWish.REPEAT, same)
    add(translate("MessageMenu", "Ask again with another seed"), SeedWish.ANOTHER, another)
    keep = translate("MessageMenu", "Every answer from now on is drawn by it.")
    add(translate("MessageMenu", "Use this seed in this chat"), SeedWish.KEEP, keep)
    copy = translate("MessageMenu", "Copy the seed")
    seeds.addAction(copy, lambda: QApplication.clipboard().setText(str(seed)))
