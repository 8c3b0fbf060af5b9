"""An answer on the page: folded reasoning, text, statistics and actions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from app.core.domain.messages import MessageState, MessageView
from app.core.domain.projects import SOURCE_LINK
from app.core.domain.thinking import split_thinking, without_thinking
from engine.records import RunStats, Source, TokenSpan
from ui.text.answer_metrics import footer_parts
from ui.text.formatting import count, percent, tooltip
from ui.text.language import Translator, mark, translate
from ui.text.model_titles import title_of
from ui.theme.theme import Theme
from ui.transcript.cards.body import AnswerBody
from ui.transcript.cards.card import CardState, MessageCard
from ui.transcript.cards.code_block import CodeBlock
from ui.transcript.cards.editor import MessageEditor
from ui.transcript.cards.reasoning_block import ReasoningBlock
from ui.transcript.cards.text_part import TextPart
from ui.transcript.marks.provenance import PassView, SourceRuns
from ui.widgets.building import Stretch, button, hbox, label, show_text, vbox
from ui.widgets.exact_text import VerbatimTextEdit

tr = Translator("AnswerCard")

STATE_NOTICES = {
    MessageState.STOPPED: mark("MessageCard", "Stopped."),
    MessageState.INTERRUPTED: mark("MessageCard", "Interrupted before the answer was complete."),
    MessageState.FAILED: mark("MessageCard", "The answer could not be completed."),
}

BUTTON_PX = 31  # width of an icon button and its gap, reserved for the menu button that appears on hover
SIDE_PX, FOOTER_GAP_PX = 14, 8
UNKNOWN_AUTHOR = "Paceline"  # old versions of Paceline did not store the model of an answer


def state_notice(state: MessageState) -> str:
    """Why an answer did not end normally; empty if it did."""
    return translate("MessageCard", STATE_NOTICES[state]) if state in STATE_NOTICES else ""


class AnswerFooter(QLabel):
    """An answer's statistics, on as many lines as they need; the tool tip explains each. Hidden without statistics."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setProperty("kind", "caption")
        theme.set_font(self, -1)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.hide()

    def show_stats(self, stats: RunStats | None, seed: int | None = None) -> None:
        parts = footer_parts(stats, seed)
        self.setText(" · ".join(text for text, _ in parts))
        self.setToolTip(tooltip("\n".join(f"{text}: {meaning}" for text, meaning in parts)))
        self.setAccessibleName(self.text())
        self.setAccessibleDescription(" ".join(meaning for _, meaning in parts))
        self.setVisible(bool(parts))

    def hasHeightForWidth(self) -> bool:
        """False: its card sets the height, so that the layouts of the page ask no height twice."""
        return False

    def sizeHint(self) -> QSize:
        """The size of a single line."""
        return QSize(self.fontMetrics().horizontalAdvance(self.text()) + 4, self.fontMetrics().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(40, self.fontMetrics().height())


class AnswerCard(MessageCard):
    """An answer. A finished one is filled by `build_next`, so that long ones are built in slices."""

    # another version; the `Mode`, the path of the target
    regenerate_requested = Signal(int)
    regenerate_in_mode = Signal(int, object)
    repeat_requested = Signal(int)  # generate it again with its seed and settings
    unfolded = Signal(object)  # this card's reasoning was opened
    continue_requested = Signal(int)  # continue a truncated answer
    link_activated = Signal(str)  # a link of the answer
    # an edited answer, saved; the editor's text, see `UserCard`
    edited = Signal(int, str)
    edit_typed = Signal(int, str)

    def __init__(self, theme: Theme, view: MessageView, text_width: int = 0) -> None:
        super().__init__(theme, view, title_of(view.target) or UNKNOWN_AUTHOR)
        self._text = ""
        self.editor: MessageEditor | None = None
        self._text_width = text_width
        self.reasoning: ReasoningBlock | None = None
        self._num_fed = 0  # number of answer characters that the body has
        self._words_at = 0  # position in the whole text at which the answer begins
        self._runs = SourceRuns()
        self._marked: frozenset[Source] = frozenset()
        self.body = AnswerBody(theme, self, text_width)
        if view.cites:
            self.body.cites = f"{SOURCE_LINK}{view.id}/"
            self.body.restart()
        self.body.link_activated.connect(self.link_activated)
        self.progress_label = label(tr("Reading the prompt"), "caption")
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName(tr("Reading the prompt"))
        self.notice = label("", "caption", wrap=True)
        self.figures = AnswerFooter(theme)
        self.continue_button: QPushButton | None = None  # created when first offered
        self.copy_button = self.add_copy_action(tr("Copy answer"))
        again = tr("Regenerate this answer")
        self.regenerate_button = self.add_action(
            "refresh-cw", again, lambda: self.regenerate_requested.emit(self.message_id)
        )
        self._is_streaming = self._is_whole = False
        self._waits_for_servers = False
        self._is_last = False
        self.can_continue = False
        self._arrange()
        self._show_text(view)
        self._set_state(view)

    def _arrange(self) -> None:
        versions = () if self.versions is None else (self.versions, 4)
        buttons = (self.copy_button, self.regenerate_button)
        self._row = hbox(*versions, *buttons, Stretch(), margins=(0, 0, BUTTON_PX, 0), spacing=2)
        self._footer = hbox(self.figures, (self._row, 1), spacing=FOOTER_GAP_PX)
        self._column = vbox(
            self.author,
            self.progress_label,
            self.progress,
            self.body,
            self.notice,
            self._footer,
            parent=self,
            margins=(SIDE_PX, 0, SIDE_PX, 0),
            spacing=6,
        )

    def _fit_footer(self) -> None:
        """Put the buttons beside the statistics if they fit there, else below."""
        if self.figures.isHidden() or self._text_width <= 0:
            return
        own_px = self.figures.sizeHint().width()
        is_beside = own_px + FOOTER_GAP_PX + self._row.sizeHint().width() <= self._text_width
        directions = QBoxLayout.Direction
        self._footer.setDirection(directions.LeftToRight if is_beside else directions.TopToBottom)
        self.figures.setFixedHeight(self.figures.heightForWidth(own_px if is_beside else self._text_width))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._text_width = event.size().width() - 2 * SIDE_PX
        self._fit_footer()

    def add_more_actions(self) -> None:
        self._row.setContentsMargins(0, 0, 0, 0)
        self.add_menu_button(self.regenerate_button, self._row)
        self.more_button.setEnabled(not self._is_streaming)

    def _show_text(self, view: MessageView) -> None:
        self._text = view.text
        self._runs.extend(view.spans)
        if view.state is MessageState.STREAMING:
            self._append_text()
        else:
            split = split_thinking(view.text)
            if split.reasoning_end > split.reasoning_start:  # a model may open and close its reasoning without a word
                self._ensure_reasoning().set_text(split.shown_reasoning(view.text), split.reasoning_start, live=False)
            self.body.prepare(split.answer(view.text), split.answer_start)
        if self.reasoning is not None:
            self.reasoning.set_duration(view.thinking_ms)

    def _append_text(self, *, final: bool = False) -> None:
        """Update reasoning and answer to the text so far."""
        split = split_thinking(self._text, final=final)
        if self.reasoning is not None or split.reasoning_end > split.reasoning_start:
            reasoning = self._ensure_reasoning()
            reasoning.set_text(split.shown_reasoning(self._text), split.reasoning_start, live=not split.closed)
        words = split.answer(self._text)
        if self._num_fed and split.answer_start != self._words_at:
            self._num_fed = 0  # the text shown so far turned out to be reasoning
        if words and not self._num_fed:
            self.body.restart(split.answer_start)
            self._words_at = split.answer_start
        elif not words:
            self.body.restart()
        if len(words) > self._num_fed:
            self.body.append(words[self._num_fed :])
            self._num_fed = len(words)

    def _ensure_reasoning(self) -> ReasoningBlock:
        if self.reasoning is None:
            self.reasoning = ReasoningBlock(self.theme, self._text_width)
            self.reasoning.link_activated.connect(self.link_activated)
            self.reasoning.expanded.connect(lambda: self.unfolded.emit(self))
            self._column.insertWidget(self._column.indexOf(self.body), self.reasoning)
            self.reasoning.show()
        return self.reasoning

    def build_next(self) -> bool:
        """Build one more part, from the end; False if all are built."""
        if self.body.build_next() or (self.reasoning is not None and self.reasoning.build_next()):
            return True
        parts = [part for part in (self.body, self.reasoning) if part and self._marked]
        if any(part.mark_next(self._text, self._runs, self._marked) for part in parts):
            return True
        self._is_whole = True
        return False

    @property
    def is_in_use(self) -> bool:
        is_growing = self._is_streaming or (self.reasoning is not None and self.reasoning.is_building)
        in_use = is_growing or not self._is_whole or self.editor is not None
        return in_use or any(code.is_adjusted for code in self._codes) or super().is_in_use

    @property
    def _codes(self) -> Iterator[CodeBlock]:
        bodies = (self.body, self.reasoning.body if self.reasoning is not None else None)
        for body in bodies:
            yield from (part for part in body.segments if isinstance(part, CodeBlock)) if body is not None else ()

    def save_state(self) -> CardState | None:
        state = super().save_state()
        return state and replace(state, expanded=self.reasoning is not None and self.reasoning.is_open)

    def restore_state(self, state: CardState) -> None:
        if state.expanded and self.reasoning is not None:
            self.reasoning.reopen()

    def mark_sources(self, wanted: frozenset[Source]) -> None:
        if wanted or self._marked:
            self._marked = wanted
            self._update_marks()

    def _update_marks(self, *, afresh: bool = True) -> None:
        self.body.mark(self._text, self._runs, self._marked, afresh=afresh)
        if self.reasoning is not None:
            self.reasoning.mark(self._text, self._runs, self._marked, afresh=afresh)

    @property
    def text(self) -> str:
        """The answer's Markdown without its reasoning."""
        return without_thinking(self._text)

    def begin_edit(self) -> None:
        self.resume_edit(self._edited_text).setFocus(Qt.FocusReason.OtherFocusReason)

    def resume_edit(self, typed: str) -> VerbatimTextEdit:
        if self.editor is None:
            self.editor = MessageEditor(self.theme, typed, is_answer=True)
            self.editor.edit.textChanged.connect(self._emit_typed)
            self.editor.sent.connect(lambda text: self.edited.emit(self.message_id, text))
            self.editor.cancelled.connect(self.end_edit)
            self.body.hide()
            self._column.insertWidget(self._column.indexOf(self.body), self.editor)
        return self.editor.edit

    def end_edit(self) -> None:
        if self.editor is not None:
            self.edit_typed.emit(self.message_id, "")
            self.editor.hide()
            self.editor.deleteLater()
            self.editor = None
            self.body.show()
            self.more_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _emit_typed(self) -> None:
        typed = self.editor.edit.exact_text() if self.editor is not None else ""
        self.edit_typed.emit(self.message_id, "" if typed == self._edited_text else typed)

    @property
    def _edited_text(self) -> str:
        return split_thinking(self._text).answer(self._text)

    @property
    def raw_text(self) -> str:
        """The answer as the model wrote it, with reasoning and tags."""
        return self._text

    @property
    def shows_reasoning(self) -> bool:
        return self.reasoning is not None and self.reasoning.is_open

    @property
    def parts(self) -> Sequence[TextPart]:
        thought = self.reasoning.body if self.reasoning is not None and self.reasoning.is_open else None
        return [*(thought.parts if thought is not None else ()), *(() if self.body.isHidden() else self.body.parts)]

    @property
    def text_with_reasoning(self) -> str:
        """The reasoning as a quotation, then the answer."""
        if self.reasoning is None:
            return self.text
        quoted = "\n".join(
            f"> {line}".rstrip() for line in (self.reasoning.heading, "", *self.reasoning.text.split("\n"))
        )
        return f"{quoted}\n\n{self.text}".rstrip()

    def append(self, text: str, spans: Iterable[TokenSpan] = ()) -> None:
        self._text += text
        self._runs.extend(spans)
        for part in (self.body, self.reasoning):
            if part is not None:
                part.mark_new_tokens(self._text, self._runs, self._marked)
        self._append_text()
        if self._marked:
            self._update_marks(afresh=False)
        self.progress.hide()
        self.progress_label.hide()
        self.notice.hide()  # the text was not a call

    def show_prefill(self, done: int, total: int) -> None:
        known = total > 0
        self.progress.setRange(0, max(total, 1))
        self.progress.setValue(done if known else 0)
        self.progress_label.setText(
            tr("Reading the prompt · {done} of {total} tokens").format(done=count(done), total=count(total))
            if known
            else tr("Reading the prompt")
        )
        self.progress_label.setVisible(not self._text)
        self.progress.setVisible(known and not self._text)

    def show_calling(self) -> None:
        self.progress.hide()
        self.progress_label.hide()
        self.notice.setText(tr("Writing a tool call"))
        self.notice.show()

    def show_servers_starting(self) -> None:
        """Say that tool servers are starting, until the prompt is read."""
        self._waits_for_servers = True
        self.progress_label.setText(tr("Starting the tool servers"))

    def show_waiting(self, waits: bool, loaded: float | None = None, chats: Sequence[str] = ()) -> None:
        """Show that the answer waits for another answer or for its model, or clear the notice.

        ``loaded``: loaded fraction of the model. ``chats``: chats whose answers come first.
        """
        if len(chats) == 1:
            words = tr("Waiting for the answer in “{chat}”").format(chat=chats[0])
        elif chats:
            words = tr("Waiting for the answers in %n other chats", None, len(chats))
        elif waits:
            words = tr("Another program's request is being answered; yours is next.")
        elif loaded is not None and loaded >= 1.0:
            words = tr("Preparing your model")
        elif loaded is not None:
            words = tr("Loading your model again · {percent}").format(percent=percent(loaded))
        elif self._waits_for_servers:
            return
        else:
            words = tr("Reading the prompt")
        self.progress_label.setText(words)

    def finish(self, view: MessageView) -> None:
        if view.text and view.text != self._text:
            self._text, self._num_fed = view.text, 0
        self._append_text(final=True)
        self.body.finish()
        if self.reasoning is not None:
            self.reasoning.finish()
            self.reasoning.set_duration(view.thinking_ms)
        afresh = bool(view.spans) and list(view.spans) != self._runs.spans
        if afresh:
            self._runs = SourceRuns()
            self._runs.extend(view.spans)
        if self._marked:
            self._update_marks(afresh=afresh)
        took_ms = self.reasoning.duration_ms if self.reasoning is not None else None
        finished = replace(view, versions=view.versions or self._view.versions, thinking_ms=took_ms)
        follows = self._view.follows_calls
        self._view = replace(finished, text=self._text, spans=tuple(self._runs.spans), follows_calls=follows)
        self._is_whole = True
        self._set_state(view)

    def pass_at_caret(self, view: QWidget) -> PassView | None:
        """The pass of the token at the caret; None if unknown."""
        part = next((part for part in self.parts if part.view is view), None)
        return None if part is None else part.pass_at(part.view.textCursor().position(), self._text, self._runs)

    def set_last(self, last: bool) -> None:
        """Set whether this is the last answer: only that one can be continued, and its buttons are always shown."""
        self._is_last = last
        self._update_actions()

    def _update_actions(self) -> None:
        self.always_show((self.copy_button, self.regenerate_button) if self._is_last and not self._is_streaming else ())
        self.can_continue = self._is_last and self._unfinished
        if self.can_continue and self.continue_button is None:
            self.continue_button = button(
                tr(" Continue").strip(),
                lambda: self.continue_requested.emit(self.message_id),
                name=tr("Continue this answer"),
                tip=tr("Continue the answer where it was cut off"),
            )
            self._row.insertWidget(self._row.count() - 1, self.continue_button)
        if self.continue_button is not None:
            self.continue_button.setVisible(self.can_continue)
        self._fit_footer()

    def show_title(self, target: str = "") -> None:
        self.set_author(title_of(target or self.view.target) or UNKNOWN_AUTHOR)

    def _set_state(self, view: MessageView) -> None:
        streaming = view.state is MessageState.STREAMING
        self.message_id = view.id
        self.progress_label.setVisible(streaming and not self._text)
        self.progress.hide()
        self.figures.show_stats(view.stats, view.drawn.seed if view.drawn is not None else None)
        self.show_title(view.target)
        self.author.setVisible(not self._view.follows_calls)  # the tool calls above already name the author
        notice = " ".join(part for part in (state_notice(view.state), view.notice) if part)
        show_text(self.notice, notice)
        self.copy_button.setEnabled(not streaming)
        self.regenerate_button.setEnabled(not streaming)
        self._is_streaming = streaming
        is_calls_alone = view.state is MessageState.COMPLETE and not notice and not self._edited_text.strip()
        self.body.setHidden(is_calls_alone or self.editor is not None)
        if self._more is not None:
            self._more.setEnabled(not streaming)
        self._unfinished = view.can_continue
        self._update_actions()
