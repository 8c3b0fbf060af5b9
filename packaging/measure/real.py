"""Measures `auto` on real models, compared with plain decoding, fixed settings and llama.cpp's server.

    python packaging/measure/real.py --target T.gguf --draft D.gguf [--peer llama-server=PATH] --markdown OUT
    python packaging/measure/real.py --target T.gguf --no-draft --minutes 30

It can be stopped at any answer (Ctrl+C, kill, `--minutes`). The same command then continues, since every answer is
stored in the state file, together with measurements of the engine. There are two stages: `scan` tries all settings once
on a few prompts of each kind; `final` runs plain decoding, `auto` and the scan's best settings of each side, at each
temperature, on more prompts in several rounds. Answers of the scan do not count in the final, so a setting gains
nothing from luck in the scan. With a draft, `auto` also runs without it, in a second session on the same target,
alternating with the others.

Exit status: 0 if all is measured, 3 if the time was over earlier, 130 after Ctrl+C.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from app.cli.bench import measure, report_stop, settings_of, sigterm_as_interrupt
from app.cli.output import fail, notify
from app.cli.run import open_session
from app.core.benchmark.journal import Journal, facts_in_common, program_facts
from app.core.benchmark.markdown import as_markdown
from app.core.benchmark.peers import llama_server
from app.core.benchmark.peers.opening import NO_DRAFT, PeerRequest, open_peers, read_peer_requests
from app.core.benchmark.prompts import BenchmarkPrompt, distinct, read_prompts
from app.core.benchmark.ratios import ratio_of
from app.core.benchmark.report import Report, make_report
from app.core.benchmark.runner import OwnEngine, Runner, make_variants
from app.core.benchmark.runs import (
    AUTO,
    NO_DRAFT_AUTO,
    OWN_ENGINE,
    PLAIN,
    BenchmarkPlan,
    BenchmarkRun,
    Contestant,
    MeasuredAnswer,
    Question,
    Variant,
)
from app.core.domain.errors import PeerError
from app.core.paths import HOME_VARIABLE
from engine.errors import EngineError
from engine.llama.library import library_notices
from engine.records import EngineReady, LoadRequest, Mode, Problem, SamplingParams

ROOT = Path(__file__).resolve().parents[2]
WORKLOADS = ROOT / "assets" / "workloads"
STATES = ROOT / "build" / "bench-real"
MODES = (Mode.AUTO, Mode.NGRAM, Mode.SUFFIX, Mode.DRAFT, Mode.HEAD)
DEPTHS = (None, 1, 3, 7, 15)
TEXT_CONFIGS = ("plain", "ngram-simple", "ngram-mod", "ngram-map-k")  # the server's configurations without a draft
DRAFT_CONFIGS = ("draft-1", "draft-3", "draft-7", "draft-3+ngram-simple")
SCAN, FINAL = "scan", "final"
PER_KIND = {SCAN: 3, FINAL: 10}
BEST = 2  # number of the best settings of each side in the final
TIME_OVER = 3
SERVER_PLAIN = Variant("plain", None, llama_server.ENGINE)


class LazyPeer:
    """A peer that is opened in its first round; its ``variants`` are known earlier."""

    def __init__(self, variants: Sequence[Variant], open_peer: Callable[[], Contestant]) -> None:
        self.variants = tuple(variants)
        self._open = open_peer
        self._opened: list[Contestant] = []

    def begin_round(self) -> None:
        """Open the peer in the first round; in later rounds, clear its caches."""
        if self._opened:
            self._opened[0].begin_round()
        else:
            self._opened.append(self._open())

    def prepare(self, question: Question) -> None:
        """See `Contestant`."""
        self._opened[0].prepare(question)

    def answer(self, variant: Variant, question: Question) -> MeasuredAnswer:
        """See `Contestant`."""
        return self._opened[0].answer(variant, question)


@dataclass(frozen=True)
class Stage:
    """The prompts and settings of a stage. ``configs`` are the server's."""

    name: str
    prompts: list[BenchmarkPrompt]
    plan: BenchmarkPlan
    configs: tuple[str, ...]


@dataclass(frozen=True)
class Bench:
    """Open resources of both stages."""

    load: LoadRequest
    ready: EngineReady
    own: OwnEngine
    server: PeerRequest | None
    journal: Journal
    deadline: float  # on the clock of `time.monotonic`


@dataclass(frozen=True)
class Done:
    """The progress of a stage."""

    report: Report
    runs: list[BenchmarkRun]
    status: int

    @property
    def is_whole(self) -> bool:
        """Whether the whole stage was measured."""
        return self.status == 0


def main() -> int:
    """Open the state, run the stages, and write the results so far."""
    options = read_options()
    deadline = time.monotonic() + options.minutes * 60.0
    state = options.state or default_state(options)
    open_home(state)
    plan = BenchmarkPlan(tuple(options.temperature), SamplingParams(seed=0), options.max_tokens)
    load = LoadRequest(options.target, options.draft, options.ctx)
    try:
        server = server_of(options)
        facts = facts_in_common(load, plan) | ({server.name: program_facts(server.path)} if server else {})
        prompts = {name: read_workload(options, name) for name in (SCAN, FINAL)}
        journal = Journal(state, facts)
    except (ValueError, OSError) as error:
        return fail(Problem("This cannot be measured", f"{str(error).rstrip('.')}.", "Change the option or the file."))
    try:
        with sigterm_as_interrupt(), ExitStack() as stack:
            stack.callback(journal.close)
            session = open_session()
            stack.callback(session.close)
            ready = session.load(load)
            for notice in (*ready.notices, *library_notices()):
                notify(notice)
            session.measure()
            own = OwnEngine(session, make_variants(MODES, DEPTHS, set(ready.unavailable)))
            bench = Bench(load, ready, own, server, journal, deadline)
            done = run_stages(bench, plan, prompts, options)
    except (EngineError, PeerError, OSError, KeyboardInterrupt) as error:
        return report_stop(error)
    write(done, options)
    return next((one.status for one in done.values() if one.status), 0)


def run_stages(
    bench: Bench, plan: BenchmarkPlan, prompts: dict[str, list[BenchmarkPrompt]], options: argparse.Namespace
) -> dict[str, Done]:
    """Run the requested stages. The final needs a complete scan."""
    scan = Stage(SCAN, prompts[SCAN], plan, configs_of(bench))
    done = {SCAN: run_stage(bench if options.stage != FINAL else replace(bench, deadline=0.0), scan)}
    if options.stage == SCAN:
        return done
    if not done[SCAN].is_whole:
        if options.stage == FINAL:
            print("The final needs a whole scan: --stage scan goes on with it.", file=sys.stderr)
        return done
    chosen = {temperature: choose(done[SCAN].runs, temperature) for temperature in plan.temperatures}
    for temperature, variants in chosen.items():
        print(f"T = {temperature:g}: {', '.join(variant.label for variant in variants)}", file=sys.stderr)
    configs = [one.mode for variants in chosen.values() for one in variants if one.engine == llama_server.ENGINE]
    # Other round numbers than the scan's, which gives other seeds and no stored answers.
    plan = replace(plan, repeat=options.rounds, first_round=1, only=chosen)
    done[FINAL] = run_stage(bench, Stage(FINAL, prompts[FINAL], plan, tuple(dict.fromkeys(configs))))
    return done


def run_stage(bench: Bench, stage: Stage) -> Done:
    """Measure the answers that the state lacks, until the deadline."""
    minutes = max(bench.deadline - time.monotonic(), 0.0) / 60.0
    plan = replace(stage.plan, max_minutes=minutes)
    with ExitStack() as stack:
        runner = Runner(bench.own, lazy_peers(bench, stage.configs, stack), stage.prompts, plan, journal=bench.journal)
        total = runner.runs_per_round * plan.repeat
        status = measure(runner) or (TIME_OVER if runner.out_of_time else 0)
    print(f"{stage.name}: {len(runner.runs)} of {total} answers", file=sys.stderr)
    settings = {**settings_of(runner, replace(plan, max_minutes=None), stage.prompts), "answers_in_all": total}
    return Done(make_report(bench.ready, settings, runner.runs), runner.runs, status)


def lazy_peers(bench: Bench, configs: tuple[str, ...], stack: ExitStack) -> list[LazyPeer]:
    """The server with these configurations, and `auto` without the draft; each starts at its first question."""

    def lazy(variants: Sequence[Variant], peer: PeerRequest) -> LazyPeer:
        return LazyPeer(variants, lambda: open_peers([peer], bench.load, bench.ready, stack)[0])

    peers = []
    if bench.server is not None and configs:
        variants = [Variant(config, None, llama_server.ENGINE) for config in configs]
        peers.append(lazy(variants, replace(bench.server, configs=configs)))
    if bench.ready.draft is not None:
        peers.append(lazy([NO_DRAFT_AUTO], PeerRequest(NO_DRAFT)))
    return peers


def configs_of(bench: Bench) -> tuple[str, ...]:
    """All configurations of the server in the scan."""
    if bench.server is None:
        return ()
    return (*TEXT_CONFIGS, *(DRAFT_CONFIGS if bench.ready.draft is not None else ()))


def choose(runs: Sequence[BenchmarkRun], temperature: float) -> tuple[Variant, ...]:
    """Plain decoding and `auto` of each side, and the best of our modes, our fixed depths and the server's settings."""
    same = [run for run in runs if run.temperature == temperature]
    variants = list(dict.fromkeys(run.variant for run in same))
    ratios = {variant: ratio_of(same, variant, PLAIN) for variant in variants}
    ranked = sorted(variants, key=lambda one: ratio.value if (ratio := ratios[one]) else 0.0, reverse=True)
    ours = [one for one in ranked if one.engine == OWN_ENGINE and one not in (PLAIN, AUTO)]
    fixed = [one for one in ours if one.depth is not None]
    theirs = [one for one in ranked if one.engine == llama_server.ENGINE]
    wanted = {PLAIN, AUTO, NO_DRAFT_AUTO, SERVER_PLAIN, *ours[:BEST], *fixed[:BEST], *theirs[:BEST]}
    return tuple(variant for variant in variants if variant in wanted)


def server_of(options: argparse.Namespace) -> PeerRequest | None:
    """The server from the command line.

    Raises:
        ValueError: the argument is invalid.
    """
    peers = read_peer_requests(options.peer, ())
    if any(peer.name != llama_server.ENGINE for peer in peers) or len(peers) > 1:
        raise ValueError(f"--peer can only be {llama_server.ENGINE}=PATH, once.")
    return peers[0] if peers else None


def read_workload(options: argparse.Namespace, stage: str) -> list[BenchmarkPrompt]:
    """Read the first prompts of each kind.

    Raises:
        ValueError: there are no prompts, or a kind is unknown.
        OSError: a file cannot be read.
    """
    folder = options.prompts or next(
        folder for folder in (WORKLOADS / "real", WORKLOADS) if any(folder.glob("*.jsonl"))
    )
    found: dict[str, list[BenchmarkPrompt]] = {}
    for prompt in distinct(prompt for file in sorted(folder.glob("*.jsonl")) for prompt in read_prompts(file)):
        found.setdefault(prompt.category, []).append(prompt)
    kinds = options.kinds or list(found)
    unknown = [kind for kind in kinds if kind not in found]
    if unknown:
        raise ValueError(f"There are no prompts of the kind {' or '.join(unknown)}; there are {', '.join(found)}.")
    count = options.per_kind or PER_KIND[stage]
    return [prompt for kind in kinds for prompt in found[kind][:count]]


def default_state(options: argparse.Namespace) -> Path:
    """Path of the state file for these models."""
    names = [Path(name).stem for name in (options.target, options.draft) if name]
    return STATES / f"{'+'.join(names)}.jsonl"


def open_home(state: Path) -> None:
    """Use a separate home for the engine, stored with the state, so that earlier measurements have no influence."""
    home = state.with_suffix(".home")
    if not state.exists() and home.exists():
        shutil.rmtree(home)
    home.mkdir(parents=True, exist_ok=True)
    os.environ[HOME_VARIABLE] = str(home)


def write(done: dict[str, Done], options: argparse.Namespace) -> None:
    """Write the reports, the final first, with a note on incomplete stages."""
    parts = []
    for name in (FINAL, SCAN):
        if name in done and done[name].runs:
            whole = "" if done[name].is_whole else " (not whole)"
            parts.append(as_markdown(done[name].report, f"Benchmark on real models: {name}{whole}"))
    text = "\n".join(parts).rstrip() + "\n"
    print(text)
    for out in filter(None, (options.markdown, options.json)):
        out.parent.mkdir(parents=True, exist_ok=True)
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")
    if options.json:
        reports = {name: {"whole": one.is_whole, **one.report.as_dict()} for name, one in done.items()}
        options.json.write_text(json.dumps(reports, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", required=True, metavar="T.gguf")
    draft = parser.add_mutually_exclusive_group(required=True)
    draft.add_argument("--draft", metavar="D.gguf")
    draft.add_argument("--no-draft", action="store_true")
    parser.add_argument("--peer", action="append", default=[], metavar="llama-server=PATH")
    parser.add_argument("--stage", choices=(SCAN, FINAL, "all"), default="all")
    parser.add_argument("--temperature", type=numbers, default=[0.0, 0.8], metavar="T,T")
    parser.add_argument("--prompts", type=Path, metavar="DIR", help="of JSONL files; default assets/workloads/real")
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=[], metavar="K,K", help="default: all")
    parser.add_argument("--per-kind", type=int, metavar="N", help="prompts of each kind; default 3 and 10")
    parser.add_argument("--rounds", type=int, default=3, help="of the final")
    parser.add_argument("--max-tokens", type=int, default=128)
    parser.add_argument("--ctx", type=int, default=4096)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so many, to be continued")
    parser.add_argument("--state", type=Path, metavar="FILE", help=f"default: a file in {STATES.relative_to(ROOT)}")
    parser.add_argument("--markdown", type=Path, metavar="OUT")
    parser.add_argument("--json", type=Path, metavar="OUT")
    return parser.parse_args()


def numbers(text: str) -> list[float]:
    """Parse comma-separated numbers."""
    return [float(word) for word in text.split(",")]


if __name__ == "__main__":
    sys.exit(main())
