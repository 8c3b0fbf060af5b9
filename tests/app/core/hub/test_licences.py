"""Tests spellings of licences."""

from __future__ import annotations

import pytest

from app.core.hub.licences import licence_name


@pytest.mark.parametrize(
    ("identifier", "name"),
    [
        ("apache-2.0", "Apache 2.0"),
        ("Apache-2.0", "Apache 2.0"),
        ("mit", "MIT"),
        ("llama3.1", "Llama 3.1"),
        ("cc-by-nc-sa-4.0", "CC BY-NC-SA 4.0"),
        ("cc0-1.0", "CC0 1.0"),
        ("agpl-3.0", "AGPL 3.0"),
        ("bsd-3-clause", "BSD 3-Clause"),
        ("gemma", "Gemma"),
        ("qwen-research", "qwen-research"),  # even if another licence has the same name
        ("My own licence-1.0", "My own licence-1.0"),
        ("", ""),
    ],
)
def test_a_licence_has_the_name_that_people_write(identifier: str, name: str) -> None:
    assert licence_name(identifier) == name
