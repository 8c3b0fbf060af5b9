"""Compares the store with a simple model: any order of calls and restarts gives the same conversations."""

import shutil
import sqlite3
import tempfile
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from app.core.domain.conversations import one_line, title_from
from app.core.domain.messages import MessageState
from app.core.storage.chats.answers import AnswerEnding
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore
from engine.records import Mode, RunStats, Source, TokenSpan

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
SPANS = st.lists(st.builds(TokenSpan, st.integers(0, 5), st.sampled_from(Source)), max_size=6).map(tuple)
STATES = st.sampled_from([MessageState.COMPLETE, MessageState.STOPPED, MessageState.FAILED])
STATS = st.none() | st.builds(
    RunStats,
    mode=st.sampled_from(Mode),
    tokens=st.integers(0, 99),
    decode_s=st.floats(0, 9),
    proposed_by_depth=st.lists(st.integers(0, 9), max_size=3).map(tuple),
    provenance=st.dictionaries(st.sampled_from(Source), st.integers(0, 9), max_size=3),
    decisions=st.lists(TEXT, max_size=2).map(tuple),
).map(lambda stats: replace(stats, accepted_by_depth=stats.proposed_by_depth))


@dataclass
class ModelMessage:
    """The expected message."""

    role: str
    text: str
    state: MessageState = MessageState.COMPLETE
    spans: tuple[TokenSpan, ...] = ()
    stats: RunStats | None = None
    parent: int | None = None
    instead_of: int | None = None
    before: RunStats | None = None


@dataclass
class ModelChat:
    """The expected conversation."""

    title: str
    named: bool
    messages: dict[int, ModelMessage] = field(default_factory=dict)
    shown: dict[int | None, int] = field(default_factory=dict)

    def versions(self, parent: int | None) -> list[int]:
        return [number for number, message in self.messages.items() if message.parent == parent]

    def path(self) -> list[int]:
        path: list[int] = []
        while versions := self.versions(path[-1] if path else None):
            wanted = self.shown.get(path[-1] if path else None)
            path.append(wanted if wanted in versions else versions[-1])
        return path

    def add(self, number: int, message: ModelMessage) -> None:
        self.messages[number] = message
        self.shown[message.parent] = number

    def remove(self, number: int) -> None:
        parent = self.messages[number].parent
        versions = self.versions(parent)
        at = versions.index(number)
        doomed = [number]
        for each in doomed:
            doomed += self.versions(each)
            del self.messages[each]
            self.shown.pop(each, None)
        if self.shown.get(parent, number) == number:
            self.shown.pop(parent, None)
            others = versions[:at][-1:] + versions[at + 1 :]
            if others:
                self.shown[parent] = others[0]


class StoreMachine(RuleBasedStateMachine):
    """Random calls, each applied to the store and to the model."""

    chats = Bundle("chats")
    growing = Bundle("growing")
    finished = Bundle("finished")

    @initialize(target=chats)
    def start(self) -> int:
        self.folder = Path(tempfile.mkdtemp())
        self.model: dict[int, ModelChat] = {}
        self.open()
        return self.create("")

    def open(self) -> None:
        self.store = ChatStore(StoreLocation(self.folder / "chats.db", self.folder / "backups"), [].append)
        assert self.store.open() is None

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.folder)

    @rule(target=chats, title=TEXT)
    def create(self, title: str) -> int:
        chat = self.store.create_conversation(title)
        assert chat not in self.model
        self.model[chat] = ModelChat(title, named=False)
        return chat

    @rule(chat=chats, title=TEXT.filter(bool))
    def rename(self, chat: int, title: str) -> None:
        self.store.rename_conversation(chat, title)
        if chat in self.model and (seen := one_line(title)):
            self.model[chat].title, self.model[chat].named = seen, True

    @rule(chat=consumes(chats))
    def delete(self, chat: int) -> None:
        self.store.deletions.delete_permanently([chat])
        self.model.pop(chat, None)

    @rule(target=growing, chat=chats, text=TEXT)
    def ask(self, chat: int, text: str) -> tuple[int, int]:
        turn = self.store.begin_turn(chat, text)
        model = self.model[chat]
        if not model.title and not model.named:
            model.title = title_from(text)
        path = model.path()
        model.add(turn.question.id, ModelMessage("user", text, parent=path[-1] if path else None))
        self.add_answer(model, turn.answer.id, turn.question.id, None)
        return chat, turn.answer.id

    @staticmethod
    def add_answer(model: ModelChat, number: int, parent: int | None, instead_of: int | None) -> None:
        answer = ModelMessage("assistant", "", MessageState.STREAMING, parent=parent, instead_of=instead_of)
        model.add(number, answer)

    @rule(target=growing, chat=chats, data=st.data(), text=TEXT)
    def edit(self, chat: int, data: st.DataObject, text: str) -> tuple[int, int] | object:
        model = self.model.get(chat)
        questions = [number for number, message in model.messages.items() if message.role == "user"] if model else []
        if model is None or not questions:
            return multiple()
        old = data.draw(st.sampled_from(questions))
        turn = self.store.begin_turn(chat, text, instead_of=old)
        is_first, was = model.messages[old].parent is None, model.messages[old].text
        if is_first and text.strip() and model.title == title_from(was):
            model.title = title_from(text)
        model.add(turn.question.id, ModelMessage("user", text, parent=model.messages[old].parent))
        self.add_answer(model, turn.answer.id, turn.question.id, None)
        if not model.title and not model.named:
            model.title = title_from(text)
        return chat, turn.answer.id

    @rule(chat=chats, data=st.data())
    def show(self, chat: int, data: st.DataObject) -> None:
        model = self.model.get(chat)
        if model is None or not model.messages:
            return
        number: int | None = data.draw(st.sampled_from(list(model.messages)))
        assert number is not None
        assert self.store.show_message(number) == chat
        while number is not None:
            parent = model.messages[number].parent
            model.shown[parent] = number
            number = parent

    @rule(chat=chats, data=st.data())
    def delete_branch(self, chat: int, data: st.DataObject) -> None:
        model = self.model.get(chat)
        if model is None or not model.messages:
            return
        number = data.draw(st.sampled_from(list(model.messages)))
        before = len(model.messages)
        model.remove(number)
        for again in (False, True):  # with an undo in between
            branch = self.store.deletions.mark_branch(number, datetime.now(UTC))
            assert branch is not None
            assert len(branch.message_ids) == before - len(model.messages)
            if not again:
                self.store.deletions.undo_branch_deletion(branch)
        self.store.deletions.delete_permanently([branch.hidden_chat_id])

    @rule(target=growing, old=consumes(finished))
    def ask_again(self, old: tuple[int, int]) -> tuple[int, int] | object:
        chat, answer = old
        messages = self.model[chat].messages if chat in self.model else {}
        if answer not in messages:
            return multiple()
        new = self.store.begin_answer(chat, answer).answer
        self.add_answer(self.model[chat], new.id, messages[answer].parent, answer)
        return chat, new.id

    @rule(target=growing, old=consumes(finished))
    def go_on(self, old: tuple[int, int]) -> tuple[int, int] | object:
        chat, answer = old
        message = self.model[chat].messages.get(answer) if chat in self.model else None
        if message is None:
            return multiple()
        turn = self.store.continue_answer(chat, answer)
        message.state, message.text, message.spans = MessageState.STREAMING, message.text.rstrip(), turn.answer.spans
        message.before, message.stats = message.stats, None
        assert turn.answer.text == message.text
        return old

    @rule(target=finished, chat=chats, text=TEXT, state=STATES)
    def ask_and_answer(self, chat: int, text: str, state: MessageState) -> tuple[int, int] | object:
        answer = self.ask(chat, "a whole turn")
        self.append(answer, text, ())
        return self.finish(answer, state, None)

    @rule(target=finished, old=consumes(finished), text=TEXT, state=STATES)
    def answer_again(self, old: tuple[int, int], text: str, state: MessageState) -> tuple[int, int] | object:
        answer = self.ask_again(old)
        if not isinstance(answer, tuple):
            return multiple()
        self.append(answer, text, ())
        return self.finish(answer, state, None)

    @rule(answer=growing, text=TEXT, spans=SPANS)
    def append(self, answer: tuple[int, int], text: str, spans: tuple[TokenSpan, ...]) -> None:
        message = self.streaming(answer)
        if message is None:
            return
        self.store.append(answer[1], text, spans)
        message.text += text
        message.spans += spans

    @rule(target=finished, answer=consumes(growing), state=STATES, stats=STATS)
    def finish(self, answer: tuple[int, int], state: MessageState, stats: RunStats | None) -> tuple[int, int] | object:
        message = self.streaming(answer)
        if message is None:
            return multiple()
        view = self.store.finish_answer(answer[1], AnswerEnding(state, stats))
        assert (view.text, view.spans) == (message.text, message.spans)
        message.state, message.stats, message.instead_of = state, stats, None
        message.before = None
        return answer

    @rule(answer=consumes(growing))
    def discard(self, answer: tuple[int, int]) -> None:
        message = self.streaming(answer)
        if message is None:
            return
        model = self.model[answer[0]]
        if any(other.parent == answer[1] for other in model.messages.values()):
            if not message.text:  # only such answers are discarded, unless messages follow
                self.store.discard_answer(answer[1])
                message.stats, message.before = message.before, None
                message.state, message.instead_of = MessageState.FAILED, None
        else:
            self.store.discard_answer(answer[1])
            model.remove(answer[1])
            if message.instead_of in model.messages:
                model.shown[message.parent] = message.instead_of

    @rule()
    def restart(self) -> None:
        assert self.store.close()
        for chat in self.model.values():
            for message in chat.messages.values():
                if message.state is MessageState.STREAMING:
                    message.state, message.instead_of = MessageState.INTERRUPTED, None
                    message.stats = message.before
        self.open()

    def streaming(self, answer: tuple[int, int]) -> ModelMessage | None:
        chat = self.model.get(answer[0])
        message = chat.messages.get(answer[1]) if chat else None
        return message if message is not None and message.state is MessageState.STREAMING else None

    @invariant()
    def same(self) -> None:
        if not hasattr(self, "store"):
            return
        assert {row.id: row.title for row in self.store.conversations()} == {
            chat_id: chat.title for chat_id, chat in self.model.items()
        }
        for chat_id, chat in self.model.items():
            assert [
                (view.id, view.role, view.text, view.state, view.spans, view.stats, len(view.versions) or 1)
                for view in self.store.messages(chat_id)
            ] == [
                (
                    *self.told(message_id, chat.messages[message_id]),
                    len(chat.versions(chat.messages[message_id].parent)),
                )
                for message_id in chat.path()
            ]
        self.store.read(self.index_fits)

    def index_fits(self, db: sqlite3.Connection) -> None:
        messages = [message for chat in self.model.values() for message in chat.messages.values()]
        ended = [message for message in messages if message.state is not MessageState.STREAMING]
        assert db.execute("SELECT count(*) FROM found_messages_docsize").fetchone()[0] == len(ended)
        db.execute("INSERT INTO found_titles (found_titles, rank) VALUES ('integrity-check', 1)")
        if len(ended) == len(messages):  # the check compares all messages
            db.execute("INSERT INTO found_messages (found_messages, rank) VALUES ('integrity-check', 1)")

    @staticmethod
    def told(number: int, message: ModelMessage) -> tuple[object, ...]:
        return number, message.role, message.text, message.state, message.spans, message.stats


TestStoreMachine = StoreMachine.TestCase
TestStoreMachine.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
