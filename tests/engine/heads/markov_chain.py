"""Expected acceptance rates and token distributions of targets whose next token depends on the last one only."""

from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from engine.decoding.pass_report import PassReport
from engine.heads.loading import LoadedHead
from engine.records import Mode, SamplingParams
from engine.session.answer import Answer
from engine.session.session import Session
from tests.engine.answers import answer
from tests.engine.gguf_factory import F32, GgufFile, Kind, Tensor, tiny_llama

N_EMBD = 64
_IDLE = ("attn_output.weight", "ffn_down.weight")


def tensor(name: str, values: NDArray[np.floating[Any]]) -> Tensor:
    return Tensor(name, values.shape[::-1], F32, values.astype(np.float32).tobytes())


def markov_llama(*, seed: int = 0) -> GgufFile:
    """A target whose next token depends on the current one only: its layers add nothing to the residual."""
    base = tiny_llama(seed=seed).with_metadata(llama__context_length=(Kind.UINT32, 1024))
    number, dice = len(base.metadata["tokenizer.ggml.tokens"][1][1]), np.random.default_rng(seed + 11)
    embedding = dice.normal(0.0, 1.0, (number, N_EMBD))
    output = dice.normal(0.0, 0.35, (number, N_EMBD))
    made = {"token_embd.weight": embedding, "output.weight": output}
    return replace(
        base,
        tensors=tuple(
            tensor(one.name, made[one.name])
            if one.name in made
            else replace(one, data=bytes(len(one.data)))
            if one.name.endswith(_IDLE)
            else one
            for one in base.tensors
        ),
    )


@dataclass(frozen=True)
class Chain:
    """Distributions [n_vocab, n_vocab] of target and head, by the previous token."""

    p: NDArray[np.float64]
    q: NDArray[np.float64]

    @property
    def kept(self) -> NDArray[np.float64]:
        """The probability that a token sampled by the head is accepted, by the previous token."""
        return np.asarray(np.minimum(self.p, self.q).sum(axis=1))

    @property
    def agreed(self) -> NDArray[np.float64]:
        """The probability that target and head sample the same token with the same Gumbel noise, by the previous token.

        Token x is the first in both races with probability 1 / sum_y max(p_y / p_x, q_y / q_x).
        """
        found = np.zeros(len(self.p))
        for last, (p, q) in enumerate(zip(self.p, self.q, strict=True)):
            both = np.flatnonzero((p > 0.0) & (q > 0.0))
            found[last] = sum(1.0 / np.maximum(p / p[x], q / q[x]).sum() for x in both)
        return found


def chain_of(session: Session, temperature: float) -> Chain:
    """The distributions of a target whose next token depends on the last one only, and of its head."""
    head = session._draft
    assert isinstance(head, LoadedHead)
    target, number = session._loaded().sequence, session._loaded().model.vocab.n_vocab
    head.record_rows(on=False)
    chain = Chain(np.zeros((number, number)), np.zeros((number, number)))
    for token_id in range(number):
        for sequence, found in ((target, chain.p), (head.sequence, chain.q)):
            sequence.clear()
            logits = sequence.forward([token_id], 1)[0].astype(np.float64) / temperature
            weights = np.exp(logits - logits.max())
            weights[list(session._loaded().model.vocab.eog_ids)] = 0.0  # as requested of the answers
            found[token_id] = weights / weights.sum()
    target.clear()
    head.sequence.clear()
    return chain


def check_acceptance(session: Session, chain: Chain, temperature: float, *, seeded: bool, undrafted: int = 0) -> None:
    """Check that answers at depth 1 have the computed acceptance rate and the target's distribution.

    Drafts of the first ``undrafted`` + 1 tokens do not count.
    """
    kept = chain.agreed if seeded else chain.kept
    after, passes, chances, num_kept = Counter[tuple[int, int]](), list[PassReport](), list[float](), 0
    for seed in range(4):
        passes.clear()
        sampling = SamplingParams(temperature, top_k=0, top_p=1.0, min_p=0.0, seed=seed if seeded else None)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Answer, "on_pass", lambda _self, report: passes.append(report))
            end = answer(session, Mode.HEAD, depth=1, sampling=sampling, max_tokens=300)
        ids, num_prompt = end.token_ids, end.stats.prompt_tokens
        after.update(pairwise(ids))
        drafted = [one for one in passes if one.num_proposed and one.num_history - num_prompt > undrafted]
        chances += [float(kept[ids[one.num_history - num_prompt - 1]]) for one in drafted]
        num_kept += sum(one.num_accepted for one in drafted)
    assert len(chances) > 500
    expected, spread = sum(chances), np.sqrt(sum(chance * (1.0 - chance) for chance in chances))
    assert abs(num_kept - expected) < 4.0 * spread
    assert expected < 0.97 * len(chances)
    assert chi_square_p(after, chain.p) > 0.001
    session.close()


def check_distribution(
    session: Session, chain: Chain, temperature: float, mode: Mode, depth: int | None, *, seeded: bool
) -> None:
    """Check that answers with longer drafts have the target's distribution."""
    after, num_proposed = Counter[tuple[int, int]](), 0
    for seed in range(4):  # with fewer answers most tokens would be too rare
        sampling = SamplingParams(temperature, top_k=0, top_p=1.0, min_p=0.0, seed=seed if seeded else None)
        end = answer(session, mode, depth=depth, sampling=sampling, max_tokens=300)
        after.update(pairwise(end.token_ids))
        num_proposed += end.stats.proposed
    assert num_proposed > 200 or mode is Mode.AUTO
    assert chi_square_p(after, chain.p) > 0.001
    session.close()


def chi_square_p(after: Counter[tuple[int, int]], p: NDArray[np.float64]) -> float:
    """P value of the tokens after each token; only cells with an expected count of at least five."""
    statistic, freedom = 0.0, 0
    for last in {one for one, _ in after}:
        seen = np.array([after[last, following] for following in range(len(p))], dtype=np.float64)
        wanted = p[last] * seen.sum()
        order = np.argsort(-wanted)
        cells: list[tuple[float, float]] = []
        have = want = 0.0
        for i in order:
            have, want = have + seen[i], want + wanted[i]
            if want >= 5.0:
                cells.append((have, want))
                have = want = 0.0
        if not cells:
            continue
        cells[-1] = (cells[-1][0] + have, cells[-1][1] + want)
        statistic += sum((one - other) ** 2 / other for one, other in cells)
        freedom += len(cells) - 1
    return float(stats.chi2.sf(statistic, freedom))
