"""Reasoning is separated from the text of an answer, complete or in chunks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.domain.thinking import TAGS, split_thinking, without_thinking
from tests.ui.markdown.documents import documents

PAIRS = [pair for pair in TAGS if pair[0] != "analysis"]


@pytest.mark.parametrize(("opening", "closing"), PAIRS)
def test_reasoning_is_found_between_its_tags(opening: str, closing: str) -> None:
    text = f"\n{opening}\nLet me see.\n{closing}\n\nIt is 4."
    split = split_thinking(text)
    assert split.opened
    assert split.closed
    assert split.reasoning(text) == "Let me see."
    assert split.answer(text) == without_thinking(text) == "It is 4."


def test_channels_of_gpt_oss_with_and_without_their_control_tokens() -> None:
    kept = "<|channel|>analysis<|message|>We add.<|end|><|start|>assistant<|channel|>final<|message|>It is 4."
    left_out = "analysisWe add.assistantfinalIt is 4."
    for text in (kept, left_out):
        split = split_thinking(text)
        assert (split.reasoning(text), split.answer(text)) == ("We add.", "It is 4.")


@pytest.mark.parametrize(
    "text",
    [
        "<|channel>thought\nPlan it.\n<channel|>The answer.",  # Gemma 4
        "Here are my reasoning steps:\nPlan it.\n[BEGIN FINAL RESPONSE]\nThe answer.\n[END FINAL RESPONSE]\n",
        "Here are my reasoning steps:\nPlan it.\n[BEGIN FINAL RESPONSE]\nThe answer.",
        "<|inner_prefix|>Plan it.<|inner_suffix|>The answer.",
        "<|think|>Plan it.<|end|><|begin|>assistant<|content|>The answer.",
        "<mm:think>Plan it.</mm:think>The answer.",
        "<think>Plan it.</think><response>The answer.</response>",
        "<think:opensource>Plan it.</think:opensource>The answer.",
        "<|START_THINKING|>Plan it.<|END_THINKING|><|START_TEXT|>The answer.<|END_TEXT|>",
        "<|open|>think<|sep|>Plan it.<|close|>think<|sep|><|open|>response<|sep|>The answer.<|close|>response<|sep|>",
        # the rest if the prompt had opened the reasoning
        "Plan it.\n[BEGIN FINAL RESPONSE]\nThe answer.",
        "Plan it.<|END_THINKING|><|START_TEXT|>The answer.<|END_TEXT|>",
        "Plan it.</think>The answer.",
    ],
)
def test_reasoning_as_other_models_write_it(text: str) -> None:
    split = split_thinking(text)
    assert (split.reasoning(text), split.answer(text)) == ("Plan it.", "The answer.")
    for end in range(len(text)):
        part = split_thinking(text[:end], final=False)
        if text.startswith(tuple(opening for opening, _ in TAGS)):
            assert "The answer.".startswith(part.answer(text[:end])), text[:end]


def test_reasoning_in_two_blocks_is_all_of_it() -> None:
    text = "<think>Plan.</think>\n<think>Plan more.</think>\nThe answer."
    split = split_thinking(text)
    assert split.answer(text) == "The answer."
    assert split.reasoning(text) == "Plan.</think>\n<think>Plan more."
    assert split.shown_reasoning(text).split() == ["Plan.", "Plan", "more."]
    assert len(split.shown_reasoning(text)) == len(split.reasoning(text))


@pytest.mark.parametrize(
    "text", ["<|channel|>final<|message|>The answer.", "<|START_RESPONSE|>The answer.<|END_RESPONSE|>"]
)
def test_a_frame_without_reasoning_is_no_part_of_the_words(text: str) -> None:
    assert not split_thinking(text).opened
    assert without_thinking(text) == "The answer."


def test_a_template_that_opens_the_tag_leaves_only_the_closing_one() -> None:
    text = "Let me see.\nTwo and two.\n</think>\n\nIt is 4."
    split = split_thinking(text)
    assert (split.reasoning(text), split.answer(text)) == ("Let me see.\nTwo and two.", "It is 4.")


def test_frames_around_the_words_are_no_part_of_them() -> None:
    text = "<|begin_of_thought|>a<|end_of_thought|>\n<|begin_of_solution|>It is 4.<|end_of_solution|>"
    assert without_thinking(text) == "It is 4."


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It is 4.",
        "Models write <think> before they answer.",
        "Close it with `</think>` at the end.",
        "Close it with </think> at the end, or with “</think>”.",
        "```\n</think>\n```\nThat is how.",
        "analysis of the text",
        "analysis: it is 4",
        " \n",
    ],
)
def test_what_is_no_reasoning(text: str) -> None:
    assert not split_thinking(text).opened
    assert without_thinking(text) == text


def test_reasoning_without_an_end_is_all_there_is() -> None:
    text = "<think>Let me see"
    split = split_thinking(text)
    assert (split.opened, split.closed) == (True, False)
    assert (split.reasoning(text), split.answer(text)) == ("Let me see", "")


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(TAGS), documents(), documents())
def test_what_grows_is_never_taken_back(tags: tuple[str, str], thought: str, words: str) -> None:
    opening, closing = tags
    text = f"{opening}A{thought.replace(closing, '')}{closing}{words}"
    seen_thought = seen_words = ""
    for end in range(len(text) + 1):
        part = text[:end]
        split = split_thinking(part, final=False)
        assert split.reasoning(part).startswith(seen_thought)
        assert split.answer(part).startswith(seen_words)
        seen_thought, seen_words = split.reasoning(part), split.answer(part)
    whole = split_thinking(text)
    assert whole.reasoning(text).startswith(seen_thought)
    assert whole.answer(text).startswith(seen_words)


def test_thousands_of_tags_in_code_are_looked_at_once() -> None:
    code = "```\n" + "</think>\n" * 100_000  # scanning the whole text before each of them would take minutes
    assert not split_thinking(code).opened
    assert split_thinking(f"{code}```\nthought </think>\nwords").closed
