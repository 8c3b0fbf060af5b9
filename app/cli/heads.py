"""`paceline heads train`: Hydra heads for a model of one's own, from chats and texts, and what they gain here."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from app.cli.output import INTERRUPTED, ProgressLine, counted, fail, notify
from app.cli.run import open_session
from app.core.benchmark.own_engine import OwnEngine, make_variants
from app.core.benchmark.prompts import BenchmarkPrompt
from app.core.benchmark.ratios import Ratio, ratio_of
from app.core.benchmark.runner import BenchmarkPlan, Runner
from app.core.benchmark.runs import AUTO, PLAIN, Variant
from app.core.domain.errors import AppError
from app.core.hub.opening import open_library
from app.core.paths import find_paths
from app.core.storage.exchange.plain_texts import texts_in
from engine.errors import EngineError, ToolError
from engine.heads.training.run import USUAL_TOKENS, Readings, measured_speed_forecast, read_texts
from engine.heads.training.samples import HELD_OUT
from engine.heads.training.speedup import SURE, HeadSpeedup, Proposals
from engine.heads.training.trainer import Curve, Trainer, TrainingPlan
from engine.records import LoadRequest, Mode, Problem, SamplingParams
from engine.sandbox.probe import probe
from engine.sentences import said

_CHECK_TOKENS = 96  # of each answer of the check
_HEAD = Variant(Mode.HEAD.value)


def command(options: argparse.Namespace) -> int:
    """Read, train, judge; exit code 0 once the file is written, whether or not it pays."""
    line = ProgressLine()
    try:
        report = _train(options, line)
    except (AppError, EngineError) as error:
        line.end()
        return fail(error.problem, as_json=options.json)
    except OSError as error:
        line.end()
        reason = f"{error.filename or options.out}: {error.strerror or error}."
        return fail(Problem("The training cannot be kept", reason, "Check the folder and the free space."))
    except KeyboardInterrupt:
        line.end()
        notify("the same command goes on where this one was stopped.")
        return INTERRUPTED
    if options.json:
        print(json.dumps(report, ensure_ascii=False))
    return 0


def _train(options: argparse.Namespace, line: ProgressLine) -> dict[str, object]:
    out, target = _checked_out(options.out), _target(options.model)
    folder = out.with_name(f"{out.name}.training")
    texts = texts_in([Path(name).expanduser() for name in options.chats])
    probe(target, find_paths().cache)
    readings = read_texts(target, texts, folder, lambda share: line.show(said("reading the texts"), share))
    line.end()
    say = _Sayer(quiet=options.json)
    say(f"{counted(len(readings.texts), 'text', 'texts')} read: {readings.num_rows:,} tokens to learn from.")
    plan = TrainingPlan(options.heads, options.vocabulary, options.minutes * 60.0, options.every * 60.0)
    trainer = Trainer(target, folder, readings.found, plan)
    for point in trainer.curve:
        say(_of_point(point))

    def on_look(point: Curve) -> None:
        line.end()
        say(_of_point(point))

    trainer.run(lambda share: line.show(said("training"), share), on_look)
    line.end()
    if trainer.has_read_enough:
        say(f"Every text was read {plan.passes:.0f} times. More minutes would not help, more texts would.")
    trainer.write(out)
    say(f"The heads are {out} ({out.stat().st_size / 1e6:.1f} MB).")
    proposals = trainer.proposals(trainer.best)
    verdict = _Verdict(proposals, measured_speed_forecast(target, out, proposals), readings.num_rows)
    say(verdict.reckoned())
    ratios = _check(target, out, readings, options.check, line) if options.check else {}
    say(verdict.advice(ratios))
    return _as_dict(out, trainer.curve, verdict, ratios)


@dataclass(frozen=True, slots=True)
class _Sayer:
    """Prints a line, but where JSON is to be the only output."""

    quiet: bool

    def __call__(self, words: str) -> None:
        if not self.quiet:
            print(words, flush=True)


def _checked_out(name: str) -> Path:
    out = Path(name).expanduser()
    if out.suffix.lower() != ".gguf" or out.is_dir() or not out.absolute().parent.is_dir():
        raise ToolError(
            said("The heads cannot be written to {name}.", name=name), "Give a name that ends in .gguf, in a folder."
        )
    return out


def _target(name: str) -> Path:
    path = Path(name).expanduser()
    return path if path.is_file() else open_library(find_paths()).find(name).path


def _of_point(point: Curve) -> str:
    right = ", ".join(f"{chance:.0%}" for chance in point.greedy)
    return f"{point.seconds / 60:.0f} min, {point.tokens:,} tokens seen: right in {right}"


# ---- the verdict ----------------------------------------------------------------------------------------------------


def _check(target: Path, heads: Path, readings: Readings, number: int, line: ProgressLine) -> dict[str, Ratio]:
    """Answer some questions of held-out chats plain, with heads alone and in auto, in turn: times plain decoding."""
    held = [text for i, text in enumerate(readings.texts) if not i % HELD_OUT and not isinstance(text, str)]
    asked = [next((i for i, one in enumerate(text) if one.role == "user"), None) for text in held]
    prompts = [
        BenchmarkPrompt(f"chat-{i}", "chat", text[: last + 1])
        for i, (text, last) in enumerate(zip(held, asked, strict=True))
        if last is not None
    ][:number]
    if not prompts:
        return {}
    plan = BenchmarkPlan((0.0,), SamplingParams(temperature=0.0, seed=1), _CHECK_TOKENS, repeat=2)
    with closing(open_session()) as session:
        ready = session.load(LoadRequest(str(target), str(heads)))
        session.measure()
        variants = make_variants([Mode.HEAD, Mode.AUTO], [None], set(ready.unavailable))
        runner = Runner(OwnEngine(session, variants), (), prompts, plan)
        answers = runner.runs_per_round * plan.repeat
        runner.on_run = lambda _run: line.show(said("answering held-out questions"), len(runner.runs) / answers)
        runner.run()
    line.end()
    found = {one.mode: ratio_of(runner.runs, replace(one), PLAIN) for one in (_HEAD, AUTO)}
    return {mode: ratio for mode, ratio in found.items() if ratio is not None}


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What the best heads propose on held-out texts, what that is worth here, and of how many tokens they learnt."""

    proposals: Proposals
    speedup: HeadSpeedup
    num_tokens: int

    def reckoned(self) -> str:
        """How often they are right, what they cost, and what both come to."""
        proposals, speedup = self.proposals, self.speedup
        often, right = proposals.when_sure(SURE)
        return (
            f"Right in {proposals.greedy[0]:.0%} (at a temperature of 0.8: {proposals.sampled[0]:.0%}); of {often:.0%} "
            f"they are more than {SURE:.0%} sure, and right in {right:.0%} of these. A step takes "
            f"{speedup.step_share:.2f} of a pass. Reckoned: {speedup.gain:.2f} times plain decoding, with "
            f"{speedup.proposed:.1f} tokens proposed a pass."
        )

    def advice(self, ratios: dict[str, Ratio]) -> str:
        """What was measured, and what follows for the user."""
        words = ""
        for mode, ratio in ratios.items():
            span = "" if ratio.low is None else f" ({ratio.low:.2f} to {ratio.high:.2f})"
            words += f"Measured on held-out chats, {mode}: {ratio.value:.2f} times plain decoding{span}.\n"
        alone = ratios[_HEAD.mode].value if _HEAD.mode in ratios else self.speedup.gain  # in auto text gains, too
        if alone > 1.0:
            return f"{words}They pay here: choose them as the draft."
        return (
            f"{words}They do not pay here. More texts help most, the model's own answers above all: these had "
            f"{self.num_tokens:,} tokens, and {USUAL_TOKENS:,} are a beginning."
        )


def _as_dict(out: Path, curve: Sequence[Curve], verdict: _Verdict, ratios: dict[str, Ratio]) -> dict[str, object]:
    proposals, speedup = verdict.proposals, verdict.speedup
    often, right = proposals.when_sure(SURE)
    return {
        "path": str(out),
        "bytes": out.stat().st_size,
        "tokens_seen": curve[-1].tokens,
        "right": list(proposals.greedy),
        "kept_at_0.8": list(proposals.sampled),
        "sure": {"above": SURE, "share": often, "right": right},
        "step_share": speedup.step_share,
        "reckoned": {"proposed": speedup.proposed, "gain": speedup.gain},
        "measured": {mode: {"speedup": one.value, "low": one.low, "high": one.high} for mode, one in ratios.items()},
        "curve": [{"tokens": one.tokens, "minutes": one.seconds / 60, "right": list(one.greedy)} for one in curve],
    }
