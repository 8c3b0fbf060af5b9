"""Tests the similarity of two models."""

import pytest

from app.core.paths import builtin_draft, builtin_target
from engine.forecast import PairKind, pair_kind
from engine.gguf.header import GgufHeader, read_header


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


def test_a_head_is_no_model_of_a_family() -> None:
    assert pair_kind(header("llama", "smollm2"), header("eagle3", "smollm2")) is PairKind.HEAD
