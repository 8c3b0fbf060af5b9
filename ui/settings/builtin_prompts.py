"""The prompts that come with the app, in the user's language."""

from __future__ import annotations

from app.core.domain.settings.layers import SavedPrompt
from ui.text.language import translate


def builtin_prompts() -> tuple[SavedPrompt, ...]:
    """Give them; words in braces are to be filled."""
    return (
        SavedPrompt(
            translate("Prompts", "summarise"),
            translate("Prompts", "Summarise the following text in {number} sentences:\n\n{text}"),
        ),
        SavedPrompt(
            translate("Prompts", "translate"),
            translate("Prompts", "Translate the following text into {language}. Keep its tone:\n\n{text}"),
        ),
        SavedPrompt(
            translate("Prompts", "explain-code"),
            translate("Prompts", "Explain step by step what this code does, and name what could go wrong:\n\n{code}"),
        ),
        SavedPrompt(
            translate("Prompts", "shorter"),
            translate("Prompts", "Rewrite this in half as many words without losing a fact:\n\n{text}"),
        ),
        SavedPrompt(
            translate("Prompts", "proofread"),
            translate(
                "Prompts", "Correct spelling and grammar, change nothing else, and list what you changed:\n\n{text}"
            ),
        ),
    )
