"""Tests readable names from files and headers that are right, wrong, empty or hostile."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.gguf.title import MAX_CHARS, model_title


@pytest.mark.parametrize(
    ("name", "stem", "title"),
    [
        ("Qwen2.5 Coder 0.5B Instruct AWQ", "qwen2.5-coder-0.5b-instruct-q4_k_m", "Qwen2.5 Coder 0.5B Instruct"),
        ("Smollm2 135M 8k Lc100K Mix1 Ep2", "smollm2-135m-instruct-q4_1", "SmolLM2 135M Instruct"),
        ("hf", "Llama-3.2-1B-Instruct-Q4_K_M-00001-of-00002", "Llama 3.2 1B Instruct"),
        ("", "phi-4-mini-instruct-q8_0", "Phi 4 mini Instruct"),
        ("models", "tinyllama-1.1b-chat-v1.0.Q4_0", "TinyLlama 1.1B Chat v1.0"),
        ("9217f5db79a29953eb74d5343926648285ec7e67", "gemma-2-2b-it-Q6_K", "Gemma 2 2B Instruct"),
        ("Llama 3.1 70B", "Qwen3-30B-A3B-Instruct-2507-UD-IQ4_XS", "Qwen3 30B A3B Instruct 2507"),
        ("", "qwen2.5:0.5b", "Qwen2.5 0.5B"),
        # the file's name is meaningless
        ("Paceline tiny target", "big", "Paceline tiny target"),
        ("Meta Llama 3.1 8B Instruct", "ggml-model-f16", "Meta Llama 3.1 8B Instruct"),
        ("Mixtral 8x7B v0.1", "sha256-9217f5db79a29953eb74d5343926648285ec7e67", "Mixtral 8x7B v0.1"),
        ("/workspace/out/My-Tune-7B", "x", "My Tune 7B"),
        # nothing known
        ("", "model", "model"),
        ("", "", "?"),
    ],
)
def test_the_name_is_the_models(name: str, stem: str, title: str) -> None:
    assert model_title(name, stem) == title


@pytest.mark.parametrize("name", ["A\u202egnp.exe 7B", "A\nB 7B", "Tab\there 7B", "Zero\u200bwidth 7B", "Bell\x07 7B"])
def test_nothing_that_changes_how_text_is_shown_comes_through(name: str) -> None:
    assert model_title(name, "x").isprintable()


@given(name=st.one_of(st.text(max_size=200), st.none(), st.binary()), stem=st.text(max_size=80))
def test_there_is_always_a_line_to_show(name: object, stem: str) -> None:
    found = model_title(name, stem)
    assert 0 < len(found) <= MAX_CHARS
    assert found.isprintable()
    assert found == found.strip()
