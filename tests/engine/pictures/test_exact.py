"""Drafting after pictures keeps the target's distribution and greedy answers, whatever happened before."""

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from engine.picture import Picture
from engine.records import ChatRequest, FinishReason, LoadRequest, Message, Mode, Overflow, SamplingParams
from engine.session.session import Session
from tests.engine.session.test_sight import ONE, TWO, Asked
from tests.engine.vision_factory import FAMILIES, asked, picture, text_model, write_pair
from tests.long_form import LONG, rounds
from tests.scripted_pair import chi_square_p

# Letters with a single token in the tiny vocabularies; others are biased away, so that answers consist of these.
LETTERS = "xyz"
LENGTH = 4  # tokens of a sampled answer; all but the last count, since drafts may be three deep
NUM_SAMPLES = rounds(250, 4_000)
TEMPERATURE = 1.2
SAMPLED = FAMILIES if LONG else ("gemma3", "qwen2vl")  # attention among embeddings; positions that differ from cells
DRAFTING = [Mode.NGRAM, Mode.SUFFIX, Mode.AUTO]  # a draft model does not draft behind pictures


@pytest.fixture(scope="module", params=SAMPLED)
def seeing(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    """A session of each family, with a draft without vision."""
    folder = tmp_path_factory.mktemp(request.param)
    pair = write_pair(folder, request.param)
    draft = text_model(request.param, seed=5).write(folder / "draft.gguf")
    session = Session()
    ready = session.load(LoadRequest(str(pair.model), str(draft), gpu_layers=0, threads=1, mmproj=str(pair.side)))
    assert ready.target.has_vision
    yield Asked(session)
    session.close()


def letter_ids(session: Session) -> list[int]:
    """The token of each letter."""
    found = [session._loaded().model.vocab.tokenize(letter, special=False) for letter in LETTERS]
    assert all(len(ids) == 1 for ids in found)
    return [ids[0] for ids in found]


def letters_with(one: Picture) -> tuple[Message, ...]:
    """Text for n-gram drafters before and after the picture."""
    return asked("xyzzyxx yzx ", one, " xzyx xxyyzz"), Message("assistant", "zyx xy"), asked("xyz zz xyx zyyx")


@pytest.fixture(scope="module")
def chances(seeing: Asked) -> tuple[dict[tuple[int, ...], float], dict[tuple[int, ...], float]]:
    """The probabilities of answers, and those of a sharper distribution."""
    wanted, sharper = (exact(seeing.session, letters_with(ONE), one) for one in (TEMPERATURE, 0.7 * TEMPERATURE))
    return wanted, sharper


def exact(session: Session, messages: tuple[Message, ...], temperature: float) -> dict[tuple[int, ...], float]:
    """The probability of each answer's counted tokens, from the target's rows."""
    prompt, letters = session.prompt_ids(ChatRequest(messages)), letter_ids(session)
    found = {(): 1.0}
    for _ in range(LENGTH - 1):
        longer = {}
        for answer, share in found.items():
            row = _row(session, messages, [*prompt, *answer])[letters] / temperature
            weights = np.exp(row - row.max()).tolist()
            for letter, weight in zip(letters, weights, strict=True):
                longer[(*answer, letter)] = share * weight / math.fsum(weights)
        found = longer
    return found


def _row(session: Session, messages: tuple[Message, ...], ids: list[int]) -> np.ndarray:
    """The row [n_vocab] after these tokens; the pixels are available while it is computed."""
    session._vision.ids_in(ChatRequest(messages))
    sequence, whole = session._loaded().sequence, np.asarray(ids, dtype=np.int32)
    for _ in sequence.prefill(whole[sequence.reuse(whole) : -1]):
        pass
    return sequence.forward(whole[-1:], 1)[0].astype(np.float64)


def letters_alone(session: Session, temperature: float, seed: int | None = None) -> SamplingParams:
    """Sampling parameters for answers of the letters."""
    bias = tuple((letter, 100.0) for letter in letter_ids(session))
    return SamplingParams(temperature, top_k=0, top_p=1.0, min_p=0.0, logit_bias=bias, seed=seed)


@pytest.mark.parametrize(
    ("mode", "depth"), [*((mode, 3) for mode in DRAFTING), (Mode.AUTO, None)], ids=[*DRAFTING, "paced"]
)
def test_sampled_answers_behind_a_picture_have_the_targets_distribution(
    seeing: Asked,
    mode: Mode,
    depth: int | None,
    chances: tuple[dict[tuple[int, ...], float], dict[tuple[int, ...], float]],
    repeatable: None,
) -> None:
    """By chi-square over whole answers; a somewhat sharper distribution would be detected."""
    wanted, sharper = chances
    counts, proposed = Counter[tuple[int, ...]](), 0
    for _ in range(NUM_SAMPLES):
        sampling = letters_alone(seeing.session, TEMPERATURE)
        end = seeing.answer(*letters_with(ONE), mode=mode, depth=depth, sampling=sampling, max_tokens=LENGTH)
        counts[end.token_ids[: LENGTH - 1]] += 1
        proposed += end.stats.proposed
    assert set(counts) <= set(wanted)
    assert proposed > NUM_SAMPLES // 4 or depth is None
    seen = np.array([counts[one] for one in wanted])
    assert chi_square_p(seen, np.array(list(wanted.values()))) > 1e-4
    assert chi_square_p(seen, np.array(list(sharper.values()))) < 1e-4


@pytest.mark.parametrize("mode", DRAFTING)
def test_tie_safe_answers_are_those_of_plain_decoding(seeing: Asked, mode: Mode) -> None:
    """Long answers, asked again with cached parts of others: regenerated, edited after and before the picture."""
    chats = [
        (asked("ab ab ", ONE, " ab ba ab"),),
        (asked("ab ab ", ONE, " ab ba b"),),
        (asked("ba ab ", ONE, " ab ba b"), Message("assistant", "ab ba"), asked(TWO, "ba ab")),
        (asked("ba ab ", ONE, " ab ba b"), Message("assistant", "ab b"), asked(TWO, "ba ab")),
        (asked("ab ab ", ONE, " ab ba ab"),),
    ]
    plain, found, proposed = list[tuple[int, ...]](), list[tuple[int, ...]](), 0
    for chat in chats:
        seeing.session._loaded().sequence.clear()
        plain.append(seeing.ids(*chat, max_tokens=80))
    for chat in chats:
        for _ in range(2):
            end = seeing.answer(*chat, mode=mode, max_tokens=80)
            found.append(end.token_ids)
            proposed += end.stats.proposed
    assert found == [one for one in plain for _ in range(2)]
    assert proposed > 50


@pytest.mark.parametrize("mode", [Mode.OFF, *DRAFTING])
def test_two_chats_with_pictures_take_turns(seeing: Asked, mode: Mode) -> None:
    # So long that a pass of the prompt ends after the picture: tie-safe answers keep whole passes.
    one = [asked("ab ", ONE, " ab and more of it ab" * 9), Message("assistant", "ab ab"), asked("then ab?")]
    two = [asked(TWO, "ba ba ", picture(7), " ba" * 60), Message("assistant", "b a"), asked("so ", ONE, " ba?")]
    alone = []
    for chat in (one[:1], two[:1], one, two):
        seeing.session._loaded().sequence.clear()
        alone.append(seeing.ids(*chat))
    seeing.session.states.set_limit(1 << 30)
    try:
        turns = [(one[:1], 11), (two[:1], 12), (one, 11), (two, 12)]
        ends = [seeing.answer(*chat, mode=mode, conversation_id=key) for chat, key in turns]
    finally:
        seeing.session.states.set_limit(0)
    assert [end.token_ids for end in ends] == alone
    assert ends[2].stats.restored_tokens > sum(place < 0 for place in seeing.session.prompt_ids(ChatRequest((one[0],))))


@pytest.mark.parametrize("mode", [Mode.OFF, Mode.SUFFIX, Mode.AUTO])
def test_an_answer_fills_the_context_behind_a_picture(seeing: Asked, mode: Mode) -> None:
    """It ends when the context is full, with the tokens of plain decoding."""
    n_ctx = seeing.session._loaded().context.n_ctx
    message = asked("ab " * 60, ONE, " ab " * 20, TWO, " ab")
    end = seeing.answer(message, mode=mode, max_tokens=None)
    assert end.reason is FinishReason.CONTEXT
    assert end.stats.prompt_tokens + end.stats.tokens >= n_ctx
    assert end.token_ids == seeing.ids(message, max_tokens=None)


def test_of_turns_with_pictures_no_more_are_left_out_than_have_to(seeing: Asked) -> None:
    n_ctx, chat = seeing.session._loaded().context.n_ctx, list[Message]()
    for number in range(1, 60):
        chat += [asked("a", picture(number)), Message("assistant", "b")]
        if len(seeing.session.prompt_ids(ChatRequest((*chat, asked("and?"))))) > n_ctx:
            break
    chat.append(asked("and?"))
    end = seeing.answer(*chat, overflow=Overflow.DROP)
    assert 0 < end.stats.left_out <= 2 * len(chat) // 3
    assert n_ctx // 3 < end.stats.prompt_tokens < n_ctx
    seeing.session._loaded().sequence.clear()
    assert seeing.ids(*chat[end.stats.left_out :]) == end.token_ids
