"""Names and explanations of the statistics, and their values as texts."""

from collections.abc import Mapping

from app.core.domain.speed.verdict import SpeedVerdict, sums_verdict
from app.core.domain.sums import PairSums, Sums
from engine.records import Mode, ModelInfo, RunStats, Source
from ui.text.formatting import (
    UNKNOWN,
    acceptance,
    count,
    decimal_text,
    duration,
    milliseconds,
    mode_label,
    per_pass,
    size,
    times_plain,
)
from ui.text.language import Translator, translate
from ui.text.model_titles import title_of

tr = Translator("StatsPanel")

_ACCURACY = tr.mark("Over several answers it is accurate to within 2%; answers without recorded times are left out.")
_PERCENTILES = {"p50": 50, "p95": 95, "p99": 99}
_STATISTICS = {  # name and explanation of each statistic
    "headline": (
        tr.mark("Speed"),
        tr.mark(
            "How much faster this answer was than it would have been without drafting, or its tokens per second if "
            "that is not certain. The speed without drafting is estimated from passes without a draft, in this "
            "answer and in the last minutes, with the context equally full. Shown from 64 tokens on."
        ),
    ),
    "now": (tr.mark("This answer"), tr.mark("Tokens per second of this answer.")),
    "plain": (tr.mark("Without drafting"), tr.mark("Estimated tokens per second of this answer without drafting.")),
    "speed": (
        tr.mark("tok/s"),
        tr.mark("Tokens per second, measured from the end of reading the prompt to the last token."),
    ),
    "speedup": (
        tr.mark("speed-up"),
        tr.mark(
            "How many times as fast as without drafting, over all answers that can be compared. Long answers "
            "count more."
        ),
    ),
    "per_pass": (
        tr.mark("tokens per pass"),
        tr.mark("Tokens per pass of the target. Without drafting it is exactly 1."),
    ),
    "accepted": (
        tr.mark("Accepted"),
        tr.mark("Share of the drafted tokens that the target accepted, and how many were drafted."),
    ),
    "depth": (
        tr.mark("Acceptance by position"),
        tr.mark("Share of the tokens drafted at this position of a pass that the target accepted."),
    ),
    "answers": (
        tr.mark("answers"),
        tr.mark("Answers with at least one token, including stopped and regenerated ones."),
    ),
    "tokens": (tr.mark("Tokens"), tr.mark("Tokens generated, including the end-of-answer token.")),
    "passes": (tr.mark("Passes"), tr.mark("Forward passes of the target.")),
    "first": (
        tr.mark("First token"),
        tr.mark("Time from the start of the request to the first token, reading the prompt included."),
    ),
    "p50": (tr.mark("Between tokens, p50"), tr.mark("Half of the tokens came faster than this.")),
    "p95": (tr.mark("Between tokens, p95"), tr.mark("19 of 20 tokens came faster than this.")),
    "p99": (tr.mark("Between tokens, p99"), tr.mark("99 of 100 tokens came faster than this.")),
    "prompt": (tr.mark("Prompt"), tr.mark("Tokens of the prompt, and how many of them were still in the cache.")),
    "time": (
        tr.mark("Time spent"),
        tr.mark("Time from the end of reading the prompts to the last tokens, all answers together."),
    ),
    "saved": (
        tr.mark("Time saved"),
        tr.mark("Time saved compared with the same answers without drafting. A minus means that they took longer."),
    ),
    "split": (
        tr.mark("Time of a pass"),
        tr.mark("The time of a pass by step, measured around each step and added up."),
    ),
    "source": (tr.mark("Sources of the tokens"), tr.mark("The source of each token.")),
    "target_memory": (
        tr.mark("Target"),
        tr.mark("Memory of the target: weights, cache of the conversation at full length, and compute buffers."),
    ),
    "draft_memory": (
        tr.mark("Draft"),
        tr.mark("Memory of the draft model: weights, cache of the conversation at full length, and compute buffers."),
    ),
    "why": (
        tr.mark("Why it drafts this way"),
        tr.mark("Why the engine drafts the way it does now. Earlier reasons in this answer:"),
    ),
    "pair": (
        tr.mark("By models and mode"),
        tr.mark(
            "Tokens per second and speed-up of each pair of models in each mode. Long answers count more than "
            "short ones."
        ),
    ),
}
MEASURED = tr.mark("As llama.cpp reported it when it loaded the model.")
MEMORY_KEYS = ("target_memory", "draft_memory")
SOURCES = {
    Source.DRAFT: (tr.mark("Draft"), "draft", tr.mark("Proposed by the draft model and accepted by the target.")),
    Source.HEAD: (
        tr.mark("Head"),
        "head",
        tr.mark("Proposed by a head (MTP or EAGLE-3) and accepted by the target."),
    ),
    Source.NGRAM: (
        tr.mark("N-gram"),
        "ngram",
        tr.mark("Proposed from earlier text of this conversation and accepted by the target."),
    ),
    Source.RECOVERED: (
        tr.mark("Recovered (after a rejection)"),
        "recovered",
        tr.mark("Sampled by the target in place of a rejected token."),
    ),
    Source.BONUS: (
        tr.mark("Bonus (all were accepted)"),
        "bonus",
        tr.mark("The extra token of a pass in which every drafted token was accepted."),
    ),
    Source.TARGET: (tr.mark("Target"), "target", tr.mark("Sampled by the target alone; nothing was drafted.")),
}
PASS_STEPS = {
    "draft": (tr.mark("Draft"), tr.mark("Share of the time spent drafting tokens.")),
    "verify": (tr.mark("Verify"), tr.mark("Share of the time spent on passes of the target.")),
    "sample": (tr.mark("Sample"), tr.mark("Share of the time spent sampling tokens and checking drafted ones.")),
    "rest": (tr.mark("Rest"), tr.mark("Share of the time spent on everything else, such as rollback and text.")),
}


def statistic_name(key: str) -> str:
    return tr(_STATISTICS[key][0])


def statistic_help(key: str) -> str:
    words = tr(_STATISTICS[key][1])
    return f"{words} {tr('The time of a pass is spread over its tokens.')}" if key in _PERCENTILES else words


def sums_help(key: str) -> str:
    """The explanation of a statistic over several answers."""
    return f"{statistic_help(key)} {tr(_ACCURACY)}" if key in _PERCENTILES else statistic_help(key)


def stats_texts(stats: RunStats, verdict: SpeedVerdict) -> dict[str, str]:
    """The statistics of one answer, or the sums of several, by key."""
    known = stats.passes > 0
    prompt = tr("{tokens} tokens ({cached} cached)").format(
        tokens=count(stats.prompt_tokens), cached=count(stats.prompt_cached_tokens)
    )
    return {
        "speed": decimal_text(stats.tokens_per_second),
        "speedup": times_plain(verdict.speedup),
        "per_pass": per_pass(stats.tokens_per_pass),
        "accepted": acceptance(stats),
        "tokens": count(stats.tokens) if known else UNKNOWN,
        "passes": count(stats.passes) if known else UNKNOWN,
        "first": duration(stats.time_to_first_token_s),
        "time": duration(stats.decode_s) if known else UNKNOWN,
        "p50": milliseconds(stats.inter_token_ms_p50),
        "p95": milliseconds(stats.inter_token_ms_p95),
        "p99": milliseconds(stats.inter_token_ms_p99),
        "prompt": prompt if stats.prompt_tokens else UNKNOWN,
    }


def sums_texts(sums: Sums) -> dict[str, str]:
    """The statistics of several answers by key."""
    saved = sums.saved_s
    minus = "\N{MINUS SIGN}" if saved is not None and saved < 0 else ""
    return {
        **stats_texts(sums.stats, sums_verdict(sums)),
        "answers": count(sums.num_answers) if sums.num_answers else UNKNOWN,
        "saved": UNKNOWN if saved is None else minus + duration(abs(saved)),
        **{key: milliseconds(sums.stats.interval_ms(percent)) for key, percent in _PERCENTILES.items()},
    }


def step_seconds(stats: RunStats) -> dict[str, float]:
    amounts = {"draft": stats.draft_s, "verify": stats.verify_s, "sample": stats.sample_s}
    return {**amounts, "rest": max(stats.decode_s - sum(amounts.values()), 0.0)}


def memory_texts(target: ModelInfo | None, draft: ModelInfo | None) -> dict[str, str]:
    """The loaded models' memory."""
    uses = [model.memory if model else None for model in (target, draft)]
    return {key: UNKNOWN if use is None else size(use.all_bytes) for key, use in zip(MEMORY_KEYS, uses, strict=True)}


def pair_title(row: PairSums) -> str:
    return f"{target_title(row)} · {title_of(row.draft)}" if row.draft else target_title(row)


def target_title(row: PairSums) -> str:
    """The target of a row; older versions did not store it."""
    return title_of(row.target) or tr("Model not recorded")


def draft_title(row: PairSums) -> str:
    if not row.draft:
        return tr("without a draft model")
    return tr("with {draft}").format(draft=title_of(row.draft))


def mode_title(mode: str) -> str:
    """A mode's label; for an unknown mode its name."""
    return mode_label(mode) if mode in list(Mode) else mode


def row_text(sums: Sums) -> str:
    """A row's speed: ``41.2 tok/s · 1.62×``."""
    speed = translate("Figures", "{number} tok/s").format(number=decimal_text(sums.stats.tokens_per_second))
    speedup = sums_verdict(sums).speedup
    return f"{speed} · {times_plain(speedup)}" if speedup is not None else speed


def summary_text(texts: Mapping[str, str]) -> str:
    """The main statistics as a sentence for screen readers; empty if there are none."""
    if texts["speed"] == UNKNOWN:
        return ""
    parts = [tr("{number} tokens per second").format(number=texts["speed"])]
    if texts["speedup"] != UNKNOWN:
        parts.append(tr("{times} the speed without drafting").format(times=texts["speedup"]))
    if texts["per_pass"] != UNKNOWN:
        parts.append(tr("{number} tokens per pass").format(number=texts["per_pass"]))
    if texts["accepted"] != UNKNOWN:
        parts.append(tr("{share} drafted tokens accepted").format(share=texts["accepted"]))
    return ", ".join(parts) + "."
