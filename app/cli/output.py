"""Output of the commands: errors, notices and metrics, and the streams that they go to."""

import io
import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO, cast

from app.cli.terminal_stream import Style, TerminalStream, write_styled
from app.core.domain.errors import AppError
from app.core.domain.speed.verdict import answer_verdict
from engine.errors import PacelineError
from engine.records import EngineReady, Finished, FinishReason, Mode, Problem, RunStats, Source
from engine.sentences import Sentence, i18n

# Advice of the window, reworded for a terminal, which has options in place of settings. A test fails if a new sentence
# names a part of the window.
TERMINAL_WORDS = {
    "Start a new chat, shorten the message, or choose a larger context in the settings.": (
        "Shorten the prompt or its attachments, or give a larger context with --ctx."
    ),
    "Start a new chat, or choose a larger context in the settings.": (
        "Shorten the prompt, ask for fewer tokens with --max-tokens, or give a larger context with --ctx."
    ),
    "Choose a smaller context in the settings.": "Give a smaller context with --ctx.",
    "Change the message, or start a new chat.": "Change the prompt.",
    "Start a new chat.": "Shorten the prompt or its attachments.",
    "Start a new chat, or choose another model.": "Choose another model.",
    "New messages are kept only until Paceline is closed.": "Nothing was read or written.",
    "The stored chats can be read, but new messages are kept only until Paceline is closed.": (
        "The stored chats can be read, but nothing can be added to them."
    ),
    "Choose it again in its new location.": "Check the path.",
    "“{name}” no longer exists.": "There is no file “{name}”.",
}
INTERRUPTED = 130  # the exit code of a shell for Ctrl+C
_STATS_FIELDS = (
    "prompt_tokens", "prompt_cached_tokens", "tokens", "passes", "tokens_per_pass", "proposed", "accepted",
    "acceptance_rate", "proposed_by_depth", "accepted_by_depth", "tokens_per_second", "prompt_tokens_per_second",
    "pass_ms_p50", "inter_token_ms_p50", "inter_token_ms_p95", "inter_token_ms_p99", "plain_ms", "rolled_back",
    "forced_proposed", "forced_accepted", "replayed", "looped", "decisions",
)  # fmt: skip
_TIMES = ("draft", "draft_prompt", "verify", "sample", "rollback")


def prepare_streams() -> None:
    """Make stdout and stderr accept any text: a closed stream drops it; unencodable characters become "?".

    Control characters are removed on a terminal: the text may be untrusted.
    """
    nowhere = Path(os.devnull)
    sys.stdin = sys.stdin or nowhere.open(encoding="utf-8")
    sys.stdout = sys.stdout or nowhere.open("w", encoding="utf-8")
    sys.stderr = sys.stderr or nowhere.open("w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")
    if sys.stdout.isatty():
        sys.stdout = cast(TextIO, TerminalStream(sys.stdout))
    if sys.stderr.isatty():
        sys.stderr = cast(TextIO, TerminalStream(sys.stderr))


def discard_output() -> None:
    """Discard buffered output to stdout; otherwise the interpreter reports an error when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def check_reports(*names: str | None) -> None:
    """Check the paths of report files before a long measurement.

    Raises:
        ValueError: the folder of a file does not exist.
    """
    for name in names:
        if name is not None and (Path(name).is_dir() or not Path(name).absolute().parent.is_dir()):
            raise ValueError(f"The report cannot be written to {name}: name a file in an existing folder.")


def write_reports(*reports: tuple[str | None, str]) -> int:
    """Write each report to its file, if one is named; returns the exit code."""
    for name, text in reports:
        if name is not None:
            try:
                Path(name).write_text(text, encoding="utf-8")
            except OSError as error:
                return fail(Problem("The report was not written", str(error), "Choose another file."))
    return 0


class ProgressLine:
    """A progress line that is rewritten in place; nothing is printed without a terminal."""

    def __init__(self) -> None:
        self._is_shown = False

    def show(self, text: str, fraction: float | None = None) -> None:
        if sys.stderr.isatty():
            self._is_shown = True
            line = text if fraction is None else f"{text}: {fraction:.0%}"
            columns = shutil.get_terminal_size().columns - 1  # a wrapped line could not be rewritten
            print(f"\r\033[K{line[:columns]}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._is_shown:
            self._is_shown = False
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def fail(problem: Problem, *, as_json: bool = False) -> int:
    """Print the problem and its advice; returns 1, the exit code."""
    problem = problem_for_terminal(problem)
    write_styled(sys.stderr, f"paceline: {problem.title}:", Style.BAD)
    print(f" {problem.message} {problem.advice}", file=sys.stderr)
    if as_json:
        print_json({"error": problem})
    return 1


def print_json(facts: object) -> None:
    """Print one line of JSON; records become objects with their fields."""
    print(json.dumps(facts, ensure_ascii=False, default=_fields))


def _fields(value: Any) -> object:  # noqa: ANN401 (any record)
    if is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    return value.isoformat() if isinstance(value, datetime) else str(value)


def notify(notice: str) -> None:
    write_styled(sys.stderr, "paceline:", Style.WARN)
    print(f" {for_terminal(notice)}", file=sys.stderr)


def print_notices(ready: EngineReady, *more: str) -> None:
    for notice in dict.fromkeys((*ready.notices, *more, *ready.library_notices)):
        notify(notice)


def warn(problem: Problem) -> None:
    """Print a problem that does not end the command."""
    notify(f"{problem.title}. {problem.message} {problem.advice}")


def run_as_dict(text: str, finished: Finished) -> dict[str, object]:
    """One run as the JSON object of `paceline run --json`. All keys are present; None if a value does not apply."""
    stats = finished.stats
    return {
        "text": text,
        "token_ids": finished.token_ids,
        "finish_reason": finished.reason.value,
        "mode": stats.mode.value,
        **{name: getattr(stats, name) for name in _STATS_FIELDS},
        "seconds": stats.decode_s if stats.tokens else None,
        "time_to_first_token_ms": _ms(stats.time_to_first_token_s),
        "speedup": answer_verdict(stats).speedup,
        **{f"{part}_ms": _ms(getattr(stats, f"{part}_s")) for part in _TIMES},
        "provenance": {source.value: stats.provenance.get(source, 0) for source in Source},
    }


def metrics_line(stats: RunStats, reason: FinishReason | None = None) -> str:
    """One line of metrics; unknown values are dashes."""

    def number(value: float | None, digits: int = 1) -> str:
        return "-" if value is None else f"{value:.{digits}f}"

    speedup, share = answer_verdict(stats).speedup, stats.acceptance_rate
    parts = [
        f"{number(stats.tokens_per_second)} tok/s",
        *([] if speedup is None else [f"{speedup:.2f}x plain"]),
        f"{number(stats.tokens_per_pass, 2)} tokens per pass",
        "none proposed" if share is None else f"{share:.0%} of {stats.proposed} proposed accepted",
        f"{counted_text(stats.tokens, 'token', 'tokens')} in {counted_text(stats.passes, 'pass', 'passes')}",
        f"first after {number(_ms(stats.time_to_first_token_s))} ms",
        stats.mode.value if stats.depth == 0 or stats.mode is Mode.AUTO else f"{stats.mode.value}, depth {stats.depth}",
    ]
    if reason is not None and reason is not FinishReason.END:
        why = "ended because the model repeated itself (see --repeat-penalty)"
        parts.append(why if reason is FinishReason.LOOP else f"ended by {reason.value}")
    return " · ".join(parts)


def table(rows: Iterable[Sequence[str]], numbers_from: int | None = None) -> str:
    """Align columns; those from ``numbers_from`` on are right-aligned."""
    lines = [tuple(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    left = len(widths) if numbers_from is None else numbers_from
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


@contextmanager
def option_errors(title: str, advice: str) -> Iterator[None]:
    """Raise an `AppError` with this title for an invalid value, or a file that cannot be read."""
    try:
        yield
    except PacelineError:  # some are a `ValueError`, too
        raise
    except (OSError, ValueError) as failure:
        error = AppError(str(failure), advice)
        if isinstance(failure, UnicodeDecodeError):
            error = AppError("The text is not UTF-8.", "Save it as UTF-8.")
        elif isinstance(failure, OSError):
            reason = f"{failure.filename or 'A file'} cannot be opened: {failure.strerror or failure}."
            error = AppError(reason, "Check the path.")
        error.title = title
        raise error from failure


def counted_text(number: int, one: str, many: str) -> str:
    """A number with its noun: ``1 token``, ``2,300 tokens``."""
    return f"{number:,} {one if number == 1 else many}"


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1000.0


def size_words(size_bytes: int | None) -> str:
    """A size for people; a dash if it is unknown."""
    if size_bytes is None:
        return "-"
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size_bytes >= factor:
            return f"{size_bytes / factor:.1f} {unit}"
    return f"{size_bytes} B"


def for_terminal(text: str) -> str:
    if not isinstance(text, Sentence):
        return TERMINAL_WORDS.get(text, text)
    fields = {name: for_terminal(value) if isinstance(value, str) else value for name, value in text.fields.items()}
    return i18n(TERMINAL_WORDS.get(text.template, text.template), **fields)


def problem_for_terminal(problem: Problem) -> Problem:
    title, message, advice = (for_terminal(text) for text in (problem.title, problem.message, problem.advice))
    return replace(problem, title=title, message=message, advice=advice)
