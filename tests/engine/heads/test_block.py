"""Tests DFlash and DSpark heads and Gemma 4's assistant: acceptance, ends of blocks, failures, llama.cpp's drafts."""

import http.client
import json
import os
import re
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from app.core.benchmark.peers import free_ports
from engine.drafters.base import Draft
from engine.drafters.draft_model import DraftModelDrafter
from engine.errors import DraftRefusedError
from engine.gguf.head_files import block_shape, head_method
from engine.gguf.header import read_header
from engine.heads.compatibility import check_head_file
from engine.interfaces import Candidates, TokenIds
from engine.records import ChatRequest, LoadRequest, Mode, Source
from engine.sampling.sampler import History
from engine.sandbox.probe import probe_head
from engine.session.session import Session
from tests.engine.answers import PROMPT, answer
from tests.engine.gguf_factory import GgufFile, Kind, tiny_llama
from tests.engine.heads.head_factory import (
    N_VOCAB,
    assistant_for,
    dflash_for,
    eagle3_for,
    qwen35_with_mtp,
    tiny_gemma4,
)
from tests.engine.heads.head_sessions import agrees, load, longer
from tests.engine.heads.markov_chain import chain_of, check_acceptance, check_distribution, markov_llama, tensor
from tests.engine.session.test_parallel import Asker, question

NEAR_TIE = 0.03  # logit difference
SERVER = os.environ.get("PACELINE_LLAMA_SERVER", "")
KINDS: dict[str, tuple[Callable[[], GgufFile], Callable[[], GgufFile] | None, str]] = {
    "dflash": (lambda: longer(tiny_llama), dflash_for, "draft-dflash"),
    "own tokens": (lambda: longer(tiny_llama), lambda: dflash_for(own=True), "draft-dflash"),
    "causal": (
        lambda: longer(tiny_llama),
        lambda: dflash_for(dflash__attention__causal=(Kind.BOOL, True)),
        "draft-dflash",
    ),
    "dspark": (lambda: longer(tiny_llama), lambda: dflash_for(markov_rank=4), "draft-dspark"),
    "bonus anchor": (
        lambda: longer(tiny_llama),
        lambda: dflash_for(markov_rank=4, dflash__sample_from_anchor=(Kind.BOOL, False)),
        "draft-dspark",
    ),
    "assistant": (tiny_gemma4, assistant_for, "draft-mtp"),
    "eagle3": (lambda: longer(tiny_llama), eagle3_for, "draft-eagle3"),
    "mtp": (qwen35_with_mtp, None, "draft-mtp"),
}


def without_mask(target: GgufFile) -> GgufFile:
    """A copy whose embedding of token 0, the mask, is zero."""
    found = next(one for one in target.tensors if one.name == "token_embd.weight")
    values = np.frombuffer(found.data, np.float32).reshape(N_VOCAB, -1).copy()
    values[0] = 0.0
    return target.with_tensor("token_embd.weight", data=values.tobytes())


def markov_dspark(target: GgufFile, noise: float, *, seed: int = 0) -> GgufFile:
    """A DSpark head with the output of `markov_llama` plus ``noise`` on its output layer.

    The anchor's row is the target's. Masks contribute nothing, and the Markov head multiplies the previous token's
    normalized embedding by the output layer.
    """
    by_name = {one.name: one for one in target.tensors}
    embedding = np.frombuffer(by_name["token_embd.weight"].data, np.float32).reshape(N_VOCAB, -1).astype(np.float64)
    output = np.frombuffer(by_name["output.weight"].data, np.float32).reshape(N_VOCAB, -1).astype(np.float64)
    output = output + np.random.default_rng(seed + 8).normal(0.0, noise * 0.35, output.shape)
    size = np.sqrt((embedding**2).mean(axis=1, keepdims=True) + 1e-5)
    made = {"markov_w1.weight": embedding / size, "markov_w2.weight": output, "output.weight": output}
    base = dflash_for(target, markov_rank=64)
    idle = ("blk.0.attn_output.weight", "blk.0.ffn_down.weight")
    kept = [one for one in base.tensors if one.name not in made]
    tensors = [replace(one, data=bytes(len(one.data))) if one.name in idle else one for one in kept]
    return replace(base, tensors=(*tensors, *(tensor(name, values) for name, values in made.items())))


def dspark_session(folder: Path, noise: float) -> Session:
    target = without_mask(markov_llama())
    return load(folder, target, markov_dspark(target, noise), n_ctx=1024)[0]


@dataclass
class Watched:
    """A proposal, and the known logits of each of its tokens."""

    draft: Draft
    rows: list[Candidates]

    def lead(self, place: int, other: int) -> float:
        """By how many logits its token at this position exceeded another."""
        row = self.rows[place]
        mine, its = (row.logits[row.ids == one] for one in (self.draft.ids[place], other))
        return float(mine[0] - its[0]) if len(its) else np.inf


def watched_drafts(monkeypatch: pytest.MonkeyPatch) -> list[Watched]:
    """A list that records the proposals of heads."""
    drafts, rows = list[Watched](), list[Candidates]()
    propose, make_pass = DraftModelDrafter.propose, DraftModelDrafter._pass

    def watched(self: DraftModelDrafter, history: History, limit: int, *rest: object) -> Draft:
        rows.clear()
        draft = propose(self, history, limit, *rest)  # type: ignore[arg-type]
        drafts.append(Watched(draft, list(rows)))
        return draft

    def watched_pass(self: DraftModelDrafter, ids: TokenIds) -> object:
        row = make_pass(self, ids)
        found = row if isinstance(row, Candidates) else Candidates(np.arange(len(row)), row)
        rows.append(Candidates(found.ids, found.logits.copy()))
        return row

    monkeypatch.setattr(DraftModelDrafter, "propose", watched)
    monkeypatch.setattr(DraftModelDrafter, "_pass", watched_pass)
    return drafts


# ---- what is accepted ------------------------------------------------------------------------------------------------


def test_a_block_that_says_the_same_is_always_accepted(tmp_path: Path) -> None:
    session = dspark_session(tmp_path, 0.0)
    end = answer(session, Mode.HEAD, depth=3)
    assert end.stats.accepted == end.stats.proposed == 48
    assert end.stats.provenance == {Source.HEAD: 48, Source.BONUS: 16}
    assert agrees(session, answer(session, Mode.OFF), end)
    session.close()


def test_no_more_is_proposed_than_a_block_has(tmp_path: Path) -> None:
    session = dspark_session(tmp_path, 0.0)
    end = answer(session, Mode.HEAD, depth=12)
    assert end.stats.accepted == end.stats.proposed
    assert max(end.stats.proposed_by_depth) > 0
    assert sum(one > 0 for one in end.stats.proposed_by_depth) == 5  # tokens of a block
    session.close()


@pytest.mark.parametrize(("noise", "temperature", "seeded"), [(0.3, 1.0, False), (0.6, 0.8, True)])
def test_noise_is_accepted_as_calculated_and_the_output_is_the_targets(
    tmp_path: Path, noise: float, temperature: float, seeded: bool, repeatable: None
) -> None:
    session = dspark_session(tmp_path, noise)
    check_acceptance(session, chain_of(session, temperature), temperature, seeded=seeded)


@pytest.mark.parametrize(
    ("mode", "depth", "temperature", "seeded"),
    [
        (Mode.HEAD, 4, 0.8, False),
        (Mode.HEAD, None, 1.0, False),
        (Mode.AUTO, None, 0.8, False),
        (Mode.HEAD, 4, 1.0, True),
    ],
)
def test_the_output_of_whole_blocks_is_the_targets(
    tmp_path: Path, mode: Mode, depth: int | None, temperature: float, seeded: bool, repeatable: None
) -> None:
    session = dspark_session(tmp_path, 0.4)
    check_distribution(session, chain_of(session, temperature), temperature, mode, depth, seeded=seeded)


def test_how_sure_a_dspark_head_is_reaches_who_decides_how_far_to_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drafts = watched_drafts(monkeypatch)
    session, _ready = load(tmp_path, longer(tiny_llama), dflash_for(markov_rank=4))
    session.measure()
    answer(session, Mode.HEAD)
    session.close()
    told = [score for one in drafts for score in one.draft.scores or []]
    assert len(set(told)) > 3
    assert all(0.0 < one < 1.0 for one in told)


@pytest.mark.parametrize("kind", ["dflash", "dspark", "assistant", "eagle3"])
def test_answers_beside_others_are_those_that_each_would_be_alone(kind: str, tmp_path: Path) -> None:
    target, head, _name = KINDS[kind]
    assert head is not None
    paths = [str(file.write(tmp_path / name)) for file, name in ((target(), "t.gguf"), (head(), "h.gguf"))]
    prompts = ("Once upon", "ab ab ab a", "b")
    session = Session()
    session.load(LoadRequest(paths[0], None, n_ctx=512, threads=1))
    alone = [answer(session, Mode.OFF, text, max_tokens=40) for text in prompts]
    asker = Asker(3, target=paths[0], draft=paths[1])
    heard = asker.ask([question(text, mode=Mode.HEAD, depth=3) for text in prompts])
    asker.close()
    for text, one, other in zip(prompts, alone, heard, strict=True):
        assert agrees(session, one, other.finished, text)
    session.close()
    assert any(one.finished.stats.proposed for one in heard)  # a head drafts for one answer at a time
    assert any(one.finished.stats.joined_passes for one in heard)


# ---- the field's own -------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not SERVER, reason="PACELINE_LLAMA_SERVER names no llama-server")
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_tokens_are_drafted_pass_by_pass_as_by_llama_cpps_server(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server drafts nothing for the first pass; afterwards it logs the likeliest token of each position."""
    target, head, name = KINDS[kind]
    session, _ready = load(tmp_path, target(), head() if head is not None else None)
    size = block_shape(read_header(tmp_path / "head.gguf")).num_drafted if name[6:] in ("dflash", "dspark") else 4
    ids = [int(one) for one in session.prompt_ids(ChatRequest(raw_prompt=PROMPT))]
    drafts = watched_drafts(monkeypatch)
    answered = answer(session, Mode.HEAD, depth=size, max_tokens=32)
    session.close()
    options = ["--spec-type", name, "--spec-draft-n-max", str(size)]
    options += ["--spec-draft-model", "head.gguf"] if head is not None else []
    log, tokens = server_log(tmp_path, options, ids)
    assert tokens[:32] == list(answered.token_ids)
    found, last = list[list[int]](), 99
    for place, token_id in re.findall(r"draft candidate +0, pos +(\d+): +(\d+)", log):
        if int(place) <= last:
            found.append([])
        last = int(place)
        found[-1].append(int(token_id))
    assert len(found) > 10
    # A block is shorter if the end of the answer is likeliest. Other computations may differ in the last bits.
    for one, ids in zip(drafts[1:], found, strict=False):
        own = one.draft.ids
        at = next((i for i, (mine, its) in enumerate(zip(own, ids, strict=False)) if mine != its), None)
        assert at is None or one.lead(at, ids[at]) < NEAR_TIE, (own, ids)


def server_log(folder: Path, options: list[str], ids: list[int]) -> tuple[str, list[int]]:
    """The server's log of an answer of 32 tokens, and the tokens."""
    (port,) = free_ports(1)
    shared = ["-m", "target.gguf", "--port", str(port), "-c", "512", "-t", "1", "-np", "1", "--no-warmup", "-fa", "off"]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [SERVER, *shared, "-lv", "5", *options], cwd=folder, stdout=log, stderr=subprocess.STDOUT
        )
    body = {"prompt": ids, "n_predict": 32, "temperature": 0, "ignore_eos": True, "return_tokens": True, "top_k": 1}
    try:
        for _ in range(200):
            if asked(port, "GET", "/health")[0] == 200:
                break
            time.sleep(0.1)
        tokens: list[int] = json.loads(asked(port, "POST", "/completion", json.dumps(body))[1])["tokens"]
    finally:
        server.terminate()
        server.wait(10)
    return (folder / "log").read_text(encoding="utf-8", errors="replace"), tokens


def asked(port: int, method: str, path: str, body: str | None = None) -> tuple[int, bytes]:
    """Status and body; 0 until the server listens."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, body)
        answered = connection.getresponse()
        return answered.status, answered.read()
    except OSError:
        return 0, b""
    finally:
        connection.close()


# ---- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("warm_helpers")
@pytest.mark.parametrize("kind", ["dflash", "dspark", "assistant"])
def test_a_good_file_is_known_and_passes_the_trial(kind: str, tmp_path: Path) -> None:
    target, head, _name = KINDS[kind]
    assert head is not None
    files = [target().write(tmp_path / "target.gguf"), head().write(tmp_path / "head.gguf")]
    method = head_method(read_header(files[1]))
    assert method == {"dflash": "DFlash", "dspark": "DSpark", "assistant": "Gemma 4 assistant"}[kind]
    session = Session(inspect_head=partial(probe_head, cache_dir=tmp_path / "cache"))
    ready = session.load(LoadRequest(str(files[0]), str(files[1]), n_ctx=512, threads=1))
    assert ready.draft is not None, ready.unavailable
    assert ready.draft.head_method == method
    session.close()


BAD_BLOCKS: dict[str, GgufFile] = {
    "llama.cpp does not provide those of qwen2 models": dflash_for(),
    "does not name the layers": dflash_for(dflash__target_layers=(Kind.STRING, "0 1")),
    "reads layer 2 of its target, and this one has 1": dflash_for(layers=(0, 2)),
    "blocks of 1 tokens": dflash_for(size=1),
    "blocks of 99999 tokens": dflash_for(dflash__block_size=(Kind.UINT32, 99999)),
    "does not name its mask token": dflash_for().with_metadata(tokenizer__ggml__mask_token_id=None),
    "states of 32 numbers, and the target's have 64": dflash_for(dflash__embedding_length=(Kind.UINT32, 32)),
}


@pytest.mark.parametrize("reason", BAD_BLOCKS)
def test_a_block_head_that_cannot_serve_is_refused_by_its_header(tmp_path: Path, reason: str) -> None:
    target = tiny_llama()
    if "qwen2" in reason:
        target = target.with_metadata(general__architecture=(Kind.STRING, "qwen2"))
    files = [target.write(tmp_path / "target.gguf"), BAD_BLOCKS[reason].write(tmp_path / "head.gguf")]
    with pytest.raises(DraftRefusedError, match=reason):
        check_head_file(read_header(files[0]), read_header(files[1]))


BAD_ASSISTANTS: dict[str, GgufFile] = {
    "made for models of the architecture gemma4": assistant_for(),
    "attention.key_length is not the target's": assistant_for(
        **{"gemma4-assistant__attention__key_length": (Kind.UINT32, 8)}
    ),
    "attention.sliding_window is not the target's": assistant_for(window=128),
    "attention.head_count_kv is not the target's": assistant_for(
        **{"gemma4-assistant__attention__head_count_kv": (Kind.UINT32, 1)}
    ),
    "states of 128 numbers, and the target's have 64": assistant_for(
        **{"gemma4-assistant__embedding_length_out": (Kind.UINT32, 128)}
    ),
}


@pytest.mark.parametrize("reason", BAD_ASSISTANTS)
def test_an_assistant_that_cannot_serve_is_refused_by_its_header(tmp_path: Path, reason: str) -> None:
    target = tiny_llama() if "architecture" in reason else tiny_gemma4()
    files = [target.write(tmp_path / "target.gguf"), BAD_ASSISTANTS[reason].write(tmp_path / "head.gguf")]
    with pytest.raises(DraftRefusedError, match=re.escape(reason)):
        check_head_file(read_header(files[0]), read_header(files[1]))
