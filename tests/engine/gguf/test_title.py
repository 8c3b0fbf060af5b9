"""Tests readable names from headers that are right, wrong, empty or hostile."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.gguf.title import MAX_CHARS, model_title

M, B = 10**6, 10**9


def titled(name: str = "", stem: str = "model", params: int = 0, **more: str) -> str:
    metadata: dict[str, object] = {f"general.{key}": value for key, value in more.items()}
    return model_title({**metadata, "general.name": name}, stem, params)


@pytest.mark.parametrize(
    ("name", "stem", "params", "parts", "title"),
    [
        # as in real files
        (
            "Qwen2.5 Coder 0.5B Instruct AWQ", "qwen2.5-coder-0.5b-instruct-q4_k_m", 630 * M,
            {"basename": "Qwen2.5-Coder", "size_label": "0.5B", "finetune": "Instruct-AWQ"},
            "Qwen2.5 Coder 0.5B Instruct",
        ),
        (
            "Qwen2.5 Coder 1.5B Instruct GGUF", "qwen2.5-coder-1.5b-instruct-q4_k_m", 1777 * M, {},
            "Qwen2.5 Coder 1.5B Instruct",
        ),
        (
            "Smollm2 135M 8k Lc100K Mix1 Ep2", "smollm2-135m-instruct-q4_1", 134 * M,
            {"basename": "smollm2", "size_label": "135M", "finetune": "8k-lc100k-mix1-ep2"},
            "SmolLM2 135M Instruct",
        ),
        ("Gemma 3 270m", "gemma-3-270m-q4_k_m", 268 * M, {}, "Gemma 3 270M"),
        ("Paceline tiny target", "big", 400 * M, {}, "Paceline tiny target"),
        # the header is right, the file name meaningless
        ("Meta Llama 3.1 8B Instruct", "big", 8 * B, {}, "Meta Llama 3.1 8B Instruct"),
        ("Qwen3-30B-A3B-Instruct-2507", "download (1)", 30 * B, {}, "Qwen3 30B A3B Instruct 2507"),
        ("Mixtral 8x7B v0.1", "x", 47 * B, {}, "Mixtral 8x7B v0.1"),
        # the header is meaningless, the file name right
        ("hf", "Llama-3.2-1B-Instruct-Q4_K_M", 1236 * M, {}, "Llama 3.2 1B Instruct"),
        ("", "phi-4-mini-instruct-q8_0", 4 * B, {}, "Phi 4 mini Instruct"),
        ("models", "tinyllama-1.1b-chat-v1.0.Q4_0", 1100 * M, {}, "TinyLlama 1.1B Chat v1.0"),
        ("9217f5db79a29953eb74d5343926648285ec7e67", "gemma-2-2b-it-Q6_K", 2614 * M, {}, "Gemma 2 2B Instruct"),
        ("/workspace/out/My-Tune-7B", "x", 7 * B, {}, "My Tune 7B"),
        # the header names another model
        ("Llama 3.1 70B", "Llama-3.1-8B-Instruct-Q4_K_M", 8 * B, {}, "Llama 3.1 8B Instruct"),
        ("Big 70B", "x", 8 * B, {"basename": "Granite", "size_label": "8B"}, "Granite 8B"),
        # from the header's parts
        ("", "x", 7 * B, {"basename": "Qwen2.5", "size_label": "7B", "finetune": "Instruct"}, "Qwen2.5 7B Instruct"),
        # nothing known
        ("", "model", 0, {}, "model"),
        ("", "…", 0, {}, "…"),
        ("", "", 0, {}, "?"),
    ],
)  # fmt: skip
def test_the_name_is_the_models(name: str, stem: str, params: int, parts: dict[str, str], title: str) -> None:
    assert titled(name, stem, params, **parts) == title


def test_the_file_of_another_model_says_nothing_of_this_one() -> None:
    assert titled("Qwen2.5 7B", "llama-3-8b-instruct", 7 * B) == "Qwen2.5 7B"


@pytest.mark.parametrize("name", ["A\u202egnp.exe 7B", "A\nB 7B", "Tab\there 7B", "Zero\u200bwidth 7B", "Bell\x07 7B"])
def test_nothing_that_changes_how_text_is_shown_comes_through(name: str) -> None:
    found = titled(name, "x", 7 * B)
    assert found.isprintable()


@given(name=st.text(max_size=200), stem=st.text(max_size=80), params=st.integers(0, 10**12), base=st.text(max_size=40))
def test_there_is_always_a_line_to_show(name: str, stem: str, params: int, base: str) -> None:
    found = titled(name, stem, params, basename=base)
    assert 0 < len(found) <= MAX_CHARS
    assert found.isprintable()
    assert found == found.strip()


@given(value=st.one_of(st.none(), st.integers(), st.binary(), st.lists(st.text())))
def test_what_is_no_text_is_no_name(value: object) -> None:
    assert model_title({"general.name": value}, "phi-4-q8_0", 0) == "Phi 4"
