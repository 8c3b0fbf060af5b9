"""Tells whether a seed reproduced an answer, and if not, why."""

from __future__ import annotations

from app.core.domain.engines import AT
from app.core.domain.messages import MessageState, MessageView
from app.core.domain.seeds import Drawn
from app.core.domain.settings.table import FIELD_BY_KEY
from app.core.domain.settings.values import Settings
from ui.text.language import mark, translate
from ui.text.model_titles import title_of
from ui.text.problem_words import in_language
from ui.text.setting_words import in_words

SAME = mark("Repeat", "Seed {seed} gave the same answer again.")
SAME_SO_FAR = mark("Repeat", "Seed {seed} gave the same again, as far as both go.")
OTHER = mark("Repeat", "Seed {seed} gave another answer than before.")
MODEL = mark("Repeat", "It was {model} then.")
MODEL_ELSEWHERE = mark("Repeat", "Whether a seed holds is up to the other program.")
SYSTEM_PROMPT = mark("Repeat", "The system prompt was another one.")
MESSAGES = mark("Repeat", "The messages before it were others, or the files that belong to them.")
TOOLS = mark("Repeat", "The tools were others.")
ASKED_THE_SAME = mark("Repeat", "It was asked the same.")
OTHERWISE_SET = mark("Repeat", "It was asked the same, so the model's file or the engine was another one then.")
ITS_OWN = mark("Repeat", "It was drawn with its own settings, not the chat's of now: {settings}.")


def repeat_notice(before: MessageView, after: MessageView, chat: Settings, inexact: str) -> str:
    """Compare an answer with the one its seed should reproduce; ``chat`` holds the current settings.

    ``inexact`` is what `ModelInfo` says of the target.
    """
    then, now = before.drawn, after.drawn
    if then is None or now is None or then.seed is None:
        return ""
    verdict = _verdict(before, after)
    parts = [translate("Repeat", verdict).format(seed=then.seed)]
    if verdict is OTHER:
        parts += _reasons(before, then, after, now, inexact)
    others = [in_words(FIELD_BY_KEY[key]).label for key, value in now.values.items() if _differs(key, value, chat)]
    if others:
        parts.append(translate("Repeat", ITS_OWN).format(settings=", ".join(others)))
    return " ".join(parts)


def _verdict(before: MessageView, after: MessageView) -> str:
    if before.text == after.text:
        return SAME
    one, other = sorted((before, after), key=lambda view: len(view.text))
    is_begun = one.cut or one.state is not MessageState.COMPLETE
    return SAME_SO_FAR if is_begun and other.text.startswith(one.text.rstrip()) else OTHER


def _reasons(before: MessageView, then: Drawn, after: MessageView, now: Drawn, inexact: str) -> list[str]:
    found = []
    if before.target != after.target:
        found.append(translate("Repeat", MODEL).format(model=title_of(before.target)))
    if then.system_prompt != now.system_prompt:
        found.append(translate("Repeat", SYSTEM_PROMPT))
    if then.messages != now.messages:
        found.append(translate("Repeat", MESSAGES))
    if then.tools != now.tools:
        found.append(translate("Repeat", TOOLS))
    if found:
        return found
    if AT in after.target:
        return [translate("Repeat", MODEL_ELSEWHERE)]
    return (
        [translate("Repeat", ASKED_THE_SAME), in_language(inexact)] if inexact else [translate("Repeat", OTHERWISE_SET)]
    )


def _differs(key: str, value: object, chat: Settings) -> bool:
    return key != "seed" and chat.values[key] != value
