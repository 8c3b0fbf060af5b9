"""Tests requests to the engine, made of settings and stored messages."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.domain.attachments import Attachment, AttachmentKind, StoredPicture
from app.core.domain.messages import MessageState, MessageView
from app.core.domain.requests import MAX_TOOL_PICTURES, chat_request, picture_sizes, prompt_messages
from app.core.domain.settings.fields import SettingValue
from app.core.domain.settings.values import Settings
from app.core.domain.tools.calls import CallStatus, StoredCall
from app.core.load_requests import load_request
from app.core.paths import builtin_draft, builtin_target
from engine.records import CacheType, FlashAttention, LoadRequest, Message, Mode, Picture, Placement, SplitMode


def views(*pairs: tuple[str, str]) -> list[MessageView]:
    return [MessageView(number, role, text) for number, (role, text) in enumerate(pairs)]


def test_a_conversation_goes_as_it_is_with_the_system_prompt_first() -> None:
    said = views(("user", "a"), ("assistant", "b"), ("user", "c"))
    assert prompt_messages("Be brief.", said) == (
        Message("system", "Be brief."), Message("user", "a"), Message("assistant", "b"), Message("user", "c"),
    )  # fmt: skip
    assert prompt_messages("  ", said[:1]) == (Message("user", "a"),)


def test_a_question_without_an_answer_is_joined_with_the_next() -> None:
    said = views(("user", "a"), ("assistant", ""), ("user", "b"))
    (joined,) = prompt_messages("", [*said, *views(("user", "c"))])
    assert prompt_messages("", said) == (Message("user", "a\n\nb"),)
    assert (joined.content, joined.questions) == ("a\n\nb\n\nc", ("a", "b", "c"))


def test_of_two_answers_the_later_counts_and_one_in_the_making_does_not() -> None:
    said = views(("user", "a"), ("assistant", "old"), ("assistant", "new"), ("user", "b"))
    said.append(MessageView(9, "assistant", "growing", MessageState.STREAMING))
    assert [message.content for message in prompt_messages("", said)] == ["a", "new", "b"]


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.sampled_from(["", "x", "y"]))))
def test_the_roles_always_take_turns_and_a_question_is_last(pairs: list[tuple[str, str]]) -> None:
    roles = [message.role for message in prompt_messages("", views(*pairs))]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"] * (len(roles) % 2)
    assert not roles or roles[-1] == "user"


def test_the_oldest_of_many_tool_pictures_are_only_named() -> None:
    def shown(num_results: int) -> list[int]:
        """The number of pictures that each result shows; each has two, and the question has four."""
        drawn = Attachment(0, "p", AttachmentKind.PICTURE, 1, picture=StoredPicture("d", 4, 3, b""))
        calls = (StoredCall(f"c{number}", "look", "x", "{}", CallStatus.DONE) for number in range(num_results))
        results = [
            MessageView(10 + i, "tool", "seen", call=one, attachments=(drawn,) * 2) for i, one in enumerate(calls)
        ]
        chat = [
            MessageView(1, "user", "Look.", attachments=(drawn,) * 4),
            MessageView(2, "assistant", "Yes."),
            *results,
        ]
        question, _, *told = prompt_messages("", chat, lambda _: Picture(1, 1, b"abc"))
        assert len(question.pictures) == 4
        assert len(picture_sizes(chat)) == 4 + sum(len(one.pictures) for one in told)
        for one in told:
            assert ("cannot see: p" in one.content) == (not one.pictures)
        return [len(one.pictures) for one in told]

    most = MAX_TOOL_PICTURES // 2
    assert shown(most) == [2] * most
    first = shown(most + 1)
    assert first == [0] * 8 + [2] * (most - 7)
    assert shown(most + 8)[: most + 1] == first
    assert shown(most + 9) == [0] * 16 + [2] * (most - 7)


def test_the_settings_reach_the_request() -> None:
    settings, complaints = Settings().changed(
        {"temperature": 0, "top_k": 7, "top_p": 0.5, "min_p": 0.1, "seed": 3, "max_tokens": 20, "depth": 4,
         "repeat_penalty": 1.2, "frequency_penalty": 0.5, "presence_penalty": -0.5}
    )  # fmt: skip
    assert complaints == ()
    request = chat_request(settings, views(("user", "a")), Mode.NGRAM, 11)
    sampling = request.sampling
    assert (request.mode, request.depth, request.max_tokens, request.request_id) == (Mode.NGRAM, 4, 20, 11)
    assert (sampling.temperature, sampling.top_k, sampling.top_p, sampling.min_p) == (0.0, 7, 0.5, 0.1)
    assert (sampling.seed, sampling.repeat_penalty) == (3, 1.2)
    assert (sampling.frequency_penalty, sampling.presence_penalty) == (0.5, -0.5)


@pytest.mark.parametrize(
    ("target", "draft", "expected"),
    [
        ("", "", (builtin_target(), builtin_draft())),
        ("own.gguf", "", ("own.gguf", None)),
        ("own.gguf", "small.gguf", ("own.gguf", "small.gguf")),
        ("", "small.gguf", (builtin_target(), "small.gguf")),
    ],
)
def test_what_is_loaded(tmp_path: Path, target: str, draft: str, expected: tuple[str, str | None]) -> None:
    settings = Settings().changed({"target_path": target, "draft_path": draft, "n_ctx": 512, "threads": 2})[0]
    wanted = (str(expected[0]), None if expected[1] is None else str(expected[1]))
    asked = LoadRequest(*wanted, n_ctx=512, threads=2, gpu_layers=None, mmproj="", parallel=0)
    assert load_request(settings) == asked


def test_answers_at_once_reach_the_load_request() -> None:
    asked = load_request(Settings().changed({"parallel": 3})[0])
    assert asked.parallel == 3


def test_the_placement_reaches_the_load_request() -> None:
    changes: dict[str, SettingValue] = {
        "cache_type": "q8_0", "flash_attention": "off", "draft_threads": 2, "draft_gpu_layers": 0,
        "draft_cache_type": "q4_0",
    }  # fmt: skip
    asked = load_request(Settings().changed(changes)[0])
    assert (asked.cache_type, asked.flash_attention) == (CacheType.Q8_0, FlashAttention.OFF)
    assert (asked.draft_threads, asked.draft_gpu_layers, asked.draft_cache_type) == (2, 0, CacheType.Q4_0)


def test_devices_reach_the_load_request() -> None:
    changes: dict[str, SettingValue] = {
        "device": "CUDA1, CUDA0", "draft_device": "CUDA0", "split_mode": "row",
        "tensor_split": "3/1", "cpu_moe_layers": 4,
    }  # fmt: skip
    asked = load_request(Settings().changed(changes)[0])
    assert asked.draft_devices == ("CUDA0",)
    assert asked.placement == Placement(("CUDA1", "CUDA0"), SplitMode.ROW, (3.0, 1.0), 4)
    plain = load_request(Settings())
    assert (plain.placement, plain.draft_devices) == (Placement(), ())
