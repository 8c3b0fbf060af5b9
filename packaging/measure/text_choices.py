"""Measures whether suffix decoding finds what prompt lookup finds: answers replayed, costs fixed, no clock.

    python packaging/measure/text_choices.py [MODEL.gguf] [--prompts FILE.jsonl ...] [--temperature 0]

The model answers the prompts plainly; then each answer is gone through as if it were made with text drafting, by the
pacer on a few cost curves. `alone` counts the places where one of the two was right with its first token and the other
was not; `better of both` asks both for each pass and takes the one that promises more.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from app.paths import builtin_target
from engine.acceptance import Part
from engine.choice import Choice
from engine.cost_curve import CostCurve
from engine.drafters.base import Drafter
from engine.drafters.lookahead import TEXT_DEPTH
from engine.drafters.prompt_lookup import PromptLookupDrafter
from engine.drafters.seen import Seen, num_equal, text_seen
from engine.drafters.suffix import SuffixDrafter
from engine.pacer import Pacer
from engine.records import ChatRequest, Finished, LoadRequest, Message, Mode, SamplingParams, Source
from engine.sampling import Sampler
from engine.session import Session

WORKLOADS = Path(__file__).resolve().parents[2] / "assets" / "workloads"
CURVES = {
    "staircase": {1: 7.0, 2: 11.5, 3: 15.7, 4: 11.0, 5: 15.7, 6: 20.0, 8: 19.0, 12: 26.7, 16: 26.1, 33: 57.0},
    "AMX": {1: 15.2, 2: 29.4, 8: 40.5, 16: 59.1, 17: 73.0, 32: 124.8, 33: 227.5},
    "flat": {1: 20.0, 16: 21.0, 33: 22.0},
}
SAMPLER = Sampler(SamplingParams())
Text = tuple[list[int], list[int]]  # the ids of a prompt and of its answer


def answers(model: str, prompts: list[Path], temperature: float, max_tokens: int) -> dict[str, list[Text]]:
    """Prompt and answer of each line, by category."""
    session = Session()
    session.load(LoadRequest(model))
    found: dict[str, list[Text]] = {}
    for line in (line for path in prompts for line in path.read_text(encoding="utf-8").splitlines() if line):
        entry = json.loads(line)
        given = entry.get("messages") or [{"role": "user", "content": entry["prompt"]}]
        messages = tuple(Message(one["role"], one["content"]) for one in given)
        sampling = SamplingParams(temperature=temperature, seed=1)
        request = ChatRequest(messages, Mode.OFF, sampling=sampling, max_tokens=max_tokens)
        ids = session.prompt_ids(request)
        last = list(session.generate(request))[-1]
        assert isinstance(last, Finished)
        found.setdefault(entry["category"], []).append((ids, list(last.token_ids)))
    session.close()
    return found


def alone(texts: list[Text]) -> tuple[int, int, int]:
    """Places where prompt lookup alone was right, where suffix decoding alone was, and all places."""
    lookup_alone = suffix_alone = places = 0
    drafters: tuple[Drafter, Drafter] = (PromptLookupDrafter(), SuffixDrafter())
    for prompt, answer in texts:
        history = np.array([*prompt, *answer], dtype=np.int32)
        for drafter in drafters:
            drafter.begin(history[: len(prompt)], SAMPLER)
        for i, wanted in enumerate(answer):
            lookup, suffix = (drafter.propose(history[: len(prompt) + i], 1).ids == [wanted] for drafter in drafters)
            lookup_alone += lookup and not suffix
            suffix_alone += suffix and not lookup
            places += 1
    return lookup_alone, suffix_alone, places


def replay(texts: list[Text], curve: dict[int, float], drafters: list[Drafter]) -> tuple[float, float]:
    """Tokens per pass, and how many times as fast as plain decoding, at these costs."""
    pacer = Pacer(CostCurve(curve))
    num_tokens = num_passes = 0
    spent_ms = 0.0
    for prompt, answer in texts:
        history = np.array([*prompt, *answer], dtype=np.int32)
        pacer.begin()
        for drafter in drafters:
            drafter.begin(history[: len(prompt)], SAMPLER)
        done = 0
        while done < len(answer):
            limit = min(TEXT_DEPTH, len(answer) - done - 1)
            here = history[: len(prompt) + done]
            found = [text_seen(drafter.propose(here, limit)) for drafter in drafters]
            seen = max(found, key=lambda one: pacer.text_gain(one.confidences)[0])
            depth, kept = one_pass(pacer, seen, answer[done:], limit)
            done += kept + 1
            num_passes += 1
            spent_ms += pacer.curve.cost_ms(depth + 1) + pacer.overhead_ms + depth * pacer.row_ms
        num_tokens += len(answer)
    return num_tokens / num_passes, num_tokens * pacer.plain_ms / spent_ms


def one_pass(pacer: Pacer, seen: Seen, wanted: list[int], limit: int) -> tuple[int, int]:
    """Tokens that were proposed and kept."""
    right = num_equal(seen.ids, wanted)
    choice, depth = pacer.choose(seen.confidences, has_model=False, limit=max(limit, 0))
    if choice is Choice.TEXT:
        kept = min(depth, right)
        pacer.observe([Part(Source.NGRAM, seen.confidences[:depth])], kept)
        return depth, kept
    pacer.observe_plain()
    if seen.confidences:
        pacer.observe_unsent(Source.NGRAM, seen.confidences, right)
    return 0, 0


def report(name: str, texts: list[Text]) -> None:
    """A line of the places, and one for each curve."""
    lookup_alone, suffix_alone, places = alone(texts)
    print(f"{name:12} {places:6} tokens; alone right: prompt lookup {lookup_alone}, suffix {suffix_alone}")
    for curve_name, curve in CURVES.items():
        ways: dict[str, list[Drafter]] = {
            "prompt lookup": [PromptLookupDrafter()],
            "suffix": [SuffixDrafter()],
            "better of both": [SuffixDrafter(), PromptLookupDrafter()],
        }
        told = []
        for way, drafters in ways.items():
            per_pass, times = replay(texts, curve, drafters)
            told.append(f"{way} {per_pass:.3f} a pass, {times:.3f} times plain")
        print(f"{'':12} {curve_name:10} " + "; ".join(told), flush=True)


def main() -> int:
    """Answer, replay, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default=str(builtin_target()))
    parser.add_argument("--prompts", type=Path, nargs="*", default=sorted(WORKLOADS.glob("*.jsonl")))
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--max-tokens", type=int, default=256)
    options = parser.parse_args()
    by_category = answers(options.model, options.prompts, options.temperature, options.max_tokens)
    for name, texts in by_category.items():
        report(name, texts)
    report("all", [text for texts in by_category.values() for text in texts])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
