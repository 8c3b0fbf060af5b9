"""Tests the list of reusable prompts."""

from app.core.domain.settings.layers import SavedPrompt
from app.core.storage.prompts import valid_prompts


def test_prompts_are_in_the_order_of_the_alphabet_marks_and_all() -> None:
    names = ("zusammenfassen", "übersetzen", "Uhr", "code-erklären", "äußern")
    found = valid_prompts([SavedPrompt(name, "Text") for name in names])
    assert [prompt.name for prompt in found] == ["äußern", "code-erklären", "übersetzen", "Uhr", "zusammenfassen"]
