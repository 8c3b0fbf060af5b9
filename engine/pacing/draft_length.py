"""The draft length for the mode and depth of a request."""

from dataclasses import dataclass

from engine.errors import SettingError
from engine.pacing.constants import MAX_DEPTH
from engine.records import Mode
from engine.sentences import Sentence, i18n, phrase

# Depths for a model without measured costs. Repacked CPU kernels compute four rows at a time, so passes of 4 or 8 rows
# (3 or 7 proposed tokens and the last token) are cheaper per row than passes of 3, 5 or 6; n-gram drafts cost nothing.
FIXED_DEPTH = {
    Mode.OFF: 0,
    Mode.NGRAM: 7,
    Mode.SUFFIX: 7,
    Mode.DRAFT: 3,
    Mode.HEAD: 3,
    Mode.AUTO: 3,
}


@dataclass(frozen=True, slots=True)
class DraftLength:
    """At most ``depth`` proposed tokens per pass; if ``paced``, the pacer chooses the number before each pass."""

    depth: int
    paced: bool
    reason: Sentence


def choose_draft_length(mode: Mode, depth: int | None, *, can_pace: bool) -> DraftLength:
    """Choose the draft length of an answer. If ``depth`` is None and ``can_pace``, the pacer decides.

    Raises:
        SettingError: the depth is outside 0 to `MAX_DEPTH`.
    """
    if depth is not None and not 0 <= depth <= MAX_DEPTH:
        raise SettingError(i18n("The draft length must be between 0 and {most}.", most=MAX_DEPTH))
    if mode is Mode.OFF:
        return DraftLength(0, paced=False, reason=i18n("drafting is off"))
    name = phrase("Modes", mode.value)
    if depth is not None:
        return DraftLength(depth, False, i18n("{mode} at the chosen draft length of {depth}", mode=name, depth=depth))
    if can_pace:
        return DraftLength(MAX_DEPTH, True, i18n("{mode}: drafts when it saves time here", mode=name))
    fixed = FIXED_DEPTH[mode]
    return DraftLength(fixed, False, i18n("{mode} at draft length {depth}", mode=name, depth=fixed))
