"""Tests the similarity of two models, and the forecast for the pair."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.paths import builtin_draft, builtin_target
from engine.forecast import MachineSpeed, PairKind, PlacedModel, forecast, pair_kind
from engine.gguf.header import GgufHeader, TensorInfo, read_header
from engine.gguf.token_weights import TokenWeights


def header(architecture: str, basename: str = "") -> GgufHeader:
    metadata = {"general.architecture": architecture, **({"general.basename": basename} if basename else {})}
    return GgufHeader(3, metadata, {}, (), 0, 0)


@pytest.mark.parametrize(
    ("target", "draft", "kind"),
    [
        (header("qwen2", "Qwen2.5-Coder"), header("qwen2", "qwen2.5-coder "), PairKind.FAMILY),
        (header("qwen2", "Qwen2.5-Coder"), header("qwen2", "Qwen2.5"), PairKind.OTHER),
        (header("gemma3"), header("gemma3"), PairKind.FAMILY),
        (header("llama"), header("llama"), PairKind.OTHER),  # a very common architecture
        (header("llama", "smollm2"), header("llama"), PairKind.OTHER),
    ],
)
def test_the_kind_of_a_pair(target: GgufHeader, draft: GgufHeader, kind: PairKind) -> None:
    assert pair_kind(target, draft) is kind


def test_the_built_in_draft_was_trained_on_its_target() -> None:
    assert pair_kind(read_header(builtin_target()), read_header(builtin_draft())) is PairKind.DISTILLED


def test_a_draft_that_is_tiny_beside_a_stranger_is_not_expected_to_pay() -> None:
    """Only six of a hundred tokens of the built-in draft are right for a real model, however cheap they are."""
    weights = TensorInfo("w", (1024, 130_000), "Q4_0", 0, 0)
    target = replace(header("llama", "smollm2"), tensors=(weights,))
    kind = pair_kind(target, read_header(builtin_draft()))
    assert kind is PairKind.TINY
    machine = MachineSpeed((), 40e9, 2)
    found = forecast(
        machine,
        PlacedModel(TokenWeights({"Q4_K": 98_000_000}, 30), 2),
        PlacedModel(TokenWeights({"Q8_0": 1_000_000}, 4), 2),
        kind,
        0.0,
        coverage=0.74,
    )
    assert found is not None
    assert not found.gain.draft_pays


def test_a_head_is_no_model_of_a_family() -> None:
    assert pair_kind(header("llama", "smollm2"), header("eagle3", "smollm2")) is PairKind.HEAD


def test_a_pair_gains_what_its_draft_and_text_gain() -> None:
    machine = MachineSpeed((), 40e9, 2)
    target, draft = (PlacedModel(TokenWeights({"Q4_K": size}, 28), 2) for size in (4_000_000_000, 300_000_000))
    pair = forecast(machine, target, draft, PairKind.FAMILY, 0.0)
    alone = forecast(machine, target, None, PairKind.FAMILY, 0.0)
    assert pair is not None
    assert alone is not None
    assert pair.gain.high > alone.gain.high == pair.ngram_gain.high
    assert pair.plain == alone.plain
    assert forecast(MachineSpeed(), target, draft, PairKind.FAMILY, 0.0) is None
