"""One answer's statistics as text: its footer, and its speed compared with plain decoding."""

import re

from app.core.domain.speed.verdict import MissingReason, SpeedVerdict, answer_verdict
from engine.records import RunStats, Source
from engine.sentences import Sentence
from ui.text.formatting import UNKNOWN, count, decimal_text, duration, percent, speed, times_plain
from ui.text.language import Translator, locale, mark, translate
from ui.text.mode_words import mode_short_name
from ui.text.problem_words import in_language
from ui.text.setting_words import sentence

tr = Translator("Figures")

# Every decision begins with one of these English phrases, also decisions that were stored as plain text.
_DRAFTING_DECISION = re.compile(r"(token \d+: )?((the )?draft|using repeated|repeated text|plain decoding)")
_TEXT_DECISION = re.compile(r"(token \d+: )?using repeated text \(n-gram\)")
_WITH_POSITION = re.compile(r"token (?P<place>\d+): (?P<reason>.+)", re.DOTALL)

_MISSING = {
    MissingReason.NO_TOKENS: mark("SpeedVerdict", "There is nothing to compare yet."),
    MissingReason.NOTHING_DRAFTED: mark("SpeedVerdict", "Nothing was drafted in this answer."),
    MissingReason.LOOPED: mark("SpeedVerdict", "The answer repeated itself at the end, so its speed is not counted."),
    MissingReason.FEW_TOKENS: mark("SpeedVerdict", "This answer is too short to compare its speed."),
    MissingReason.BESIDE_OTHERS: mark(
        "SpeedVerdict", "Other answers were written at the same time, so the speed is not compared."
    ),
    MissingReason.PLAIN_UNKNOWN: mark(
        "SpeedVerdict", "The speed without drafting is not known well enough to compare."
    ),
    MissingReason.NOTHING_ACCEPTED: mark(
        "SpeedVerdict", "No drafted token was accepted, so drafting did not make this answer faster."
    ),
}


def decision_words(decision: str) -> tuple[str, str]:
    """A pacing decision as text, and the number of the token at which it was made; empty if unknown."""
    found = _WITH_POSITION.fullmatch(decision)
    if found is None:
        return in_language(decision), ""
    reason = decision.fields.get("reason", decision) if isinstance(decision, Sentence) else found["reason"]
    return in_language(reason if isinstance(reason, str) else str(reason)), count(int(found["place"]))


def verdict_words(verdict: SpeedVerdict, stats: RunStats) -> str:
    """The headline: the speedup, as ``1.62× faster``, if it is known, else the speed."""
    if verdict.speedup is not None:
        return speedup_text(verdict)
    return UNKNOWN if stats.tokens_per_second is None else speed(stats.tokens_per_second)


def speedup_text(verdict: SpeedVerdict) -> str:
    speedup = verdict.speedup
    if speedup is None:
        return UNKNOWN
    if verdict.is_even:
        return translate("SpeedVerdict", "About the same speed")
    faster, slower = translate("SpeedVerdict", "{times} faster"), translate("SpeedVerdict", "{times} slower")
    return faster.format(times=times_plain(speedup)) if speedup > 1 else slower.format(times=times_plain(1 / speedup))


def plain_speed_words(verdict: SpeedVerdict, stats: RunStats, *, live: bool = False) -> str:
    """The estimated speed without drafting, or why it is missing; then the draft's prompt time, which is not counted.

    ``live``: the answer still streams; the text then has a constant length, so that nothing below moves.
    """
    if live:
        return translate("SpeedVerdict", "Compared as soon as the speed without drafting is known well enough.")
    if verdict.missing is not None:
        basis = translate("SpeedVerdict", _MISSING[verdict.missing])
    else:
        words = translate(
            "SpeedVerdict",
            "Without drafting: {low} to {high} tok/s, estimated from the last minutes.",
        )
        plain, error = 1000.0 / (stats.plain_ms or 1.0), 1.0 + stats.plain_error
        basis = words.format(low=decimal_text(plain / error), high=decimal_text(plain * error))
    return f"{basis} {draft_reading_words(stats)}".rstrip()


def draft_reading_words(stats: RunStats) -> str:
    """The time that the draft model took to read the prompt; empty if it did not read one."""
    if not stats.draft_prompt_s:
        return ""
    words = translate("SpeedVerdict", "The draft model read the prompt in {time}, which is not counted here.")
    return words.format(time=duration(stats.draft_prompt_s))


def footer_parts(stats: RunStats | None, seed: int | None = None) -> list[tuple[str, str]]:
    """The statistics below a finished answer, most important first, each with an explanation; the ``seed`` is last."""
    if stats is None or not stats.tokens:
        return []
    verdict = answer_verdict(stats)
    measured = tr("Tokens per second, from the end of reading the prompt to the last token.")
    why = plain_speed_words(verdict, stats) if stats.proposed and verdict.speedup is None else ""
    passes = UNKNOWN if stats.tokens_per_pass is None else locale().toString(stats.tokens_per_pass, "f", 1)
    parts = [
        (speed(stats.tokens_per_second), f"{measured} {why}".rstrip()),
        (
            tr("{number} tokens per pass").format(number=passes),
            tr("Tokens per pass of the target. Without drafting it is 1.0."),
        ),
    ]
    if verdict.speedup is not None:
        same = tr("about the same speed")
        parts.append((same if verdict.is_even else speedup_text(verdict), plain_speed_words(verdict, stats)))
    how = " ".join((tr("How tokens were proposed."), *drafting_sentences(stats)))
    parts += [_draft_part(stats), *_schema_parts(stats), (mode_short_name(stats.mode), how)]
    parts.append(_length_part(stats))
    if seed is not None:
        meaning = tr("This seed repeats the answer: see the answer's menu.")
        parts.append((tr("seed {seed}").format(seed=seed), meaning))
    return parts


def _length_part(stats: RunStats) -> tuple[str, str]:
    """The answer's token count, and its time to the first token if known."""
    words = tr("%Ln tokens", None, stats.tokens)
    meaning = tr("Tokens of the answer, its reasoning included.")
    if stats.time_to_first_token_s is None:
        return words, meaning
    first = tr("{tokens}, the first after {time}")
    took = tr("The first came {time} after the question: the model reads the prompt first.")
    time = duration(stats.time_to_first_token_s)
    return first.format(tokens=words, time=time), f"{meaning} {took.format(time=time)}"


def drafting_sentences(stats: RunStats, *, live: bool = False) -> list[str]:
    """The number and sources of drafted tokens, then the latest decision of the pacer.

    The decision "the text repeats" describes one moment, so it is omitted once the answer has finished.
    """
    reason = next((each for each in reversed(stats.decisions) if _DRAFTING_DECISION.match(each)), "")
    words = decision_words(reason)[0] if live or not _TEXT_DECISION.fullmatch(reason) else ""
    found = [f"{sentence(words)}."] if words else []
    if live or not stats.proposed:
        return found
    from_text = tr("{number} of {all} tokens came from repeated text.")
    from_draft = tr("{number} of {all} tokens came from the draft.")
    by_draft = stats.provenance.get(Source.DRAFT, 0) + stats.provenance.get(Source.HEAD, 0)
    origins = ((from_text, stats.provenance.get(Source.NGRAM, 0)), (from_draft, by_draft))
    told = [each.format(number=count(number), all=count(stats.tokens)) for each, number in origins if number]
    return [*told, *found]


def nothing_drafted(stats: RunStats) -> str:
    """For an answer without drafted tokens: the statement that nothing was drafted, and the reason."""
    meaning = tr("No tokens were proposed: every pass gave one token of the target.")
    return " ".join((meaning, *drafting_sentences(stats)))


def _draft_part(stats: RunStats) -> tuple[str, str]:
    if not stats.proposed:
        return tr("nothing drafted"), nothing_drafted(stats)
    words = tr("{number} drafted, {share} accepted")
    meaning = tr("How many of the drafted tokens the target accepted.")
    return words.format(share=percent(stats.acceptance_rate), number=count(stats.proposed)), meaning


def _schema_parts(stats: RunStats) -> list[tuple[str, str]]:
    if not stats.forced_accepted:
        return []
    words = tr("{number} fixed by the schema")
    meaning = tr("Drafted tokens that a schema fixed. They needed no draft model.")
    return [(words.format(number=count(stats.forced_accepted)), meaning)]


def footer(stats: RunStats | None) -> str:
    return " · ".join(text for text, _ in footer_parts(stats))
