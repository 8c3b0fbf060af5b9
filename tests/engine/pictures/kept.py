"""Asks about pictures with saved states, prints the results, and on request kills itself at the end.

Arguments: a folder with a vision model, a folder for states, "kill" or "end", and questions as JSON. Each question has
a conversation and its turns: texts, and seeds of pictures.
"""

import json
import os
import signal
import sys
from pathlib import Path

from engine.records import ChatRequest, LoadRequest, Message
from engine.session.session import Session
from tests.engine.answers import GREEDY, end_of
from tests.engine.vision_factory import asked, picture

LIMIT_BYTES = 1 << 30
WORK_S = 60.0


def message(turn: list[str | int], role: str) -> Message:
    """A message of texts and pictures, which are given by their seeds."""
    return asked(*(picture(part) if isinstance(part, int) else part for part in turn), role=role)


def main(arguments: list[str]) -> None:
    """Answer the questions, write the states, and end as requested."""
    folder, states, ending, questions = Path(arguments[0]), Path(arguments[1]), arguments[2], json.loads(arguments[3])
    session = Session(state_folder=states)
    files = (str(next(folder.glob(f"{name}*.gguf"))) for name in ("tiny", "mmproj"))
    session.load(LoadRequest(next(files), gpu_layers=0, threads=1, mmproj=next(files)))
    session.states.set_limit(LIMIT_BYTES)
    encoder = session._vision._encoder
    assert encoder is not None
    told = []
    for conversation, turns in questions:
        messages = tuple(message(turn, "assistant" if number % 2 else "user") for number, turn in enumerate(turns))
        request = ChatRequest(messages, sampling=GREEDY, max_tokens=12, ignore_eos=True, conversation_id=conversation)
        before = encoder.num_encoded
        end = end_of(session, request)
        restored, encoded = end.stats.restored_tokens, encoder.num_encoded - before
        told.append({"ids": list(end.token_ids), "restored": restored, "encoded": encoded})
    session.states.work(WORK_S)
    sys.stdout.write(json.dumps(told))
    sys.stdout.flush()
    if ending == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    session.close()
