"""Tests the session on real models: the same tokens in every mode, cache reuse, rejections, recovery."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.core.paths import builtin_draft, builtin_target
from engine.errors import (
    DecodeError,
    DraftRefusedError,
    EngineError,
    ModelNotFoundError,
    ModeUnavailableError,
    PromptError,
    PromptTooLongError,
    TemplateError,
)
from engine.llama.model import LlamaModel
from engine.records import (
    ChatRequest,
    Event,
    Finished,
    FinishReason,
    LoadRequest,
    Message,
    Mode,
    PrefillProgress,
    SamplingParams,
    Source,
    StatsUpdate,
    TextChunk,
)
from engine.session.session import Session
from tests.engine.gguf_factory import Kind, tiny_llama
from tests.long_form import rounds
from tests.shared_files import shared_model

GREEDY = SamplingParams(temperature=0.0)
DRAFTING = set(Mode) - {Mode.OFF, Mode.HEAD}  # without a head, that mode answers plainly at any depth


@pytest.fixture(scope="module")
def pair() -> Session:
    session = Session()
    session.load(LoadRequest(shared_model("babyllama-tok105-f16.gguf"), shared_model("babyllamaB-tok105-f16.gguf")))
    return session


def _eog_ids(session: Session) -> frozenset[int]:
    with LlamaModel(session.ready().target.path, vocab_only=True) as model:
        return model.vocab.eog_ids


def request(
    mode: Mode,
    prompt: str = "Once upon a time",
    *,
    depth: int | None = None,
    sampling: SamplingParams = GREEDY,
    max_tokens: int = 96,
    stop: tuple[str, ...] = (),
) -> ChatRequest:
    return ChatRequest(
        raw_prompt=prompt,
        mode=mode,
        depth=depth,
        sampling=sampling,
        max_tokens=max_tokens,
        stop=stop,
        request_id=7,
    )


def finished(events: list[Event]) -> Finished:
    last = events[-1]
    assert isinstance(last, Finished)
    assert sum(isinstance(event, Finished) for event in events) == 1
    return last


def text(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextChunk))


def test_every_mode_gives_the_same_greedy_tokens(pair: Session) -> None:
    ids = {
        (mode, depth): finished(list(pair.generate(request(mode, depth=depth)))).token_ids
        for mode in Mode
        for depth in ((None, 1, 3, 7) if mode in DRAFTING else (None,))
    }
    assert len(set(ids.values())) == 1
    assert len(ids[Mode.OFF, None]) == 96


def test_the_draft_pays_off_in_tokens_per_pass(pair: Session) -> None:
    stats = finished(list(pair.generate(request(Mode.DRAFT, depth=3)))).stats
    assert stats.tokens_per_pass is not None
    assert stats.tokens_per_pass > 2.5
    assert sum(stats.provenance.values()) == stats.tokens == 96
    assert stats.accepted + stats.rolled_back == stats.proposed
    assert stats.provenance[Source.DRAFT] <= stats.accepted


CHAINS = {
    "plain": SamplingParams(temperature=0.7, top_k=0, top_p=1.0, min_p=0.0),
    "usual": SamplingParams(temperature=1.0),
    "penalties": SamplingParams(temperature=1.2, repeat_penalty=1.3, presence_penalty=0.4),
}


@pytest.mark.parametrize("chain", CHAINS)
def test_a_seed_gives_one_answer_in_every_mode_and_depth(pair: Session, chain: str) -> None:
    def answer(mode: Mode, depth: int | None, seed: int) -> tuple[int, ...]:
        sampling, length = replace(CHAINS[chain], seed=seed), rounds(64, 96)
        asked = request(mode, depth=depth, sampling=sampling, max_tokens=length)
        return finished(list(pair.generate(asked))).token_ids

    seeds = range(rounds(2, 3))
    plain = [answer(Mode.OFF, None, seed) for seed in seeds]
    assert len(set(plain)) == len(seeds)
    for mode in Mode:
        for depth in (None, 1, 3, 6) if mode in DRAFTING else (None,):
            assert [answer(mode, depth, seed) for seed in seeds] == plain


def test_the_cache_is_kept_between_turns(pair: Session) -> None:
    first = list(pair.generate(request(Mode.OFF, "The cat sat on the mat and", max_tokens=20)))
    longer = "The cat sat on the mat and" + text(first) + " Then"
    stats = finished(list(pair.generate(request(Mode.OFF, longer, max_tokens=5)))).stats
    assert stats.prompt_cached_tokens >= finished(first).stats.prompt_tokens
    again = finished(list(pair.generate(request(Mode.OFF, longer, max_tokens=5)))).stats
    assert again.prompt_cached_tokens == again.prompt_tokens - 1


def test_what_the_cache_keeps_does_not_change_the_answer(pair: Session) -> None:
    alone = finished(list(pair.generate(request(Mode.OFF, "Tom and his dog")))).token_ids
    list(pair.generate(request(Mode.DRAFT, "Tom and his cat went")))
    assert finished(list(pair.generate(request(Mode.OFF, "Tom and his dog")))).token_ids == alone


def test_spans_add_up_to_the_text_and_count_every_token(pair: Session) -> None:
    events = list(pair.generate(request(Mode.DRAFT)))
    chunks = [event for event in events if isinstance(event, TextChunk)]
    assert all(sum(span.num_chars for span in chunk.spans) == len(chunk.text) for chunk in chunks)
    assert sum(len(chunk.spans) for chunk in chunks) == 96
    assert any(isinstance(event, StatsUpdate) for event in events)


def test_a_stop_string_ends_the_answer_and_is_not_shown(pair: Session) -> None:
    whole = text(list(pair.generate(request(Mode.OFF))))
    word = whole[30:36]
    for mode in Mode:
        events = list(pair.generate(request(mode, stop=(word,))))
        assert finished(events).reason is FinishReason.STOP
        assert text(events) == whole[: whole.index(word)]
        assert finished(events).stats.tokens == len(finished(events).token_ids)


@pytest.mark.parametrize("mode", [Mode.OFF, Mode.NGRAM, Mode.DRAFT])
def test_an_answer_may_have_to_have_so_many_tokens(pair: Session, mode: Mode) -> None:
    bias = tuple((one, 100.0) for one in sorted(_eog_ids(pair)))  # the answer would end at once
    ends_at_once = request(mode, sampling=replace(GREEDY, logit_bias=bias), max_tokens=30)
    *_, at_once = pair.generate(ends_at_once)
    *_, later = pair.generate(replace(ends_at_once, min_tokens=7))
    *_, never = pair.generate(replace(ends_at_once, min_tokens=7, ignore_eos=True))
    assert isinstance(at_once, Finished)
    assert isinstance(later, Finished)
    assert isinstance(never, Finished)
    assert [(len(one.token_ids), one.reason) for one in (at_once, later, never)] == [
        (1, FinishReason.END), (8, FinishReason.END), (30, FinishReason.LENGTH),
    ]  # fmt: skip
    *_, plain = pair.generate(request(mode, max_tokens=7))
    assert isinstance(plain, Finished)
    assert later.token_ids[:7] == plain.token_ids


def test_a_stop_request_ends_it_between_passes(pair: Session) -> None:
    events: list[Event] = []
    for event in pair.generate(request(Mode.DRAFT), lambda: any(isinstance(one, TextChunk) for one in events)):
        events.append(event)
    assert finished(events).reason is FinishReason.CANCELLED
    assert 0 < finished(events).stats.tokens < 96


def test_a_full_context_ends_the_answer(pair: Session) -> None:
    for mode in Mode:
        end = finished(list(pair.generate(ChatRequest(raw_prompt="Once", mode=mode, sampling=GREEDY, ignore_eos=True))))
        assert end.reason is FinishReason.CONTEXT
        assert end.stats.prompt_tokens + end.stats.tokens == end.stats.context_size + 1


def test_a_too_long_prompt_is_one_sentence_and_the_session_goes_on(pair: Session) -> None:
    with pytest.raises(PromptTooLongError, match="context holds 256"):
        list(pair.generate(request(Mode.OFF, "long " * 400)))
    assert finished(list(pair.generate(request(Mode.OFF)))).stats.tokens == 96


def test_a_long_prompt_tells_its_progress(pair: Session) -> None:
    list(pair.generate(request(Mode.OFF, "x")))
    events = list(pair.generate(request(Mode.OFF, "the dog ran to the park and " * 7, max_tokens=2)))
    progress = [event for event in events if isinstance(event, PrefillProgress)]
    assert progress[0].done == finished(events).stats.prompt_cached_tokens, (
        "that it begins is told before its first chunk is read"
    )
    assert progress[-1].done == progress[-1].total - 1


def test_unspellable_characters_do_not_end_the_process(pair: Session) -> None:
    assert finished(list(pair.generate(request(Mode.OFF, "Snow ❄ and {fire}", max_tokens=4)))).stats.tokens == 4


def test_a_draft_whose_template_lacks_a_control_token_is_refused(tmp_path: Path) -> None:
    mute = tiny_llama().with_metadata(tokenizer__chat_template=(Kind.STRING, "{{ messages[-1].content }}"))
    session = Session()
    ready = session.load(LoadRequest(str(builtin_target()), str(mute.write(tmp_path / "mute.gguf")), n_ctx=512))
    assert ready.draft is None
    assert "the control token '" in ready.notices[0]
    assert "the control token '" in ready.unavailable[Mode.DRAFT]
    end = finished(list(session.generate(request(Mode.DRAFT, max_tokens=5))))
    assert end.stats.mode is Mode.OFF
    assert any("the control token '" in reason for reason in end.stats.decisions)
    session.close()


def test_a_broken_chat_template_is_reported_and_text_works(tmp_path: Path) -> None:
    broken = tiny_llama().with_metadata(tokenizer__chat_template=(Kind.STRING, "{% for m in messages %}"))
    session = Session()
    ready = session.load(LoadRequest(str(broken.write(tmp_path / "broken.gguf")), n_ctx=256))
    assert "The model's chat template failed: Unexpected end of template" in ready.notices[0]
    with pytest.raises(TemplateError, match="template failed"):
        list(session.generate(ChatRequest((Message("user", "Hello"),), max_tokens=3)))
    assert finished(list(session.generate(request(Mode.OFF, max_tokens=3)))).stats.tokens == 3
    session.close()


def test_a_draft_on_a_missing_device_leaves_the_target_alone() -> None:
    session = Session()
    ready = session.load(LoadRequest(str(builtin_target()), str(builtin_draft()), n_ctx=512, draft_devices=("CUDA7",)))
    assert ready.draft is None
    assert "CUDA7" in ready.unavailable[Mode.DRAFT]
    assert any(ready.unavailable[Mode.DRAFT] in notice for notice in ready.notices)
    assert finished(list(session.generate(request(Mode.DRAFT, max_tokens=3)))).stats.tokens == 3
    session.close()


def test_a_memory_without_any_rollback_runs_plain_and_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("engine.llama.context.LlamaContext.save", lambda _context: False)
    session = Session()
    ready = session.load(LoadRequest(shared_model("tiny-rwkv7-834K-f32.gguf"), n_ctx=256))
    assert "return to an earlier state" in ready.unavailable[Mode.NGRAM]
    end = finished(list(session.generate(request(Mode.NGRAM, max_tokens=12))))
    assert (end.stats.mode, end.stats.tokens) == (Mode.OFF, 12)
    assert any("return to an earlier state" in reason for reason in end.stats.decisions)
    again = finished(list(session.generate(request(Mode.OFF, max_tokens=12))))
    assert again.token_ids == end.token_ids
    with pytest.raises(DraftRefusedError, match=r"The memory of .* \(rwkv7\) can neither"):
        session.set_draft(shared_model("tiny-rwkv7-834K-f32.gguf"))
    session.close()


def test_a_failed_load_leaves_the_previous_model_usable(pair: Session, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(Path(shared_model("stories260K-f16.gguf")).read_bytes()[:200_000])
    with pytest.raises(EngineError, match=r"broken\.gguf"):
        pair.load(LoadRequest(str(broken)))
    with pytest.raises(ModelNotFoundError, match="cannot be read"):
        pair.load(LoadRequest(str(tmp_path / "absent.gguf")))
    assert finished(list(pair.generate(request(Mode.DRAFT)))).stats.tokens == 96


def test_drafts_are_switched_without_touching_the_target(pair: Session) -> None:
    list(pair.generate(request(Mode.OFF)))
    assert Mode.DRAFT in pair.set_draft(None).unavailable
    assert pair.set_draft(shared_model("babyllamaB-tok105-f16.gguf")).unavailable.keys() == {Mode.HEAD}
    stats = finished(list(pair.generate(request(Mode.DRAFT)))).stats
    assert stats.prompt_cached_tokens == stats.prompt_tokens - 1


def test_without_a_model_it_says_so() -> None:
    hello = ChatRequest(messages=(Message("user", "hi"),))
    session = Session()
    for ask in (lambda: list(session.generate(hello)), lambda: session.prompt_ids(hello), session.ready):
        with pytest.raises(ModeUnavailableError, match="No model"):
            ask()
    assert not session.is_loaded
    assert session.count_tokens("hi") is None
    assert not session.has_idle_work
    assert not session.needs_measuring


def test_what_was_unloaded_may_be_loaded_again() -> None:
    session = Session()
    asked = LoadRequest(shared_model("babyllama-tok105-f16.gguf"), shared_model("babyllamaB-tok105-f16.gguf"))
    answers = []
    for _ in range(2):
        session.load(asked)
        assert session.is_loaded
        assert session.count_tokens("Once upon a time") == 17  # its letters, after a space
        answers.append(finished(list(session.generate(request(Mode.DRAFT)))).token_ids)
        session.unload()
        assert not session.is_loaded
        with pytest.raises(ModeUnavailableError):
            session.ready()
    assert answers[0] == answers[1]


def test_a_failing_pass_leaves_the_session_usable(pair: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise DecodeError("The pass failed.")

    with monkeypatch.context() as patch:
        patch.setattr("engine.decoding.loop.Speculation.step", fail)
        with pytest.raises(DecodeError):
            list(pair.generate(request(Mode.DRAFT)))
    assert finished(list(pair.generate(request(Mode.DRAFT)))).stats.tokens == 96


@pytest.mark.parametrize("is_stopped", [False, True])
def test_a_prompt_that_cannot_be_read_is_an_error_unless_that_was_the_stop(
    pair: Session, monkeypatch: pytest.MonkeyPatch, is_stopped: bool
) -> None:
    """A stop may abort a pass in the middle."""
    failed: list[bool] = []

    def fail(*_: object) -> None:
        failed.append(True)
        raise DecodeError("The pass failed.")

    list(pair.generate(request(Mode.OFF, "x", max_tokens=1)))
    asked = request(Mode.OFF, "A prompt that was never read before, and takes some passes")
    with monkeypatch.context() as patch:
        patch.setattr("engine.llama.context.LlamaContext._decode", fail)
        answer = pair.generate(asked, lambda: is_stopped and bool(failed))
        if is_stopped:
            assert finished(list(answer)).reason is FinishReason.CANCELLED
        else:
            with pytest.raises(DecodeError):
                list(answer)
    assert failed
    assert finished(list(pair.generate(asked))).stats.tokens == 96


def test_no_words_are_no_prompt(tmp_path: Path) -> None:
    file = tiny_llama().with_metadata(tokenizer__ggml__add_bos_token=(Kind.BOOL, False))
    session = Session()
    session.load(LoadRequest(str(file.write(tmp_path / "without.gguf")), n_ctx=256))
    with pytest.raises(PromptError, match="prompt is empty"):
        list(session.generate(request(Mode.OFF, "")))
    assert finished(list(session.generate(request(Mode.OFF, "a", max_tokens=2)))).stats.tokens == 2
    session.close()


def test_texts_become_tokens_and_text_again(pair: Session) -> None:
    ids = pair.prompts.tokens_of("The cat sat.", False, True)
    assert pair.count_tokens("The cat sat.") in (len(ids), len(ids) - 1)
    assert b"The cat sat." in b"".join(pair.prompts.bytes_of(ids))
    request = ChatRequest(messages=(Message("user", "Hello"),))
    assert "Hello" in pair.prompts.text_of(request)
    assert len(pair.prompts.tokens_of(pair.prompts.text_of(request), True, True)) == len(pair.prompt_ids(request))


def test_a_prompt_may_be_tokens_and_an_answer_may_have_none(pair: Session) -> None:
    text = ChatRequest(raw_prompt="The cat sat on", max_tokens=8, sampling=SamplingParams(temperature=0.0))
    ids = tuple(pair.prompt_ids(text))
    tokens = replace(text, raw_prompt="", raw_ids=ids)
    assert pair.prompt_ids(tokens) == list(ids)
    answers = [
        next(one for one in pair.generate(asked) if isinstance(one, Finished)).token_ids for asked in (text, tokens)
    ]
    assert len(answers[0]) > 0
    assert answers[0] == answers[1]
    *events, last = pair.generate(replace(text, max_tokens=0))
    assert isinstance(last, Finished)
    assert (last.token_ids, last.reason, last.stats.prompt_tokens) == ((), FinishReason.LENGTH, len(ids))
    assert not any(isinstance(event, TextChunk) for event in events)
