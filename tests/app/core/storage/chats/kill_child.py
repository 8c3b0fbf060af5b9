"""A child process to be killed: stores turns as fast as possible and reports each stored one on its pipe."""

import sys
from pathlib import Path

from app.core.domain.messages import MessageState
from app.core.storage.chats.answers import AnswerEnding
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore


def tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    folder = Path(sys.argv[1])
    store = ChatStore(StoreLocation(folder / "chats.db", folder / "backups"), [].append)
    problem = store.open()
    if problem is not None:
        raise SystemExit(problem.message)
    tell("ready")
    conversation = store.create_conversation("killed")
    number = 0
    while True:
        number += 1
        turn = store.begin_turn(conversation, f"message {number}")
        tell(f"{conversation} {turn.question.id} {turn.question.text}")
        answer = turn.answer
        for word in range(20):
            store.append(answer.id, f"word{word} ")
        store.finish_answer(answer.id, AnswerEnding(MessageState.COMPLETE))


if __name__ == "__main__":
    main()
