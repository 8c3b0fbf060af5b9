"""What the built-in models are, in a sentence."""

from __future__ import annotations

from ui.text.language import mark

TINY_NOTE = mark(
    "Header",
    "The quick demo uses two tiny models: it shows how speculative decoding works, not what a large model knows or "
    "gains by it.",
)
