"""Tests sessions with Medusa and Hydra heads from a file: known rows, known acceptance, equal answers, rejections."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.heads.medusa import LoadedMedusa
from engine.pacing.pass_trace import TracedPass
from engine.records import EngineReady, LoadRequest, Mode, Source
from engine.sandbox.probe import probe_head
from engine.session.session import Session
from tests.engine.answers import answer
from tests.engine.gguf_factory import GgufFile, Kind, Tensor, tiny_llama
from tests.engine.heads.head_sessions import load, longer
from tests.engine.heads.markov_chain import Chain, check_acceptance, check_distribution
from tests.engine.heads.medusa_factory import (
    N_EMBD,
    markov_heads,
    markov_llama,
    random_heads,
    tensor,
    tokens_of,
    unit_embeddings,
)

KEPT = np.arange(3, 260, 3, dtype=np.int32)


def test_at_most_a_token_per_head_is_proposed_and_only_mapped_ones(tmp_path: Path) -> None:
    target = longer(tiny_llama)
    session, _ready = load(tmp_path, target, random_heads(target, num_heads=2, kept=KEPT))
    passes: list[TracedPass] = []
    session.on_trace = passes.append
    answer(session, Mode.HEAD, depth=7)
    assert max(one.proposed for one in passes) == 2
    head = session._draft
    assert isinstance(head, LoadedMedusa)
    head.record_rows(on=False)
    head.sequence.clear()
    row = head.sequence.forward([5], 1)[0]
    assert np.flatnonzero(np.isfinite(row)).tolist() == KEPT.tolist()
    session.close()


# ---- known rows -----------------------------------------------------------------------------------------------------


def test_scores_are_what_the_published_formulas_give(tmp_path: Path) -> None:
    """Recomputed with NumPy from the target's rows and embeddings."""
    target = longer(tiny_llama)
    for kind in ("medusa", "hydra"):
        file = random_heads(target, kind, num_blocks=2)
        session, _ready = load(tmp_path, target, file)
        head, sequence = session._draft, session._loaded().sequence
        assert isinstance(head, LoadedMedusa)
        head.record_rows(on=True)
        ids = [5, 9, 60, 71, 80, 90]
        sequence.clear()
        head.sequence.clear()
        sequence.forward(ids[:3], 3)
        row = head.tap.row()
        assert row is not None
        output = values(target, "output.weight")
        logits = sequence.forward(ids[2:3], 1) if sequence.rollback(2) else None
        assert logits is not None
        assert np.allclose(output @ row, logits[0], atol=0.02)  # so it is the row from which the target computes logits
        found = head.sequence.forward(ids, 3)
        for k in range(3):
            seen = values(target, "token_embd.weight")[ids[3 : 4 + k]].ravel() if kind == "hydra" else np.zeros(0)
            assert np.allclose(found[k], by_formula(file, k, np.concatenate([row, seen])), atol=0.02)
        session.close()


def values(file: GgufFile, name: str) -> NDArray[np.float64]:
    (one,) = [each for each in file.tensors if each.name == name]
    kind = np.float32 if one.kind == 0 else np.float16
    return np.frombuffer(one.data, kind).reshape(one.dims[::-1]).astype(np.float64)


def by_formula(file: GgufFile, k: int, z: NDArray[np.float64]) -> NDArray[np.float64]:
    x = z
    for n in range(2):
        inner = values(file, f"head.{k}.block.{n}.weight") @ x + values(file, f"head.{k}.block.{n}.bias")
        if n == 0 and len(z) > N_EMBD:
            x = values(file, f"head.{k}.skip.weight") @ x + values(file, f"head.{k}.skip.bias")
        x = x + inner / (1.0 + np.exp(-inner))
    return values(file, f"head.{k}.output.weight") @ x + values(file, f"head.{k}.output.bias")


# ---- known acceptance -----------------------------------------------------------------------------------------------


def markov(folder: Path, noise: float) -> tuple[Session, EngineReady]:
    target = unit_embeddings(markov_llama())
    return load(folder, target, markov_heads(target, noise), n_ctx=1024)


def test_heads_that_say_the_same_are_always_accepted(tmp_path: Path) -> None:
    session, ready = markov(tmp_path, 0.0)
    assert ready.draft is not None
    assert ready.draft.head_method == "Hydra"
    end = answer(session, Mode.HEAD, depth=3)
    assert end.stats.accepted >= end.stats.proposed - 3  # the heads have no rows of the prompt in the first pass
    assert end.stats.provenance[Source.HEAD] >= 44
    session.close()


def chain_of(session: Session, noise_file: GgufFile, temperature: float) -> Chain:
    """The distributions of a target whose next token depends on the last one only, and of its heads."""
    target, head = session._loaded().sequence, session._draft
    assert isinstance(head, LoadedMedusa)
    ends = list(session._loaded().model.vocab.eog_ids)
    number = head.weights.layout.n_vocab
    embedding = values(unit_embeddings(markov_llama()), "token_embd.weight")
    own = embedding @ values(noise_file, "output.weight").T
    head.record_rows(on=False)
    chain = Chain(np.zeros((number, number)), np.zeros((number, number)))
    for token_id in range(number):
        target.clear()
        for logits, found in (
            (target.forward([token_id], 1)[0].astype(np.float64), chain.p),
            (own[token_id], chain.q),
        ):
            weights = np.exp((logits - logits.max()) / temperature)
            weights[ends] = 0.0  # as requested of the answers
            found[token_id] = weights / weights.sum()
    target.clear()
    return chain


@pytest.mark.parametrize("seeded", [False, True])
@pytest.mark.parametrize(("noise", "temperature"), [(0.3, 1.0), (0.8, 0.8)])
def test_noise_is_accepted_as_calculated_and_the_output_is_the_targets(
    tmp_path: Path, noise: float, temperature: float, seeded: bool, repeatable: None
) -> None:
    session, _ready = markov(tmp_path, noise)
    chain = chain_of(session, markov_heads(unit_embeddings(markov_llama()), noise), temperature)
    check_acceptance(session, chain, temperature, seeded=seeded, undrafted=1)


@pytest.mark.parametrize(
    ("mode", "depth", "temperature", "seeded"),
    [
        (Mode.HEAD, 3, 0.8, False),
        (Mode.HEAD, None, 1.0, False),
        (Mode.AUTO, 4, 1.0, False),
        (Mode.AUTO, None, 0.8, False),
        # A seed gives the same answer in every mode, so two modes suffice.
        (Mode.AUTO, 4, 1.0, True),
        (Mode.HEAD, 3, 0.8, True),
    ],
)
def test_the_output_of_longer_drafts_is_the_targets(
    tmp_path: Path, mode: Mode, depth: int | None, temperature: float, seeded: bool, repeatable: None
) -> None:
    session, _ready = markov(tmp_path, 0.6)
    chain = chain_of(session, markov_heads(unit_embeddings(markov_llama()), 0.6), temperature)
    check_distribution(session, chain, temperature, mode, depth, seeded=seeded)


# ---- refusals -------------------------------------------------------------------------------------------------------


def refusal(folder: Path, head: GgufFile | bytes) -> str:
    """Why heads are not used; checks that the target still answers."""
    target, path = longer(tiny_llama).write(folder / "target.gguf"), folder / "head.gguf"
    path.write_bytes(head if isinstance(head, bytes) else head.to_bytes())
    session = Session(inspect_head=partial(probe_head, cache_dir=folder / "cache"))
    ready = session.load(LoadRequest(str(target), str(path), n_ctx=512))
    assert ready.draft is None
    assert len(answer(session, Mode.AUTO).token_ids) == 64
    session.close()
    return ready.unavailable[Mode.DRAFT]


@pytest.mark.usefixtures("warm_helpers")
@pytest.mark.parametrize("number", [1, 2])
def test_few_heads_pass_the_trial_and_draft_but_not_before_the_first_row(tmp_path: Path, number: int) -> None:
    target = longer(tiny_llama)
    heads = random_heads(tiny_llama(), kept=KEPT, num_heads=number).write(tmp_path / "head.gguf")
    session = Session(inspect_head=partial(probe_head, cache_dir=tmp_path / "cache"))
    ready = session.load(LoadRequest(str(target.write(tmp_path / "target.gguf")), str(heads), n_ctx=512))
    assert ready.draft is not None, ready.unavailable
    stats = answer(session, Mode.HEAD, depth=number).stats
    session.close()
    assert 0 < stats.proposed <= number * (stats.passes - 1)


@pytest.mark.usefixtures("warm_helpers")
def test_heads_that_cannot_serve_are_refused_in_a_sentence(tmp_path: Path) -> None:
    target = tiny_llama()
    good = random_heads(target, kept=KEPT)
    wide = tensor("head.0.block.0.weight", np.zeros((N_EMBD, 2 * N_EMBD)))
    back = Tensor("vocab_map", (len(KEPT),), 26, KEPT[::-1].tobytes())
    beyond = Tensor("vocab_map", (len(KEPT),), 26, (KEPT + len(tokens_of(target))).astype(np.int32).tobytes())
    more = tensor("blk.0.attn_q.weight", np.zeros((1, 32)))
    damaged = np.full((N_EMBD, N_EMBD), np.nan)
    cases: dict[str, GgufFile | bytes] = {
        "made for tiny, whose tokens differ": good.with_metadata(medusa__tokenizer_sha256=(Kind.STRING, "0" * 64)),
        "states of 128 numbers, and the target's have 64": good.with_metadata(
            medusa__embedding_length=(Kind.UINT32, 128)
        ),
        "of the kind medusa or hydra": good.with_metadata(medusa__kind=(Kind.STRING, "lizard")),
        "head_count is 99": good.with_metadata(medusa__head_count=(Kind.UINT32, 99)),
        "lacks the tensor head.3.block.0.weight": good.with_metadata(medusa__head_count=(Kind.UINT32, 4)),
        "has 128 × 64 values": replace(good, tensors=(wide, *good.tensors[1:])),
        "which no such head has": replace(good, tensors=(*good.tensors, more)),
        "do not ascend": replace(good, tensors=(*good.tensors[:-1], back)),
        "not in the target's vocabulary": replace(good, tensors=(*good.tensors[:-1], beyond)),
        "numbers that are not finite": good.with_tensor(
            "head.0.block.0.weight", data=damaged.astype(np.float32).tobytes()
        ),
        "bytes of its weights are missing": good.to_bytes()[:-1000],
    }
    cases["vocabulary of 999 tokens"] = random_heads(target).with_metadata(medusa__vocab_size=(Kind.UINT32, 999))
    for words, head in cases.items():
        reason = refusal(tmp_path, head)
        if words == "states of 128 numbers, and the target's have 64":
            assert words in reason or "values, and should have" in reason
        elif words == "vocabulary of 999 tokens":
            assert "values, and should have" in reason
        else:
            assert words in reason, reason
