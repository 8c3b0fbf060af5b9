"""The prompts that come with the app, in the user's language."""

from __future__ import annotations

from app.domain.settings.layers import Prompt
from ui.text.language import translate


def builtin_prompts() -> tuple[Prompt, ...]:
    """Give them; words in braces are to be filled."""
    return (
        Prompt(
            translate("Prompts", "summarise"),
            translate("Prompts", "Summarise the following text in {number} sentences:\n\n{text}"),
        ),
        Prompt(
            translate("Prompts", "translate"),
            translate("Prompts", "Translate the following text into {language}. Keep its tone:\n\n{text}"),
        ),
        Prompt(
            translate("Prompts", "explain-code"),
            translate("Prompts", "Explain step by step what this code does, and name what could go wrong:\n\n{code}"),
        ),
        Prompt(
            translate("Prompts", "shorter"),
            translate("Prompts", "Rewrite this in half as many words without losing a fact:\n\n{text}"),
        ),
        Prompt(
            translate("Prompts", "proofread"),
            translate(
                "Prompts", "Correct spelling and grammar, change nothing else, and list what you changed:\n\n{text}"
            ),
        ),
    )
