"""Measures coming back to a conversation: the time to its first token with its cache brought back, and without.

    python packaging/measure/switching.py --target PADDED.gguf [--draft D.gguf] [--tokens 3000] [--rounds 5]

Two conversations of about so many tokens are answered in turn: without kept caches, with caches from memory, and from
the disk, round by round. The first token's time includes keeping the cache of the conversation that is left. Greedy ids
must be equal in all rounds.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.records import ChatRequest, Finished, LoadRequest, Mode, SamplingParams
from engine.session.session import Session

WORDS = ("river", "hill", "fox", "bear", "road", "house", "bird", "tree", "night", "song")
DISK_BYTES = 8 << 30


def text(session: Session, seed: int, tokens: int) -> str:
    """A conversation's text of about so many tokens, by a fixed rule."""
    words = [WORDS[(seed * 7 + i * (3 + seed) + i // 7) % len(WORDS)] for i in range(tokens)]
    while len(session.prompt_ids(ChatRequest(raw_prompt=" ".join(words)))) > tokens:
        words = words[: len(words) * 9 // 10]
    return " ".join(words)


def first_token(session: Session, prompt: str, owner: int) -> tuple[float, tuple[int, ...], int]:
    """Seconds to the first token, the ids, and the tokens that were brought back."""
    sampling = SamplingParams(temperature=0.0)
    request = ChatRequest(
        raw_prompt=prompt, mode=Mode.OFF, sampling=sampling, max_tokens=8, ignore_eos=True, conversation_id=owner
    )
    *_, last = session.generate(request)
    if not isinstance(last, Finished) or last.stats.time_to_first_token_s is None:
        raise SystemExit("an answer did not end")
    return last.stats.time_to_first_token_s, last.token_ids, last.stats.restored_tokens


def rest(session: Session) -> None:
    """Let everything be written."""
    while session.states.has_work:
        session.states.work(60.0)


def switches(session: Session, prompts: list[str], place: str) -> tuple[list[float], set[tuple[int, ...]], list[int]]:
    """One switch there and one back, after both were read."""
    session.states.set_limit(0 if place == "decoding" else DISK_BYTES)
    for owner in (1, 2):
        first_token(session, prompts[owner - 1], owner)
    times, ids, restored = [], set[tuple[int, ...]](), []
    for owner in (1, 2):
        rest(session)
        if place == "disk":
            session.states.drop_memory()
        seconds, answer, count = first_token(session, prompts[owner - 1], owner)
        times.append(seconds)
        ids.add((owner, *answer))
        restored.append(count)
    return times, ids, restored


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", required=True)
    parser.add_argument("--draft")
    parser.add_argument("--tokens", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        session = Session(state_folder=Path(folder))
        n_ctx = -(-(options.tokens + 64) // 256) * 256
        session.load(LoadRequest(options.target, options.draft, n_ctx=n_ctx, threads=options.threads))
        prompts = [text(session, seed, options.tokens) for seed in (1, 2)]
        first_token(session, prompts[0], 0)
        times: dict[str, list[float]] = {"decoding": [], "memory": [], "disk": []}
        ids: set[tuple[int, ...]] = set()
        for _ in range(options.rounds):
            for place in times:
                seconds, answers, restored = switches(session, prompts, place)
                if place != "decoding" and not all(restored):
                    print(f"{place}: not everything was brought back: {restored}")
                times[place] += seconds
                ids |= answers
        session.close()
    print(f"{len(ids)} different answers to 2 conversations")
    plain = statistics.median(times["decoding"])
    for place, found in times.items():
        median = statistics.median(found)
        print(
            f"{place}: first token after {median * 1e3:.1f} ms (median of {len(found)}, "
            f"{min(found) * 1e3:.1f} to {max(found) * 1e3:.1f}), {plain / median:.1f} times as quick as decoding"
        )


if __name__ == "__main__":
    main()
