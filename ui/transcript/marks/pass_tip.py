"""The tool tip of a marked token: the proposed, accepted and rejected tokens of its pass, with probabilities."""

from dataclasses import dataclass
from html import escape

from engine.records import Source, TokenProbs
from ui.text.formatting import percent
from ui.text.language import Translator
from ui.transcript.marks.provenance import PassView

tr = Translator("PassTip")

MAX_ROWS = 16
NUM_COLUMNS = 4  # token, result, probability of the target, probability of the draft
_LAST = {
    Source.RECOVERED: tr.mark("sampled instead"),
    Source.BONUS: tr.mark("one more, because all were accepted"),
    Source.TARGET: tr.mark("sampled by the target alone, nothing was proposed"),
}


@dataclass(frozen=True, slots=True)
class TokenLine:
    """A token of a pass in words: its text, result, and probabilities."""

    text: str
    outcome: str
    probabilities: tuple[str, ...] = ()
    rejected: bool = False

    def __str__(self) -> str:
        return f"{_visible(self.text)}: {', '.join((self.outcome, *self.probabilities))}"


def pass_tip(view: PassView) -> str:
    """The tool tip as rich text: one token per line, rejected ones struck through. Token texts are escaped."""
    lines = _lines(view)
    rows = "".join(_row(line) for line in lines[:MAX_ROWS])
    left = len(lines) - MAX_ROWS
    more = f"<p>{escape(tr('and %n more tokens', None, left))}</p>" if left > 0 else ""
    note = f"<p style='margin-top: 6px'><small>{escape(_note(view))}</small></p>" if _note(view) else ""
    return (
        f"<p style='white-space: pre; margin-bottom: 4px'>{escape(_heading(view))}</p>"
        f"<table cellspacing='0' cellpadding='2'>{rows}</table>{more}{note}"
    )


def pass_words(view: PassView) -> str:
    """The tool tip as plain sentences, for screen readers."""
    said = (_heading(view), *(f"{line}." for line in _lines(view)), _note(view))
    return " ".join(words for words in said if words)


def _heading(view: PassView) -> str:
    num_rejected = len(view.rejected_texts) or int(view.source is Source.RECOVERED)
    proposed = len(view.accepted) + num_rejected
    if view.source not in _LAST:
        return tr("One pass of the target, in which the answer ended.")
    if not proposed or (num_rejected and view.probabilities is None):  # old versions did not store the number
        return tr("One pass of the target.")
    words = tr("One pass of the target: {accepted} of %n proposed tokens accepted.", None, proposed)
    return words.format(accepted=len(view.accepted))


def _note(view: PassView) -> str:
    if view.probabilities is None or not view.probabilities.probs:
        return ""
    return tr("Probabilities after temperature, top-k, top-p and min-p.")


def _lines(view: PassView) -> list[TokenLine]:
    kept = tr("accepted")
    lines = [TokenLine(text, kept, _probabilities(view, i)) for i, text in enumerate(view.accepted)]
    texts = view.rejected_texts or (("",) if view.source is Source.RECOVERED and view.probabilities is not None else ())
    for i, text in enumerate(texts, len(view.accepted)):
        chances = _probabilities(view, i)
        unseen = view.probabilities is not None and not chances
        fate = tr("not checked") if unseen else tr("rejected")
        lines.append(TokenLine(text, fate, chances, rejected=True))
    if view.source in _LAST:
        lines.append(TokenLine(view.last, _last_outcome(view), _last_probability(view)))
    return lines


def _last_outcome(view: PassView) -> str:
    if view.source is Source.TARGET and view.accepted:
        return tr("decided again by the target alone, because two tokens were nearly tied")
    if view.source is Source.RECOVERED and not view.rejected and view.probabilities is None:
        return tr("sampled in place of a rejected one")
    return tr(_LAST[view.source])


def _last_probability(view: PassView) -> tuple[str, ...]:
    probabilities = view.probabilities
    if probabilities is None:
        return ()
    if probabilities.greedy:
        return (tr("the most likely"),)
    return () if probabilities.last is None else (_target_probability_text(probabilities.last),)


def _probabilities(view: PassView, place: int) -> tuple[str, ...]:
    """The probabilities of the proposed token at index ``place``."""
    probabilities, num_accepted = view.probabilities, len(view.accepted)
    if probabilities is None or (probabilities.greedy and place > num_accepted):
        return ()
    if probabilities.greedy:
        likely = place < num_accepted
        words = tr("the most likely") if likely else tr("not the most likely")
        return (words,)
    return _draft_probability_text(probabilities.probs[place]) if place < len(probabilities.probs) else ()


def _draft_probability_text(look: TokenProbs) -> tuple[str, ...]:
    p, q = look
    draft = tr("draft {share}")
    return (_target_probability_text(p), tr("from text") if q is None else draft.format(share=percent(q)))


def _target_probability_text(share: float) -> str:
    return tr("target {share}").format(share=percent(share))


def _row(line: TokenLine) -> str:
    shown = escape(_visible(line.text))
    cells = [f"<s>{shown}</s>" if line.rejected else f"<b>{shown}</b>"]
    cells += [escape(words) for words in (line.outcome, *line.probabilities)]
    cells += [""] * (NUM_COLUMNS - len(cells))
    return (
        "<tr>" + "".join(f"<td style='white-space: pre; padding-right: 12px'>{cell}</td>" for cell in cells) + "</tr>"
    )


def _visible(text: str) -> str:
    """A token with visible spaces and line breaks."""
    shown = text.replace("\n", "\N{DOWNWARDS ARROW WITH CORNER LEFTWARDS}").replace("\t", "\N{RIGHTWARDS ARROW}")
    if shown != shown.lstrip(" "):
        shown = "\N{OPEN BOX}" + shown[1:]
    return shown or tr("(part of a character)")
