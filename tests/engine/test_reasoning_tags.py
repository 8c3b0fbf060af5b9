"""Tests which control tokens stay in the text because they separate reasoning from the answer."""

import pytest

from engine.reasoning_tags import REASONING_TAGS, closes_reasoning, opens_reasoning, reasoning_markers

HARMONY = ("<|channel|>", "<|message|>", "<|start|>", "<|end|>", "<|return|>", "<|call|>")
SOLAR = ("<|think|>", "<|end|>", "<|begin|>", "<|content|>")
CHATML = ("<|im_start|>", "<|im_end|>", "<|endoftext|>")


@pytest.mark.parametrize(
    ("controls", "kept"),
    [
        (CHATML, set()),
        ((*CHATML, "<think>", "</think>"), {"<think>", "</think>"}),
        (HARMONY, {"<|channel|>", "<|message|>", "<|start|>", "<|end|>"}),
        (("<|user|>", "<|assistant|>", "<|end|>"), set()),  # Phi: there it ends a turn
        (SOLAR, set(SOLAR)),
        (("<|START_THINKING|>", "<|END_THINKING|>", "<|START_TEXT|>"), {"<|START_THINKING|>", "<|END_THINKING|>"}),
        (("<|channel>", "<channel|>", "<|turn>", "<turn|>"), {"<|channel>", "<channel|>"}),
    ],
)
def test_only_tokens_that_tags_are_made_of_are_kept(controls: tuple[str, ...], kept: set[str]) -> None:
    assert reasoning_markers(controls) == kept


@pytest.mark.parametrize(("opening", "closing"), REASONING_TAGS)
def test_every_tag_is_found_where_it_opens_and_closes(opening: str, closing: str) -> None:
    assert opens_reasoning().search(f"<|assistant|>{opening}\n")
    assert not opens_reasoning().search(f"{opening}\n{closing}\n\n")
    assert closes_reasoning().sub("", f"{opening}One.\n{closing}Two.") == "Two."
