"""Questions with finished answers, and stores that are opened again."""

from app.core.domain.messages import MessageState
from app.core.storage.chats.answers import AnswerEnding
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore, StoredTurn


def finish(store: ChatStore, answer_id: int, text: str = "", ending: AnswerEnding | None = None) -> None:
    """End a running answer with this text."""
    store.append(answer_id, text)
    store.finish_answer(answer_id, ending or AnswerEnding(MessageState.COMPLETE))


def ask(store: ChatStore, chat: int | None, question: str, answer: str = "", **more: int) -> StoredTurn:
    """Store a question with a finished answer."""
    turn = store.begin_turn(chat, question, **more)
    finish(store, turn.answer.id, answer or f"The answer to {question}")
    return turn


def answer_again(store: ChatStore, turn: StoredTurn, text: str) -> int:
    """Store another version of the answer of a turn; returns its id."""
    other = store.begin_answer(turn.conversation_id, turn.answer.id).answer
    finish(store, other.id, text)
    return other.id


def reopen(place: StoreLocation) -> ChatStore:
    store = ChatStore(place, [].append)
    assert store.open() is None
    return store
