"""An answer without the spaces at its end, its provenance shortened with it. Pure."""

from __future__ import annotations

import dataclasses

from ui.records import MessageView


def without_trailing_space(view: MessageView) -> MessageView:
    """Cut spaces and line breaks off the end of a message's text and out of its spans."""
    text = view.text.rstrip()
    spans = list(view.spans)
    excess = sum(span.num_chars for span in spans) - len(text)
    while spans and excess > 0:
        last = spans.pop()
        kept = last.num_chars - excess
        excess -= last.num_chars
        if kept > 0:
            spans.append(dataclasses.replace(last, num_chars=kept))
    return dataclasses.replace(view, text=text, spans=tuple(spans))
