"""The hover text of a marked token: what its pass proposed, what was kept, and what came instead. Pure, no Qt."""

from __future__ import annotations

from html import escape

from engine.records import Source
from ui.provenance import PassView

_MOST_TOKENS = 24
_LAST = {
    Source.RECOVERED: "drawn in its place",
    Source.BONUS: "and one more, since all were kept",
    Source.TARGET: "drawn by the target alone, nothing was proposed",
}


def pass_tip(view: PassView) -> str:
    """Rich text, every word of the answer escaped; accepted tokens apart by thin bars, rejected ones struck through."""
    lines = []
    count = len(view.accepted)
    if count:
        shown = " | ".join(_visible(text) for text in view.accepted[:_MOST_TOKENS])
        more = " ..." if count > _MOST_TOKENS else ""
        lines.append(f"Kept {count} proposed {'token' if count == 1 else 'tokens'}: <b>{shown}{more}</b>")
    if view.rejected:
        lines.append(f"Refused: <s>{_visible(view.rejected)}</s>")
    if view.source in _LAST:
        what = _LAST[view.source]
        if view.source is Source.RECOVERED and not view.rejected:
            what = "drawn in place of a refused one"
        lines.append(f"<b>{_visible(view.last)}</b>: {what}")
    return "<p style='white-space: pre-wrap'>One pass of the target.<br/>" + "<br/>".join(lines) + "</p>"


def _visible(text: str) -> str:
    """Spaces at the ends and line breaks are part of a token: they are shown."""
    shown = text.replace("\n", "\N{DOWNWARDS ARROW WITH CORNER LEFTWARDS}").replace("\t", "\N{RIGHTWARDS ARROW}")
    if shown != shown.lstrip(" "):
        shown = "\N{OPEN BOX}" + shown[1:]
    return escape(shown) or "(part of a character)"
