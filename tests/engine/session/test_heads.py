"""Tests sessions whose target has heads, or gets one from a file: equal answers, known acceptance, failures."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.heads.loading import LoadedHead
from engine.records import (
    CacheType,
    ChatRequest,
    Finished,
    FinishReason,
    Mode,
    SamplingParams,
    Source,
)
from engine.session.session import Session
from tests.engine.answers import GREEDY, PROMPT, answer
from tests.engine.gguf_factory import Kind, tiny_llama
from tests.engine.heads.head_factory import (
    eagle3_for,
    markov_qwen35,
)
from tests.engine.heads.head_sessions import KINDS, agrees, load
from tests.engine.heads.markov_chain import chain_of, check_acceptance, check_distribution

WITH_HEAD = (Mode.HEAD, Mode.AUTO)


@pytest.fixture(scope="module", params=KINDS)
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    target, head = KINDS[request.param]
    session, _ready = load(tmp_path_factory.mktemp("heads"), target(), head() if head is not None else None)
    yield session
    session.close()


# ---- the same answers -----------------------------------------------------------------------------------------------


def test_every_mode_and_depth_gives_the_plain_tokens(loaded: Session) -> None:
    plain, proposed = answer(loaded, Mode.OFF), 0
    for mode in WITH_HEAD:
        for depth in (None, 1, 3, 7):
            end = answer(loaded, mode, depth=depth)
            assert agrees(loaded, plain, end)
            assert not any("left out" in why for why in end.stats.decisions)
            proposed += end.stats.proposed
    assert proposed > 200


def test_a_short_prompt_read_without_rows_is_read_again(tmp_path: Path) -> None:
    """Without the beginning, a head drafts worse than with it."""
    target, own_head = KINDS["eagle3"]
    assert own_head is not None
    session, _ready = load(tmp_path, target(), own_head())
    prompt = "Once upon a time there was a lake, and a cat sat on a mat. " * 2
    head = session._draft
    assert isinstance(head, LoadedHead)
    fresh = answer(session, Mode.HEAD, prompt, depth=1)
    head.target.clear()
    head.sequence.clear()
    plain = answer(session, Mode.OFF, prompt)
    again = answer(session, Mode.HEAD, prompt, depth=1)
    assert again.stats.prompt_cached_tokens == 0
    assert not head.head_model.has_lost_beginning()
    assert again.token_ids == plain.token_ids
    assert again.stats.accepted == fresh.stats.accepted
    assert answer(session, Mode.HEAD, prompt, depth=1).stats.prompt_cached_tokens == again.stats.prompt_tokens - 1
    answer(session, Mode.OFF, prompt)
    head.target.prompt_speed = 1.0  # rereading would take the target too long: the head begins after the lost part
    late = answer(session, Mode.HEAD, prompt, depth=1)
    assert late.stats.prompt_cached_tokens == again.stats.prompt_tokens - 1
    assert late.token_ids == plain.token_ids
    session.close()


@pytest.mark.parametrize("kind", ["eagle3", "three layers"])
def test_a_head_gives_the_plain_tokens_of_many_prompts(kind: str, tmp_path: Path) -> None:
    target, head = KINDS[kind]
    session, _ready = load(tmp_path, target(), head() if head is not None else None)
    dice, proposed = np.random.default_rng(5), 0
    words = ("the", "a", "cat", "dog", "sat", "on", "mat", "once", "time", "more", "of", "lake", "water", "red", "b")
    for number in range(30):
        prompt = " ".join(dice.choice(words, int(dice.integers(1, 30))))
        plain = answer(session, Mode.OFF, prompt)
        end = answer(session, Mode.HEAD, prompt, depth=2 + number % 4)
        assert end.token_ids == plain.token_ids
        proposed += end.stats.proposed
    assert proposed > 1000
    session.close()


def test_another_turn_and_an_edited_one_give_the_plain_tokens(loaded: Session) -> None:
    for prompt in (PROMPT, PROMPT + " and more of it", "Once upon another", PROMPT, "x"):
        told = [answer(loaded, mode, prompt, depth=None if mode is Mode.OFF else 3) for mode in (Mode.HEAD, Mode.OFF)]
        assert agrees(loaded, told[1], told[0], prompt)


def test_a_stop_in_the_middle_leaves_it_usable(loaded: Session) -> None:
    plain = answer(loaded, Mode.OFF)
    request = ChatRequest(raw_prompt=PROMPT, mode=Mode.HEAD, depth=3, sampling=GREEDY, ignore_eos=True)
    for number in (1, 3, 6):
        asked = 0

        def should_stop(limit: int = number) -> bool:
            nonlocal asked
            asked += 1
            return asked > limit

        events = list(loaded.generate(request, should_stop))
        assert isinstance(events[-1], Finished)
        assert events[-1].reason is FinishReason.CANCELLED
    assert agrees(loaded, plain, answer(loaded, Mode.HEAD, depth=3))


def test_conversations_switched_through_the_cache_give_plain_tokens(tmp_path: Path) -> None:
    for number, (target, head) in enumerate(KINDS.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        session, _ready = load(folder, target(), head() if head is not None else None)
        session.states.set_limit(1 << 24)
        talk = {
            7: "One chat that goes on for a while, so it is worth keeping. ",
            8: "Another, about something else! ",
        }
        plain = {who: answer(session, Mode.OFF, words * 2) for who, words in talk.items()}
        restored = 0
        for _ in range(2):
            for who, words in talk.items():
                end = answer(session, Mode.HEAD, words * 2, depth=3, conversation_id=who)
                assert agrees(session, plain[who], end, words * 2)
                restored += sum("restored" in why for why in end.stats.decisions)
        assert restored > 0
        session.close()


@pytest.mark.parametrize("kind", [CacheType.Q8_0, CacheType.Q4_0])
def test_quantized_caches_of_target_and_head_give_the_plain_tokens(tmp_path: Path, kind: CacheType) -> None:
    target = tiny_llama(n_ff=96).with_metadata(llama__context_length=(Kind.UINT32, 1024))
    wide = {"llama__attention__head_count": (Kind.UINT32, 2), "llama__attention__head_count_kv": (Kind.UINT32, 1)}
    wide |= {"llama__rope__dimension_count": (Kind.UINT32, 32)}
    target = target.with_metadata(**wide)
    session, _ready = load(tmp_path, target, eagle3_for(target), cache_type=kind, draft_cache_type=kind)
    plain = answer(session, Mode.OFF)
    end = answer(session, Mode.HEAD, depth=3)
    assert agrees(session, plain, end)
    assert end.stats.proposed > 20
    session.close()


# ---- known acceptance -----------------------------------------------------------------------------------------------


def test_a_head_that_says_the_same_is_always_accepted(tmp_path: Path) -> None:
    session, ready = load(tmp_path, markov_qwen35(0.0))
    assert ready.own_head is not None
    assert (ready.own_head.head_method, ready.draft) == ("MTP", None)
    end = answer(session, Mode.HEAD, depth=3)
    assert end.stats.accepted == end.stats.proposed == 48
    assert end.stats.provenance == {Source.HEAD: 48, Source.BONUS: 16}
    open_ended = SamplingParams(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, seed=4)
    end = answer(session, Mode.HEAD, depth=5, sampling=open_ended, max_tokens=300)
    assert end.stats.accepted >= 0.99 * end.stats.proposed > 100
    session.close()


@pytest.mark.parametrize("seeded", [False, True])
@pytest.mark.parametrize(("noise", "temperature"), [(0.2, 1.0), (0.6, 0.8)])
def test_noise_is_accepted_as_calculated_and_the_output_is_the_targets(
    tmp_path: Path, noise: float, temperature: float, seeded: bool, repeatable: None
) -> None:
    session, _ready = load(tmp_path, markov_qwen35(noise), n_ctx=1024)
    check_acceptance(session, chain_of(session, temperature), temperature, seeded=seeded)


@pytest.mark.parametrize(
    ("mode", "depth", "temperature", "seeded"),
    [
        (Mode.HEAD, 4, 0.8, False),
        (Mode.HEAD, None, 1.0, False),
        (Mode.AUTO, 4, 1.0, False),
        (Mode.AUTO, None, 0.8, False),
        # A seed gives the same answer in every mode, so two modes suffice.
        (Mode.AUTO, 4, 1.0, True),
        (Mode.HEAD, 4, 0.8, True),
    ],
)
def test_the_output_of_longer_drafts_is_the_targets(
    tmp_path: Path, mode: Mode, depth: int | None, temperature: float, seeded: bool, repeatable: None
) -> None:
    session, _ready = load(tmp_path, markov_qwen35(0.5), n_ctx=1024)
    check_distribution(session, chain_of(session, temperature), temperature, mode, depth, seeded=seeded)
