"""A child to be killed: stores turns as fast as it can and names each on the pipe once it is acknowledged."""

from __future__ import annotations

import sys
from pathlib import Path

from app.chats.opening import Place
from app.chats.store import ChatStore
from ui.records import MessageState


def tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    folder = Path(sys.argv[1])
    store = ChatStore(Place(folder / "chats.db", folder / "backups"), [].append)
    problem = store.open()
    if problem is not None:
        raise SystemExit(problem.message)
    tell("ready")
    conversation = store.create_conversation("killed")
    number = 0
    while True:
        number += 1
        view = store.add_message(conversation, "user", f"message {number}")
        tell(f"{conversation} {view.id} {view.text}")
        answer = store.begin_answer(conversation)
        for word in range(20):
            store.append(answer.id, f"word{word} ")
        store.finish_answer(answer.id, MessageState.COMPLETE)


if __name__ == "__main__":
    main()
