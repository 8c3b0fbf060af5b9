"""Every way to think has a name and a line of words, whoever finds it in a template."""

from __future__ import annotations

import pytest

from app.core.domain.settings.fields import FieldKind
from app.core.domain.settings.table import FIELD_BY_KEY
from ui.composer.composer import thinking_line, thinking_name

CHOICES = [value for value, _ in FIELD_BY_KEY["thinking"].choices if value]


@pytest.mark.parametrize("name", CHOICES)
def test_each_choice_of_the_settings_has_words(name: str) -> None:
    assert thinking_name(name)[0].isupper()
    assert not thinking_line(name).endswith(".")


def test_what_can_be_found_can_be_kept() -> None:
    assert FIELD_BY_KEY["thinking"].kind is FieldKind.CHOICE
    assert {"off", "on", "low", "medium", "high", "max", "512"} <= set(CHOICES)


def test_a_budget_is_in_tokens() -> None:
    assert thinking_name("2048") == "Up to 2,048 tokens"
