"""Lanes of a race: their words, the memory of all together, what is refused before anything runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.benchmark import lanes
from app.core.benchmark.lanes import read_lanes, settle_memory
from app.core.benchmark.runs import AUTO, PLAIN, Variant
from app.core.paths import builtin_draft, builtin_target
from engine.errors import NotEnoughMemoryError
from engine.llama import library
from engine.loading.loading import AUTOMATIC_N_CTX
from engine.records import LoadRequest, Mode

DRAFT = Variant(Mode.DRAFT.value, 3)
PAIR = LoadRequest(str(builtin_target()), str(builtin_draft()))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("off,auto", (PLAIN, AUTO)),
        ("plain, draft:3", (PLAIN, DRAFT)),
        ("suffix", (PLAIN, Variant("suffix"))),
        ("draft:3,draft:5,auto", (DRAFT, Variant("draft", 5), AUTO)),
    ],
)
def test_lanes_are_modes_with_or_without_a_depth(text: str, found: tuple[Variant, ...]) -> None:
    assert read_lanes(text) == found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("off", "two or three different lanes"),
        ("", "two or three different lanes"),
        ("auto,auto", "two or three different lanes"),
        ("off,ngram,suffix,auto", "two or three different lanes"),
        ("off,fast", "There is no mode fast"),
        ("off,auto:3", "The lane auto:3 has no depth"),
        ("off,draft:x", "The lane draft:x has no depth"),
        ("off,draft:999", "The depth must be between 0 and"),
    ],
)
def test_other_words_are_refused_in_a_sentence(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_lanes(text)


@pytest.fixture
def on_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "supports_gpu", lambda: False)


@pytest.mark.usefixtures("on_processor")
def test_all_lanes_get_one_context_that_fits_them_together() -> None:
    whole = settle_memory((PLAIN, AUTO), PAIR)
    assert whole.n_ctx is not None
    assert whole.n_ctx <= AUTOMATIC_N_CTX
    needed = lanes._needed((PLAIN, AUTO, DRAFT), PAIR, whole.n_ctx, 1).needed_bytes
    fewer = lanes._needed((AUTO, DRAFT), PAIR, whole.n_ctx, 1)
    weights = fewer.weights_bytes  # loaded once, however many lanes there are
    assert lanes._needed((PLAIN, AUTO, DRAFT), PAIR, whole.n_ctx, 1).weights_bytes == weights
    assert settle_memory((PLAIN, AUTO, DRAFT), PAIR, needed).n_ctx == whole.n_ctx
    with pytest.raises(NotEnoughMemoryError) as refused:
        settle_memory((PLAIN, AUTO, DRAFT), replace(PAIR, n_ctx=whole.n_ctx), needed - 1)
    assert refused.value.message.startswith("The 3 lanes share the weights, and each has a context of its own.")
    assert "Race two lanes" in refused.value.advice


@pytest.mark.usefixtures("on_processor")
def test_a_draft_counts_in_the_lanes_that_use_it() -> None:
    needed = [
        lanes._needed(chosen, PAIR, 512, 1).needed_bytes
        for chosen in ((PLAIN, Variant("ngram")), (PLAIN, DRAFT), (AUTO, DRAFT))
    ]
    assert needed[1] - needed[0] == needed[2] - needed[1] > 0
    assert settle_memory((PLAIN, Variant("ngram")), PAIR).draft is None
    assert settle_memory((PLAIN, AUTO), PAIR).draft == PAIR.draft
