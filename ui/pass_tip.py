"""The hover text of a marked token: what its pass proposed, what was kept, and what came instead."""

from __future__ import annotations

from html import escape

from engine.records import Source
from ui.language import mark, translate
from ui.provenance import PassView

_MOST_TOKENS = 24
_LAST = {
    Source.RECOVERED: mark("PassTip", "drawn in its place"),
    Source.BONUS: mark("PassTip", "and one more, since all were kept"),
    Source.TARGET: mark("PassTip", "drawn by the target alone, nothing was proposed"),
}


def pass_tip(view: PassView) -> str:
    """Rich text, every word of the answer escaped; accepted tokens apart by thin bars, rejected ones struck through."""
    lines = []
    count = len(view.accepted)
    if count:
        shown = " | ".join(_visible(text) for text in view.accepted[:_MOST_TOKENS])
        more = " ..." if count > _MOST_TOKENS else ""
        kept = translate("PassTip", "Kept %n proposed tokens: {texts}", None, count)
        lines.append(kept.format(texts=f"<b>{shown}{more}</b>"))
    if view.rejected:
        lines.append(translate("PassTip", "Refused: {text}").format(text=f"<s>{_visible(view.rejected)}</s>"))
    if view.source in _LAST:
        what = translate("PassTip", _LAST[view.source])
        if view.source is Source.RECOVERED and not view.rejected:
            what = translate("PassTip", "drawn in place of a refused one")
        lines.append(f"<b>{_visible(view.last)}</b>: {what}")
    heading = translate("PassTip", "One pass of the target.")
    return "<p style='white-space: pre-wrap'>" + "<br/>".join((heading, *lines)) + "</p>"


def _visible(text: str) -> str:
    """Spaces at the ends and line breaks are part of a token: they are shown."""
    shown = text.replace("\n", "\N{DOWNWARDS ARROW WITH CORNER LEFTWARDS}").replace("\t", "\N{RIGHTWARDS ARROW}")
    if shown != shown.lstrip(" "):
        shown = "\N{OPEN BOX}" + shown[1:]
    return escape(shown) or translate("PassTip", "(part of a character)")
