"""Conversations with pictures have the same greedy answer in every mode, whatever was cached, edited or repeated."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.errors import DecodeError, PictureError, PromptError, TemplateError
from engine.records import ChatRequest, Finished, LoadRequest, Message, Mode, PrefillProgress, SamplingParams
from engine.session.session import Session
from tests.engine.answers import GREEDY, end_of
from tests.engine.gguf_factory import GgufFile
from tests.engine.heads.head_factory import qwen35_with_mtp, tiny_hy_v3
from tests.engine.heads.head_sessions import KINDS, longer
from tests.engine.hybrid_factory import tiny_lfm2, tiny_qwen35
from tests.engine.vision_factory import FAMILIES, asked, picture, side_file, text_model, write_pair

ONE, TWO = picture(0), picture(1, 60, 100)


class Asked:
    """A session, and its answers."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def answer(self, *messages: Message, mode: Mode = Mode.OFF, **fields: object) -> Finished:
        """The end of an answer."""
        usual = {"depth": None if mode is Mode.OFF else 4, "sampling": GREEDY, "max_tokens": 24, "ignore_eos": True}
        return end_of(self.session, ChatRequest(messages, mode, **(usual | fields)))  # type: ignore[arg-type]

    def ids(self, *messages: Message, mode: Mode = Mode.OFF, **fields: object) -> tuple[int, ...]:
        """The tokens of an answer."""
        return self.answer(*messages, mode=mode, **fields).token_ids


@pytest.fixture(scope="module", params=FAMILIES)
def seeing(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    """A session of each family, with a draft without vision."""
    folder = tmp_path_factory.mktemp(request.param)
    pair = write_pair(folder, request.param)
    draft = text_model(request.param, seed=5).write(folder / "draft.gguf")
    session = Session()
    ready = session.load(LoadRequest(str(pair.model), str(draft), gpu_layers=0, threads=1, mmproj=str(pair.side)))
    assert ready.target.has_vision
    assert ready.notices == ()
    yield Asked(session)
    session.close()


def test_a_draft_model_does_not_draft_where_there_are_pictures_and_says_so(seeing: Asked) -> None:
    stats = seeing.answer(asked(ONE, "what is ab ab ab"), mode=Mode.DRAFT).stats
    assert stats.proposed == 0
    assert "draft left out: it cannot see pictures" in stats.decisions


@pytest.mark.parametrize("mode", [Mode.NGRAM, Mode.SUFFIX, Mode.DRAFT, Mode.AUTO])
def test_greedy_answers_are_the_same_in_every_mode(seeing: Asked, mode: Mode) -> None:
    """Over several turns, with pictures at the start, in the middle, and two."""
    first = asked(ONE, "what is ab ab ab")
    plain = seeing.answer(first)
    fast = seeing.answer(first, mode=mode)
    assert fast.token_ids == plain.token_ids
    assert fast.stats.mode is mode
    then = Message("assistant", "ab ab a"), asked("and ab ", TWO, " ab ab ab ?")
    assert seeing.ids(first, *then, mode=mode) == seeing.ids(first, *then)
    assert seeing.ids(first, mode=mode) == plain.token_ids, "asked again"


def test_a_seed_gives_one_answer_in_every_mode(seeing: Asked) -> None:
    message, sampling = asked("ab ", ONE, " ab ab ", TWO, "c"), SamplingParams(temperature=0.8, seed=7)
    plain = seeing.ids(message, sampling=sampling)
    for mode in (Mode.SUFFIX, Mode.DRAFT, Mode.AUTO):
        assert seeing.ids(message, mode=mode, sampling=sampling) == plain
    assert seeing.answer(message, mode=Mode.DRAFT, sampling=SamplingParams(temperature=0.8)).stats.tokens == 24


def test_a_second_turn_encodes_nothing_and_decodes_only_what_is_new(seeing: Asked) -> None:
    encoder = seeing.session._vision._encoder
    assert encoder is not None
    question = asked("abc ", picture(40), " ab?")
    first = seeing.answer(question)
    done, places = encoder.num_encoded, sum(one < 0 for one in encoder.ids_of(picture(40)))
    assert first.stats.prompt_tokens > places
    second = seeing.answer(question, Message("assistant", "ab"), Message("user", "and then?"))
    assert encoder.num_encoded == done
    assert second.stats.prompt_cached_tokens >= places


def test_edits_before_behind_and_of_the_picture(seeing: Asked) -> None:
    versions = [
        (asked("abc ", ONE, " one"),),
        (asked("abc ", ONE, " two"),),
        (asked("abd ", ONE, " two"),),
        (asked("abd ", picture(50), " two"),),
        (asked("abd ", " two"),),
        (asked("abd ", ONE, ONE, " two"),),
        (asked(ONE, "abd ", ONE, " two"),),
    ]
    target = seeing.session._loaded().sequence
    fresh = []
    for version in versions:
        target.clear()
        fresh.append(seeing.ids(*version))
    assert [seeing.ids(*version) for version in versions] == fresh
    assert [seeing.ids(*version, mode=Mode.SUFFIX) for version in reversed(versions)] == fresh[::-1]


def test_progress_counts_the_places_and_a_stop_comes_between_chunks(seeing: Asked) -> None:
    seeing.session._loaded().sequence.clear()
    seen = list[int]()
    request = ChatRequest((asked("ab " * 60, ONE, TWO, " ab"),), sampling=GREEDY, max_tokens=4)
    for event in seeing.session.generate(request, lambda: len(seen) >= 2):
        if isinstance(event, PrefillProgress):
            seen.append(event.done)
    assert len(seen) == 2
    assert seeing.session._loaded().sequence.num_past == seen[-1]
    assert seeing.ids(*request.messages) == seeing.ids(*request.messages)


def test_penalties_over_pictures_are_of_tokens_only(seeing: Asked) -> None:
    """An embedding's id must not be used as an index from the end of the row."""
    sampling = SamplingParams(temperature=0.0, repeat_penalty=1.3, presence_penalty=0.4)
    message = asked("ab ", ONE, "c")
    assert seeing.ids(message, sampling=sampling) == seeing.ids(message, sampling=sampling, mode=Mode.SUFFIX)


def test_a_template_that_writes_no_words_of_its_own_place_is_told(tmp_path: Path) -> None:
    """A picture must not be lost silently."""
    template = "{% for m in messages %}{{ m.content | replace('0', '') }}{% endfor %}x"
    pair = write_pair(tmp_path, "llava", template=template)
    session = Session()
    session.load(LoadRequest(str(pair.model), gpu_layers=0, threads=1, mmproj=str(pair.side)))
    with pytest.raises(TemplateError):
        Asked(session).answer(asked("ab ", ONE, " ab"))
    session.close()


def test_a_model_without_a_side_file_refuses_pictures_in_one_sentence(tmp_path: Path) -> None:
    pair = write_pair(tmp_path, "llava")
    session = Session()
    assert not session.load(LoadRequest(str(pair.model), gpu_layers=0, threads=1)).target.has_vision
    with pytest.raises(PictureError, match="cannot see pictures"):
        Asked(session).answer(asked("ab ", ONE, " ab"))
    assert Asked(session).ids(asked("ab"))
    session.close()


def test_a_picture_at_the_end_is_refused_without_a_template(tmp_path: Path) -> None:
    """The row after the last embedding is not requested."""
    pair = write_pair(tmp_path, "llava")
    session = Session()
    session.load(LoadRequest(str(pair.model), gpu_layers=0, threads=1, mmproj=str(pair.side)))
    with pytest.raises(PromptError, match="Nothing follows"):
        Asked(session).answer(asked("ab ", ONE), continues_text=True)
    assert Asked(session).ids(asked("ab ", ONE, "c"), continues_text=True)
    session.close()


@pytest.mark.parametrize(
    ("make", "family"),
    [(tiny_lfm2, "llava"), (tiny_qwen35, "qwen2vl"), (qwen35_with_mtp, "qwen2vl"), (tiny_hy_v3, "llava")],
    ids=["LFM2", "Qwen3.5", "Qwen3.5 with heads", "a cache with heads"],
)
def test_memories_that_are_states_and_targets_with_heads(
    tmp_path: Path, make: Callable[[], GgufFile], family: str
) -> None:
    target = longer(make).write(tmp_path / "target.gguf")
    side = side_file(family).write(tmp_path / "mmproj.gguf")
    session = Session()
    ready = session.load(LoadRequest(str(target), gpu_layers=0, threads=1, mmproj=str(side)))
    assert ready.target.has_vision, ready.notices
    ask, first = Asked(session), asked("ab ", ONE, " ab ab")
    chats = [(first,), (first, Message("assistant", "ab"), asked("c ", TWO, " ab?")), (asked("ax ", ONE, " ab ab"),)]
    for mode in (Mode.NGRAM, Mode.SUFFIX, Mode.HEAD, Mode.AUTO):
        for chat in chats:
            session._loaded().sequence.clear()
            plain = ask.ids(*chat)
            found = ask.answer(*chat, mode=mode)
            assert found.token_ids == plain
            if mode is Mode.HEAD and ready.own_head is not None:
                assert found.stats.mode is Mode.HEAD
                assert found.stats.proposed > 0
                assert not any("left out" in one for one in found.stats.decisions)
    if ready.own_head is not None:
        assert ask.answer(asked("hello ab ab"), mode=Mode.HEAD).stats.proposed > 0
    session.close()


@pytest.mark.parametrize("kind", ["mtp that agrees", "eagle3", "eagle3 with its own tokens", "mtp file"])
def test_heads_draft_behind_pictures_over_several_turns(tmp_path: Path, kind: str) -> None:
    """The same answers as plain; a head that agrees with its target also does so after pictures."""
    make, head = KINDS[kind]
    files = [longer(make).write(tmp_path / "target.gguf")]
    files += [head().write(tmp_path / "head.gguf")] if head is not None else []
    side = side_file("llava" if "eagle3" in kind else "qwen2vl").write(tmp_path / "mmproj.gguf")
    session = Session()
    draft = str(files[1]) if head is not None else None
    ready = session.load(LoadRequest(str(files[0]), draft, gpu_layers=0, threads=1, mmproj=str(side)))
    assert ready.target.has_vision, ready.notices
    ask, first = Asked(session), asked("ab ", ONE, " ab ab")
    turns = (first, Message("assistant", "ab ab"), asked("c ", TWO, " ab ", ONE, "?"))
    later = (*turns, Message("assistant", "a"), Message("user", "and then?"))
    proposed, accepted = 0, 0
    for chat in ((first,), turns, later, (asked("ax ", ONE, " ab ab"),), later):
        found = ask.answer(*chat, mode=Mode.HEAD)
        assert found.stats.mode is Mode.HEAD
        assert not any("left out" in one for one in found.stats.decisions)
        proposed, accepted = proposed + found.stats.proposed, accepted + found.stats.accepted
        assert found.token_ids == ask.ids(*chat)
    assert proposed > 50
    if kind == "mtp that agrees":
        assert accepted > 0.4 * proposed
    if kind == "eagle3":  # its inputs are read again, the pictures before them are not
        ids = session.prompt_ids(ChatRequest(later))
        again = ask.answer(*later, mode=Mode.HEAD).stats.prompt_cached_tokens
        assert again > max(place for place, one in enumerate(ids) if one < 0)
    session.close()


def test_a_pass_over_a_picture_can_be_ended_in_the_middle(seeing: Asked) -> None:
    session = seeing.session
    message, sequence = asked("ab ", ONE, " ab"), session._loaded().sequence
    expected = seeing.ids(message)
    sequence.clear()
    ids = np.asarray(session.prompts.ids_of_request(ChatRequest((message,))), dtype=np.int32)
    begin = int(np.flatnonzero(ids < 0)[0])
    for _ in sequence.prefill(ids[:begin]):
        pass
    with session.interrupt.attached_to(session._contexts()):
        session.interrupt.set()
        with pytest.raises(DecodeError):
            list(sequence.prefill(ids[begin:-1]))
        session.interrupt.clear()
    assert sequence.num_past == session._loaded().context.num_past == begin
    assert seeing.ids(message) == expected
