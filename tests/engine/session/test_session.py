"""Tests the session on real models: the same tokens in every mode, cache reuse, rejections, recovery."""

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
    FinishReason,
    LoadRequest,
    Message,
    Mode,
    PrefillProgress,
    SamplingParams,
    StatsUpdate,
    TextChunk,
)
from engine.session.session import Session
from tests.engine.answers import GREEDY, asked, end_of, last_of, text_of
from tests.engine.gguf_factory import Kind, tiny_llama
from tests.shared_files import shared_model

DRAFTING = set(Mode) - {Mode.OFF, Mode.HEAD}  # without a head, that mode answers plainly at any depth


@pytest.fixture(scope="module")
def pair() -> Session:
    session = Session()
    session.load(LoadRequest(shared_model("babyllama-tok105-f16.gguf"), shared_model("babyllamaB-tok105-f16.gguf")))
    return session


def _eog_ids(session: Session) -> frozenset[int]:
    with LlamaModel(session.ready().target.path, vocab_only=True) as model:
        return model.vocab.eog_ids


def request(mode: Mode = Mode.OFF, prompt: str = "Once upon a time", **fields: object) -> ChatRequest:
    """A request for up to 96 greedy tokens."""
    return asked(mode, prompt, **({"max_tokens": 96, "ignore_eos": False, "request_id": 7} | fields))


def test_every_mode_gives_the_same_greedy_tokens(pair: Session) -> None:
    ids = {
        (mode, depth): end_of(pair, request(mode, depth=depth)).token_ids
        for mode in Mode
        for depth in ((None, 1, 3, 7) if mode in DRAFTING else (None,))
    }
    assert len(set(ids.values())) == 1
    assert len(ids[Mode.OFF, None]) == 96


CHAINS = {
    "plain": SamplingParams(temperature=0.7, top_k=0, top_p=1.0, min_p=0.0),
    "usual": SamplingParams(temperature=1.0),
    "penalties": SamplingParams(temperature=1.2, repeat_penalty=1.3, presence_penalty=0.4),
}


def test_the_cache_is_kept_between_turns(pair: Session) -> None:
    first = list(pair.generate(request(Mode.OFF, "The cat sat on the mat and", max_tokens=20)))
    longer = "The cat sat on the mat and" + text_of(first) + " Then"
    stats = end_of(pair, request(Mode.OFF, longer, max_tokens=5)).stats
    assert stats.prompt_cached_tokens >= last_of(first).stats.prompt_tokens
    again = end_of(pair, request(Mode.OFF, longer, max_tokens=5)).stats
    assert again.prompt_cached_tokens == again.prompt_tokens - 1


def test_spans_add_up_to_the_text_and_count_every_token(pair: Session) -> None:
    events = list(pair.generate(request(Mode.DRAFT)))
    chunks = [event for event in events if isinstance(event, TextChunk)]
    assert all(sum(span.num_chars for span in chunk.spans) == len(chunk.text) for chunk in chunks)
    assert sum(len(chunk.spans) for chunk in chunks) == 96
    assert any(isinstance(event, StatsUpdate) for event in events)


@pytest.mark.parametrize("mode", [Mode.OFF, Mode.NGRAM, Mode.DRAFT])
def test_an_answer_may_have_to_have_so_many_tokens(pair: Session, mode: Mode) -> None:
    bias = tuple((one, 100.0) for one in sorted(_eog_ids(pair)))  # the answer would end at once
    ends_at_once = request(mode, sampling=replace(GREEDY, logit_bias=bias), max_tokens=30)
    at_once, later = end_of(pair, ends_at_once), end_of(pair, replace(ends_at_once, min_tokens=7))
    never = end_of(pair, replace(ends_at_once, min_tokens=7, ignore_eos=True))
    assert [(len(one.token_ids), one.reason) for one in (at_once, later, never)] == [
        (1, FinishReason.END), (8, FinishReason.END), (30, FinishReason.LENGTH),
    ]  # fmt: skip
    assert later.token_ids[:7] == end_of(pair, request(mode, max_tokens=7)).token_ids


def test_a_stop_request_ends_it_between_passes(pair: Session) -> None:
    events: list[Event] = []
    for event in pair.generate(request(Mode.DRAFT), lambda: any(isinstance(one, TextChunk) for one in events)):
        events.append(event)
    assert last_of(events).reason is FinishReason.CANCELLED
    assert 0 < last_of(events).stats.tokens < 96


def test_a_too_long_prompt_is_one_sentence_and_the_session_goes_on(pair: Session) -> None:
    with pytest.raises(PromptTooLongError, match="context holds 256"):
        list(pair.generate(request(Mode.OFF, "long " * 400)))
    assert end_of(pair, request(Mode.OFF)).stats.tokens == 96


def test_a_long_prompt_tells_its_progress(pair: Session) -> None:
    list(pair.generate(request(Mode.OFF, "x")))
    events = list(pair.generate(request(Mode.OFF, "the dog ran to the park and " * 7, max_tokens=2)))
    progress = [event for event in events if isinstance(event, PrefillProgress)]
    assert progress[0].done == last_of(events).stats.prompt_cached_tokens, (
        "that it begins is told before its first chunk is read"
    )
    assert progress[-1].done == progress[-1].total - 1


def test_a_draft_whose_template_lacks_a_control_token_is_refused(tmp_path: Path) -> None:
    mute = tiny_llama().with_metadata(tokenizer__chat_template=(Kind.STRING, "{{ messages[-1].content }}"))
    session = Session()
    ready = session.load(LoadRequest(str(builtin_target()), str(mute.write(tmp_path / "mute.gguf")), n_ctx=512))
    assert ready.draft is None
    assert "the control token '" in ready.notices[0]
    assert "the control token '" in ready.unavailable[Mode.DRAFT]
    end = end_of(session, request(Mode.DRAFT, max_tokens=5))
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
    assert end_of(session, request(Mode.OFF, max_tokens=3)).stats.tokens == 3
    session.close()


def test_a_draft_on_a_missing_device_leaves_the_target_alone() -> None:
    session = Session()
    ready = session.load(LoadRequest(str(builtin_target()), str(builtin_draft()), n_ctx=512, draft_devices=("CUDA7",)))
    assert ready.draft is None
    assert "CUDA7" in ready.unavailable[Mode.DRAFT]
    assert any(ready.unavailable[Mode.DRAFT] in notice for notice in ready.notices)
    assert end_of(session, request(Mode.DRAFT, max_tokens=3)).stats.tokens == 3
    session.close()


def test_a_memory_without_any_rollback_runs_plain_and_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("engine.llama.context.LlamaContext.save", lambda _context: False)
    session = Session()
    ready = session.load(LoadRequest(shared_model("tiny-rwkv7-834K-f32.gguf"), n_ctx=256))
    assert "return to an earlier state" in ready.unavailable[Mode.NGRAM]
    end = end_of(session, request(Mode.NGRAM, max_tokens=12))
    assert (end.stats.mode, end.stats.tokens) == (Mode.OFF, 12)
    assert any("return to an earlier state" in reason for reason in end.stats.decisions)
    again = end_of(session, request(Mode.OFF, max_tokens=12))
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
    assert end_of(pair, request(Mode.DRAFT)).stats.tokens == 96


def test_without_a_model_it_says_so() -> None:
    hello = ChatRequest(messages=(Message("user", "hi"),))
    session = Session()
    for ask in (lambda: list(session.generate(hello)), lambda: session.prompt_ids(hello), session.ready):
        with pytest.raises(ModeUnavailableError, match="No model"):
            ask()
    assert not session.is_loaded
    assert not session.has_idle_work
    assert not session.needs_measuring


def test_what_was_unloaded_may_be_loaded_again() -> None:
    session = Session()
    asked = LoadRequest(shared_model("babyllama-tok105-f16.gguf"), shared_model("babyllamaB-tok105-f16.gguf"))
    answers = []
    for _ in range(2):
        session.load(asked)
        assert session.is_loaded
        answers.append(end_of(session, request(Mode.DRAFT)).token_ids)
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
    assert end_of(pair, request(Mode.DRAFT)).stats.tokens == 96


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
    wanted = request(prompt="A prompt that was never read before, and takes some passes")
    with monkeypatch.context() as patch:
        patch.setattr("engine.llama.context.LlamaContext._decode", fail)
        answer = pair.generate(wanted, lambda: is_stopped and bool(failed))
        if is_stopped:
            assert last_of(list(answer)).reason is FinishReason.CANCELLED
        else:
            with pytest.raises(DecodeError):
                list(answer)
    assert failed
    assert end_of(pair, wanted).stats.tokens == 96


def test_no_words_are_no_prompt(tmp_path: Path) -> None:
    file = tiny_llama().with_metadata(tokenizer__ggml__add_bos_token=(Kind.BOOL, False))
    session = Session()
    session.load(LoadRequest(str(file.write(tmp_path / "without.gguf")), n_ctx=256))
    with pytest.raises(PromptError, match="prompt is empty"):
        list(session.generate(request(Mode.OFF, "")))
    assert end_of(session, request(Mode.OFF, "a", max_tokens=2)).stats.tokens == 2
    session.close()


def test_a_prompt_may_be_tokens_and_an_answer_may_have_none(pair: Session) -> None:
    text = request(prompt="The cat sat on", max_tokens=8)
    ids = tuple(pair.prompt_ids(text))
    tokens = replace(text, raw_prompt="", raw_ids=ids)
    assert pair.prompt_ids(tokens) == list(ids)
    assert end_of(pair, text).token_ids == end_of(pair, tokens).token_ids != ()
    events = list(pair.generate(replace(text, max_tokens=0)))
    end = last_of(events)
    assert (end.token_ids, end.reason, end.stats.prompt_tokens) == ((), FinishReason.LENGTH, len(ids))
    assert text_of(events) == ""
