"""What the engine is asked, from settings and stored messages."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.controllers.load_requests import load_request
from app.domain.messages import MessageState, MessageView
from app.domain.requests import chat_request, prompt_messages
from app.domain.settings.fields import SettingValue
from app.domain.settings.values import Settings
from app.paths import builtin_draft, builtin_target, find_paths
from engine.records import CacheType, FlashAttention, LoadRequest, Message, Mode, Placement, SplitMode


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


def test_the_settings_reach_the_request() -> None:
    settings, complaints = Settings().changed(
        {"temperature": 0, "top_k": 7, "top_p": 0.5, "min_p": 0.1, "seed": 3, "max_tokens": 20, "repeat_penalty": 1.2,
         "frequency_penalty": 0.5, "presence_penalty": -0.5}
    )  # fmt: skip
    assert complaints == ()
    request = chat_request(settings, views(("user", "a")), Mode.NGRAM, 4, 11)
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
    paths = find_paths({"PACELINE_HOME": str(tmp_path)})
    settings = Settings().changed({"target_path": target, "draft_path": draft, "n_ctx": 512, "threads": 2})[0]
    wanted = (str(expected[0]), None if expected[1] is None else str(expected[1]))
    assert load_request(settings, paths) == LoadRequest(*wanted, n_ctx=512, threads=2, gpu_layers=None, mmproj="")


def test_answers_at_once_reach_the_load_request(tmp_path: Path) -> None:
    paths = find_paths({"PACELINE_HOME": str(tmp_path)})
    asked = load_request(Settings().changed({"parallel": 3, "shared_context": True})[0], paths)
    assert (asked.parallel, asked.shared_context) == (3, True)


def test_the_padded_target_gets_the_builtin_draft(tmp_path: Path) -> None:
    paths = find_paths({"PACELINE_HOME": str(tmp_path)})
    settings = Settings().changed({"target_path": str(paths.padded_demo_file)})[0]
    assert load_request(settings, paths).draft == str(builtin_draft())


def test_the_placement_reaches_the_load_request(tmp_path: Path) -> None:
    changes: dict[str, SettingValue] = {
        "cache_type": "q8_0", "flash_attention": "off", "draft_threads": 2, "draft_gpu_layers": 0,
        "draft_cache_type": "q4_0",
    }  # fmt: skip
    asked = load_request(Settings().changed(changes)[0], find_paths({"PACELINE_HOME": str(tmp_path)}))
    assert (asked.cache_type, asked.flash_attention) == (CacheType.Q8_0, FlashAttention.OFF)
    assert (asked.draft_threads, asked.draft_gpu_layers, asked.draft_cache_type) == (2, 0, CacheType.Q4_0)


def test_devices_reach_the_load_request(tmp_path: Path) -> None:
    changes: dict[str, SettingValue] = {
        "device": "CUDA1, rpc:10.0.0.2:50052", "draft_device": "CUDA0", "split_mode": "none", "main_device": 1,
        "tensor_split": "3/1", "cpu_moe_layers": 4, "tensor_overrides": "ffn_up=CPU",
    }  # fmt: skip
    paths = find_paths({"PACELINE_HOME": str(tmp_path)})
    asked = load_request(Settings().changed(changes)[0], paths)
    assert asked.draft_devices == ("CUDA0",)
    assert asked.placement == Placement(
        ("CUDA1", "rpc:10.0.0.2:50052"), SplitMode.NONE, 1, (3.0, 1.0), 4, (("ffn_up", "CPU"),)
    )
    plain = load_request(Settings(), paths)
    assert (plain.placement, plain.draft_devices) == (Placement(), ())
