"""An answer on the page: its reasoning folded, its words, its figures and what can be done with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from app.domain.messages import MessageState, MessageView
from app.domain.thinking import split_thinking, without_thinking
from engine.records import Source, TokenSpan
from ui.text.formatting import count
from ui.text.language import mark, translate
from ui.theme.theme import Theme
from ui.transcript.cards.body import AnswerBody
from ui.transcript.cards.bottom import AnswerBottom
from ui.transcript.cards.card import MessageCard
from ui.transcript.cards.code_block import CodeBlock
from ui.transcript.cards.kept_card import KeptCard, KeptCode
from ui.transcript.cards.prose_view import ProseView
from ui.transcript.cards.thought_block import ThoughtBlock
from ui.transcript.marks.provenance import PassView, SourceRuns

STATE_NOTICES = {
    MessageState.STOPPED: mark("MessageCard", "Stopped."),
    MessageState.INTERRUPTED: mark("MessageCard", "Interrupted: Paceline ended before the answer was complete."),
    MessageState.FAILED: mark("MessageCard", "The answer could not be completed."),
}


def state_notice(state: MessageState) -> str:
    """Why an answer has no usual end; empty where it has."""
    return translate("MessageCard", STATE_NOTICES[state]) if state in STATE_NOTICES else ""


class AnswerCard(MessageCard):
    """What the model wrote. A finished answer is filled by `build_one`, so that long ones can be made in slices.

    Signals:
        regenerate_requested(int), regenerate_in_mode(int, object), regenerate_with(int, str): another version is
            wanted; the `Mode`, the path of the target.
        unfolded(object): the reasoning of this card was opened.
        continue_requested(int): an answer that was cut short is to go on.
        link_activated(str): a link of the answer was activated.
    """

    regenerate_requested = Signal(int)
    regenerate_in_mode = Signal(int, object)
    regenerate_with = Signal(int, str)
    unfolded = Signal(object)
    continue_requested = Signal(int)
    link_activated = Signal(str)

    def __init__(self, theme: Theme, view: MessageView, text_width: int = 0) -> None:
        super().__init__(theme, view, "Paceline")
        self._text = ""
        self._text_width = text_width
        self.thought: ThoughtBlock | None = None
        self._idle_thought: ThoughtBlock | None = None  # let go, to be used again
        self._num_fed = 0  # characters of the answer's words that the body has
        self._words_at = 0  # where they begin in the whole text
        self._runs = SourceRuns()
        self._marked: frozenset[Source] = frozenset()
        self._shows_refused = False
        self.body = AnswerBody(theme, self, text_width)
        self.body.link_activated.connect(self.link_activated)
        self.progress_label = QLabel(translate("AnswerCard", "Reading the prompt"))
        self.progress_label.setProperty("kind", "caption")
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName(translate("AnswerCard", "Reading the prompt"))
        self.notice = QLabel()
        self.notice.setProperty("kind", "caption")
        self.notice.setWordWrap(True)
        self.notice.setTextFormat(Qt.TextFormat.PlainText)
        self._bottom = AnswerBottom(theme, self.versions)
        self._bottom.continue_requested.connect(lambda: self.continue_requested.emit(self.message_id))
        self.figures = self._bottom.figures
        self.copy_button = self.add_action("copy", translate("AnswerCard", "Copy answer"))
        self.copy_button.clicked.connect(self.copy_text)
        self.copy_button.clicked.connect(lambda: self.copy_button.confirm(translate("AnswerCard", "Copied")))
        self.regenerate_button = self.add_action("refresh-cw", translate("AnswerCard", "Regenerate this answer"))
        self.regenerate_button.clicked.connect(lambda: self.regenerate_requested.emit(self.message_id))
        self._is_streaming = self._is_whole = False
        self._kept: KeptCard | None = None  # until all of it is made again
        self._is_last = False
        self.can_go_on = False
        self._arrange()
        self._show_text(view)
        self._set_state(view)

    def _arrange(self) -> None:
        self._bottom.put((self.copy_button, self.regenerate_button))
        self._bottom.fit(self._text_width)
        layout = self._column = QVBoxLayout(self)
        layout.setContentsMargins(14, 0, 14, 0)
        layout.setSpacing(6)
        for widget in (self.author, self.progress_label, self.progress, self.body, self.notice):
            layout.addWidget(widget)
        layout.addLayout(self._bottom.placed())

    def add_more(self) -> None:
        """The menu."""
        self.add_menu_button(self.regenerate_button, self._bottom.row)
        self.more_button.setEnabled(not self._is_streaming)

    def _show_text(self, view: MessageView) -> None:
        self._text = view.text
        self._runs.extend(view.spans)
        if view.state is MessageState.STREAMING:
            self.body.spares.make_soon()  # while the prompt is read
            self._grow()
        else:
            split = split_thinking(view.text)
            if split.thought_end > split.thought_start:  # a model may open and close it without a word
                self._make_thought().set_text(split.shown_thought(view.text), split.thought_start, live=False)
            self.body.prepare(split.answer(view.text), split.answer_start)
        if self.thought is not None:
            self.thought.set_duration(view.thinking_ms)

    def _grow(self, *, final: bool = False) -> None:
        """Bring reasoning and words up to date with the text."""
        split = split_thinking(self._text, final=final)
        if self.thought is not None or split.thought_end > split.thought_start:
            self._make_thought().set_text(split.shown_thought(self._text), split.thought_start, live=not split.closed)
        words = split.answer(self._text)
        if self._num_fed and split.answer_start != self._words_at:
            self._num_fed = 0  # what looked like words was reasoning
        if words and not self._num_fed:
            self.body.restart(split.answer_start)
            self._words_at = split.answer_start
        elif not words:
            self.body.restart()
        if len(words) > self._num_fed:
            self.body.append(words[self._num_fed :])
            self._num_fed = len(words)

    def _make_thought(self) -> ThoughtBlock:
        if self.thought is None:
            self.thought, self._idle_thought = self._idle_thought, None
            if self.thought is None:
                self.thought = ThoughtBlock(self.theme, self._text_width)
                self.thought.link_activated.connect(self.link_activated)
                self.thought.unfolded.connect(lambda: self.unfolded.emit(self))
                self._column.insertWidget(self._column.indexOf(self.body), self.thought)
            self.thought.show_refused(self._shows_refused)
            self.thought.show()
        return self.thought

    def build_one(self) -> bool:
        """Make one more part of a finished answer, from its end; False where none is missing."""
        if self.body.build_one() or (self.thought is not None and self.thought.build_one()):
            return True
        if self._kept is not None:
            for one, code in self._kept_codes(self._kept):
                code.wrap_button.setChecked(one.wraps)
            self._kept = None
        parts = [part for part in (self.body, self.thought) if part and (self._marked or self._shows_refused)]
        if any(part.mark_next(self._text, self._runs, self._marked) for part in parts):
            return True
        self._is_whole = True
        return False

    @property
    def is_in_use(self) -> bool:
        """Also while something of it is still to come."""
        is_growing = self._is_streaming or (self.thought is not None and self.thought.is_building)
        return is_growing or not self._is_whole or super().is_in_use

    @property
    def flowing_px(self) -> int:
        """Its prose, open reasoning included."""
        bodies = [self.body]
        if self.thought is not None and self.thought.is_open and self.thought.body is not None:
            bodies.append(self.thought.body)
        return sum(part.height() for body in bodies for part in body.segments if isinstance(part, ProseView))

    @property
    def is_being_made(self) -> bool:
        """Also while it is streamed."""
        return self._is_streaming or not self._is_whole

    def keep(self) -> KeptCard | None:
        """With what was unfolded, wrapped and scrolled."""
        kept = super().keep()
        if kept is None:
            return None
        codes = [
            KeptCode(in_thought, number, code.view.wraps, code.view.horizontalScrollBar().value())
            for in_thought in (False, True)
            for number, code in self._codes(in_thought=in_thought)
        ]
        changed = tuple(code for code in codes if code.wraps or code.sideways)
        return replace(kept, unfolded=self.thought is not None and self.thought.is_open, codes=changed)

    def can_show(self, view: MessageView) -> bool:
        """Where it has ended, and there is no other version."""
        return view.role != "user" and view.state is not MessageState.STREAMING and len(view.versions) < 2

    def let_go(self) -> bool:
        """Where there was neither another version nor anything to continue."""
        if self.versions is not None or self.continue_button is not None or self._is_streaming:
            return False
        self.free_height()
        self.set_revealed(False)
        self.body.let_go()
        if self.thought is not None:
            self.thought.hide()
            if self.thought.let_go():
                self._idle_thought = self.thought
            else:
                self._column.removeWidget(self.thought)
                self.thought.deleteLater()
            self.thought = None
        return True

    def show_another(self, view: MessageView, text_width: int) -> None:
        """It is filled by `build_one`, as a new one."""
        super().show_another(view, text_width)
        self._text_width = text_width
        self.body.expect_width(text_width)
        self._bottom.fit(text_width)
        self._runs = SourceRuns()
        self._num_fed = self._words_at = 0
        self._is_whole = self._is_last = False
        self._kept = None
        self._show_text(view)
        self._set_state(view)

    def take_up(self, kept: KeptCard) -> None:
        """Unfold the reasoning; lines are wrapped when they are there."""
        self._kept = kept
        if kept.unfolded and self.thought is not None:
            self.thought.reopen()

    def settle(self, kept: KeptCard) -> None:
        """Scroll code sideways."""
        for kept_code, code in self._kept_codes(kept):
            code.view.horizontalScrollBar().setValue(kept_code.sideways)

    def _codes(self, *, in_thought: bool) -> Iterator[tuple[int, CodeBlock]]:
        body = self.body
        if in_thought:
            if self.thought is None or self.thought.body is None:
                return
            body = self.thought.body
        yield from ((number, part) for number, part in enumerate(body.segments) if isinstance(part, CodeBlock))

    def _kept_codes(self, kept: KeptCard) -> Iterator[tuple[KeptCode, CodeBlock]]:
        for one in kept.codes:
            code = dict(self._codes(in_thought=one.in_thought)).get(one.number)
            if code is not None:
                yield one, code

    def mark_sources(self, wanted: frozenset[Source]) -> None:
        """Mark the tokens that came from these sources."""
        if wanted or self._marked:
            self._marked = wanted
            self._mark()

    def show_refused(self, wanted: bool) -> None:
        """Show refused proposals struck through above the tokens that came in their place, or not."""
        if wanted != self._shows_refused:
            self._shows_refused = wanted
            self.body.show_refused(wanted)
            if self.thought is not None:
                self.thought.show_refused(wanted)
            self._mark()

    def _mark(self, *, afresh: bool = True) -> None:
        self.body.mark(self._text, self._runs, self._marked, afresh=afresh)
        if self.thought is not None:
            self.thought.mark(self._text, self._runs, self._marked, afresh=afresh)

    @property
    def text(self) -> str:
        """The words of the answer as Markdown, without its reasoning."""
        return without_thinking(self._text)

    @property
    def whole_text(self) -> str:
        """The answer as the model wrote it, reasoning and tags included."""
        return self._text

    @property
    def text_with_thought(self) -> str:
        """The reasoning as a quotation, then the words."""
        if self.thought is None:
            return self.text
        quoted = "\n".join(f"> {line}".rstrip() for line in (self.thought.heading, "", *self.thought.text.split("\n")))
        return f"{quoted}\n\n{self.text}".rstrip()

    @property
    def shown_notice(self) -> str:
        """The line below an answer that did not end by itself."""
        return self.notice.text()

    def append(self, text: str, spans: Iterable[TokenSpan] = ()) -> None:
        """Show the next piece."""
        self._text += text
        self._runs.extend(spans)
        for part in (self.body, self.thought):
            if part is not None:
                part.follow(self._text, self._runs, self._marked)
        self._grow()
        if self._marked or self._shows_refused:
            self._mark(afresh=False)
        self.progress.hide()
        self.progress_label.hide()

    def show_prefill(self, done: int, total: int) -> None:
        """Say how far the prompt has been read."""
        known = total > 0
        self.progress.setRange(0, max(total, 1))
        self.progress.setValue(done if known else 0)
        self.progress_label.setText(
            translate("AnswerCard", "Reading the prompt · {done} of {total} tokens").format(
                done=count(done), total=count(total)
            )
            if known
            else translate("AnswerCard", "Reading the prompt")
        )
        self.progress_label.setVisible(not self._text)
        self.progress.setVisible(known and not self._text)

    def finish(self, view: MessageView) -> None:
        """The answer ended; its text is made whole where a piece is missing."""
        if view.text and view.text != self._text:
            self._text, self._num_fed = view.text, 0
        self._grow(final=True)
        self.body.finish()
        if self.thought is not None:
            self.thought.finish()
            self.thought.set_duration(view.thinking_ms)
        afresh = bool(view.spans) and list(view.spans) != self._runs.spans
        if afresh:
            self._runs = SourceRuns()
            self._runs.extend(view.spans)
        if self._marked or self._shows_refused:
            self._mark(afresh=afresh)
        took_ms = self.thought.duration_ms if self.thought is not None else None
        told = replace(view, versions=view.versions or self._view.versions, thinking_ms=took_ms)
        self._view = replace(told, text=self._text, spans=tuple(self._runs.spans))
        self._is_whole = True
        self._set_state(view)

    def pass_at_caret(self, view: QWidget) -> PassView | None:
        """The pass of the token at the caret of one of the texts; None where none is noted."""
        bodies = (self.body, self.thought.body if self.thought is not None else None)
        body = next((body for body in bodies if body is not None and body.isAncestorOf(view)), None)
        return None if body is None else body.pass_at_caret(view, self._text, self._runs)

    def set_last(self, last: bool) -> None:
        """Only the last answer can go on: what follows an earlier one rests on it."""
        self._is_last = last
        self._offer_to_go_on()

    def _offer_to_go_on(self) -> None:
        self.can_go_on = self._is_last and self._unfinished
        self._bottom.offer_to_go_on(self.can_go_on)

    @property
    def continue_button(self) -> QPushButton | None:
        """Lets the answer go on; made when it is first offered."""
        return self._bottom.continue_button

    def _set_state(self, view: MessageView) -> None:
        streaming = view.state is MessageState.STREAMING
        self.message_id = view.id
        self.progress_label.setVisible(streaming and not self._text)
        self.progress.hide()
        self._bottom.show_stats(view.stats, view.target)
        notice = " ".join(part for part in (state_notice(view.state), view.notice) if part)
        self.notice.setText(notice)
        self.notice.setVisible(bool(notice))
        self.copy_button.setEnabled(not streaming)
        self.regenerate_button.setEnabled(not streaming)
        self._is_streaming = streaming
        if self._more is not None:
            self._more.setEnabled(not streaming)
        self._unfinished = view.can_go_on
        self._offer_to_go_on()
