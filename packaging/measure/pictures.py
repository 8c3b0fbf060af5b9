"""Measures the time to the first token of a chat with a picture: read anew, or from what is kept, also after a restart.

    python packaging/measure/pictures.py --target T.gguf --mmproj SIDE.gguf [--side 512] [--words 200] [--rounds 5]

Each round has a picture of its own, of noise. "anew": encoder and target read it; "rows": the target alone, as where
the words before it were changed; "cache": the next question of the same chat; "restart": the same after the session was
closed and loaded again, from the disk, and "restart, nothing kept" without. Greedy ids of both must be equal.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.picture import Picture
from engine.records import ChatRequest, Finished, LoadRequest, Message, Mode, SamplingParams
from engine.session.session import Session

WORDS = ("river", "hill", "fox", "bear", "road", "house", "bird", "tree", "night", "song")
DISK_BYTES = 8 << 30


def noise(seed: int, side: int) -> Picture:
    """A square picture that no other seed has."""
    values = np.random.default_rng(seed).integers(0, 256, (side, side, 3), dtype=np.uint8)
    return Picture(side, side, values.tobytes())


class Chat:
    """One session, and the chat that is asked in it."""

    def __init__(self, options: argparse.Namespace, states: str | None) -> None:
        self.session = Session(state_folder=None if states is None else Path(states))
        ready = self.session.load(LoadRequest(options.target, threads=options.threads, mmproj=options.mmproj))
        if not ready.target.sees:
            raise SystemExit(f"the model does not see: {' '.join(ready.notices)}")
        self.session.states.set_limit(0 if states is None else DISK_BYTES)

    def first_token(self, messages: tuple[Message, ...], owner: int = 1) -> tuple[float, tuple[int, ...], Finished]:
        """Milliseconds to the first token, the ids, and the end of the answer."""
        request = ChatRequest(
            messages, Mode.OFF, None, SamplingParams(temperature=0.0), max_tokens=8, ignore_eos=True,
            conversation_id=owner,
        )  # fmt: skip
        *_, last = self.session.generate(request)
        if not isinstance(last, Finished) or last.stats.time_to_first_token_s is None:
            raise SystemExit("an answer did not end")
        return 1000.0 * last.stats.time_to_first_token_s, last.token_ids, last


def one_round(options: argparse.Namespace, seed: int, states: str, times: dict[str, list[float]]) -> None:
    """Ask all of it once."""
    words = " ".join(WORDS[(seed + i * 3 + i // 7) % len(WORDS)] for i in range(options.words))
    picture = noise(seed, options.side)
    first = (Message("user", f"{words}\nWhat is it?", pictures=((0, picture),)),)
    edited = (Message("user", f"Look: {words}\nWhat is it?", pictures=((6, picture),)),)
    later = (*first, Message("assistant", "It is noise."), Message("user", "Why?"))
    chat = Chat(options, states)
    chat.first_token((Message("user", "Hello"),), owner=3)  # which wakes buffers up
    times["anew"].append(chat.first_token(first)[0])
    times["rows"].append(chat.first_token(edited, owner=2)[0])
    chat.first_token(first)
    times["cache"].append(chat.first_token(later)[0])
    chat.first_token((Message("user", f"Another chat of {words}"),), owner=4)
    chat.session.states.work(60.0)
    chat.session.close()
    ids = []
    for name, folder in (("restart", states), ("restart, nothing kept", None)):
        chat = Chat(options, folder)
        chat.first_token((Message("user", "Hello"),), owner=3)
        spent, found, end = chat.first_token(later)
        times[name].append(spent)
        ids.append(found)
        if (end.stats.restored_tokens > 0) != (folder is not None):
            raise SystemExit(f"{name}: {end.stats.restored_tokens} tokens restored: {'; '.join(end.stats.decisions)}")
        chat.session.close()
    print(
        f"round {seed}: {end.stats.prompt_tokens} tokens and places, greedy ids equal: {ids[0] == ids[1]}", flush=True
    )


def main() -> int:
    """Measure, and print the medians in milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", required=True)
    parser.add_argument("--mmproj", required=True)
    parser.add_argument("--side", type=int, default=512, help="of the picture, pixels")
    parser.add_argument("--words", type=int, default=200, help="beside the picture")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, help="the same in all rounds, or a kept cache may be another's")
    options = parser.parse_args()
    times: dict[str, list[float]] = {name: [] for name in ("anew", "rows", "cache", "restart", "restart, nothing kept")}
    with tempfile.TemporaryDirectory() as states:
        for seed in range(options.rounds):
            one_round(options, seed, states, times)
    for name, taken in times.items():
        print(f"{name:22} {statistics.median(taken):8.0f} ms ({min(taken):.0f} to {max(taken):.0f})")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
