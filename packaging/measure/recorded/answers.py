"""Records answers of real models, token by token, for experiments with pacing (`replay.py`).

    python packaging/measure/recorded/answers.py OUT.jsonl --target T.gguf [--draft D.gguf] --prompts FILE|FOLDER ...

The target answers with plain decoding; then the draft reads each answer once. A line has ``prompt_ids``, ``ids``, and
for each of ``ids`` the draft's most likely token (``draft_ids``), its probability (``draft_chances``), and the
acceptance probability of a sampled draft token (``overlaps``, the sum of min(p, q)). A stopped run continues with the
same command.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from app.core.benchmark.prompts import BenchmarkPrompt, prompt_files, read_prompts
from engine.loading.loading import LoadedModel, LoadOptions, open_model
from engine.records import ChatRequest, Finished, LoadRequest, Mode, SamplingParams
from engine.sampling.distribution import Distribution
from engine.sampling.sampler import History, Sampler, argmax, top_probability
from engine.sampling.top_k import Row
from engine.session.session import Session

CHUNK = 64  # most rows of a pass
CONTEXT = 4096


def rows_of(loaded: LoadedModel, ids: list[int], start: int, width: int) -> Iterator[tuple[Row, History]]:
    """Yield for each of ``ids[start:]`` its row and the tokens before it."""
    sequence = loaded.sequence
    sequence.clear()
    history = np.asarray(ids, dtype=np.int32)
    for _ in sequence.prefill(history[: start - 1]):
        pass
    for first in range(start - 1, len(ids) - 1, CHUNK):
        chunk = ids[first : min(first + CHUNK, len(ids) - 1)]
        rows = sequence.forward(chunk, len(chunk))
        for i in range(len(chunk)):
            yield rows[i][:width], history[: first + i + 1]


def overlap(p: Distribution, q: Distribution) -> float:
    """The probability that a token sampled from ``q`` is accepted."""
    ids = p.ids if p.ids is not None else np.arange(len(p.probs))
    return float(sum(min(prob, q.prob(int(token_id))) for token_id, prob in zip(ids, p.probs, strict=True)))


def read_by_draft(
    target: LoadedModel, draft: LoadedModel, ids: list[int], start: int, sampling: SamplingParams
) -> dict[str, list[float]]:
    """The draft's fields of a record for ``ids[start:]``."""
    width = min(target.model.vocab.n_vocab, draft.model.vocab.n_vocab)
    chain = Sampler(sampling if not sampling.greedy else SamplingParams())
    likeliest, chances, qs = [], [], []
    for row, history in rows_of(draft, ids, start, width):
        likeliest.append(argmax(row))
        raw = top_probability(row, likeliest[-1])
        qs.append(chain.distribution(row.copy(), history, []))
        chances.append(raw if sampling.greedy else qs[-1].highest())
    ps = [chain.distribution(row.copy(), history, []) for row, history in rows_of(target, ids, start, width)]
    return {
        "draft_ids": likeliest,
        "draft_chances": [round(one, 4) for one in chances],
        "overlaps": [round(overlap(p, q), 4) for p, q in zip(ps, qs, strict=True)],
    }


def prompts_of(names: list[str], per_kind: int) -> list[BenchmarkPrompt]:
    """The first ``per_kind`` prompts of each category."""
    counts: dict[str, int] = {}
    chosen = []
    for prompt in (one for name in names for file in prompt_files(Path(name)) for one in read_prompts(file)):
        counts[prompt.category] = counts.get(prompt.category, 0) + 1
        if counts[prompt.category] <= per_kind:
            chosen.append(prompt)
    return chosen


def main() -> int:
    """Record the answers that the file lacks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--target", required=True)
    parser.add_argument("--draft")
    parser.add_argument("--prompts", nargs="+", required=True)
    parser.add_argument("--per-kind", type=int, default=10)
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--max-tokens", type=int, default=128)
    options = parser.parse_args()
    known = set()
    if options.out.exists():
        known = {json.loads(line)["id"] for line in options.out.read_text("utf-8").splitlines()}
    sampling = SamplingParams(temperature=options.temperature, seed=1)
    session = Session()
    session.load(LoadRequest(options.target, n_ctx=CONTEXT))
    draft = open_model(options.draft, LoadOptions(n_ctx=CONTEXT)) if options.draft else None
    target = session._target  # noqa: SLF001  (its rows are wanted)
    assert target is not None
    with options.out.open("a", encoding="utf-8") as out:
        for prompt in prompts_of(options.prompts, options.per_kind):
            if prompt.id in known:
                continue
            request = ChatRequest(prompt.messages, Mode.OFF, sampling=sampling, max_tokens=options.max_tokens)
            prompt_ids = session.prompt_ids(request)
            last = list(session.generate(request))[-1]
            assert isinstance(last, Finished)
            ids = list(last.token_ids)
            record: dict[str, object] = {"id": prompt.id, "category": prompt.category, "prompt_ids": prompt_ids}
            record["ids"] = ids
            if draft is not None and ids:
                record |= read_by_draft(target, draft, [*prompt_ids, *ids], len(prompt_ids), sampling)
            out.write(json.dumps(record) + "\n")
            out.flush()
            print(prompt.id, len(ids), flush=True)
    session.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
