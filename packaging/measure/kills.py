"""Kills the app's store at random moments while it writes into a file of full size, and looks for every message.

``python packaging/measure/kills.py --home DIR [--kills 50] [--seed 1]``

DIR is a folder that ``conversations.py --home DIR`` has filled; it is changed. Each round starts a process that asks
and answers as fast as it can and names what was acknowledged, kills it (SIGKILL) somewhere between its start and one
second later, opens the file again as the app does, with the check of the whole file that an unclean end brings, and
looks for every acknowledged message.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from app.domain.messages import MessageState  # noqa: E402
from app.storage.chats.answers import Ending  # noqa: E402
from app.storage.chats.opening import StoreLocation  # noqa: E402
from app.storage.chats.store import ChatStore  # noqa: E402
from engine.records import Mode  # noqa: E402

LONGEST_S = 1.0


def place_of(home: str) -> StoreLocation:
    """Where the chats lie below a home."""
    return StoreLocation(Path(home) / "data" / "chats.db", Path(home) / "data" / "backups")


def be_killed(home: str) -> None:
    """Write until the end comes; every line on standard output is a message that is safe."""
    store = ChatStore(place_of(home), lambda _trouble: None)
    problem = store.open()
    if problem is not None:
        raise SystemExit(problem.message)
    chat = None
    while True:
        turn = store.begin_turn(chat, "a question " * 30, Mode.OFF, None)
        chat = turn.conversation_id
        sys.stdout.write(f"{turn.question.id}\n{turn.answer.id}\n")
        sys.stdout.flush()
        store.append(turn.answer.id, "an answer " * 100)
        store.finish_answer(turn.answer.id, Ending(MessageState.COMPLETE))


def acknowledged(home: str, wait_s: float) -> list[int]:
    """Let a process write for so long, kill it, and give the messages that it named."""
    child = subprocess.Popen([sys.executable, __file__, "--home", home, "--child"], stdout=subprocess.PIPE)
    time.sleep(wait_s)
    child.kill()
    output, _ = child.communicate()
    whole = output[: output.rfind(b"\n") + 1]  # the kill may cut the last line
    return [int(line) for line in whole.split()]


def main() -> int:
    """Kill, look, and tell; exit status 1 where anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", required=True)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        be_killed(options.home)
    rng = random.Random(options.seed)  # noqa: S311 (moments, no secret)
    num_messages = num_lost = num_aside = 0
    longest_s = 0.0
    for _ in range(options.kills):
        named = acknowledged(options.home, 0.15 + rng.random() * LONGEST_S)
        begun = time.perf_counter()
        store = ChatStore(place_of(options.home), lambda _trouble: None)
        num_aside += store.open() is not None
        longest_s = max(longest_s, time.perf_counter() - begun)
        kept = {row[0] for row in store.read(lambda db: db.execute("SELECT id FROM messages").fetchall())}
        num_messages += len(named)
        num_lost += len(set(named) - kept)
        os.sync()
        store.close()
    sys.stdout.write(
        f"{options.kills} kills, {num_messages} acknowledged messages, {num_lost} lost, {num_aside} files set aside; "
        f"longest opening {longest_s:.2f} s\n"
    )
    return 1 if num_lost or num_aside else 0


if __name__ == "__main__":
    sys.exit(main())
