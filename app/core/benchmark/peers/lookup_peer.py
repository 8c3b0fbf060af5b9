"""llama-cpp-python's prompt lookup as a peer: a child process for each configuration, JSON lines both ways.

The package samples with the temperature after the truncation, and that cannot be changed; an end token that is to be
ignored is drawn there and passed over.
"""

from __future__ import annotations

import json
import queue
import re
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import engine
from app.core.benchmark.peers.llama_server import ANSWER_S, READY_S
from app.core.benchmark.peers.process import PeerProcess
from app.core.benchmark.runs import MeasuredAnswer, Question, Variant
from app.core.domain.errors import PeerError
from engine.records import EngineReady, LoadRequest, Mode, RunStats

ENGINE = "llama-cpp-python"
CONFIGS = ("plain", "lookup-2", "lookup-10")  # 2 and 10 are what its documentation names for CPUs and in general
_LOOKUP = re.compile(r"lookup-(\d+)")


class LookupProcess:
    """One child process that answers questions, and may be gone at any time."""

    def __init__(self, config: str, command: Sequence[str]) -> None:
        """Start it.

        Raises:
            PeerError: it cannot be started.
        """
        root = str(Path(engine.__file__).resolve().parent.parent)
        self._name = f"{ENGINE} ({config})"
        self._process = PeerProcess(self._name, command, piped=True, path=root)
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._reader = threading.Thread(target=self._read, name=f"peer-{config}", daemon=True)
        self._reader.start()

    def wait_ready(self, within_s: float = READY_S) -> None:
        """Wait for the first line.

        Raises:
            PeerError: it ended, or was not ready in time.
        """
        self._next_line("starting", within_s)

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """One answer.

        Raises:
            PeerError: it is gone, or took too long.
        """
        stdin = self._process.process.stdin
        if stdin is None:
            raise RuntimeError("the peer was started without pipes")
        try:
            stdin.write(json.dumps(question).encode() + b"\n")
            stdin.flush()
        except OSError as error:
            raise self._process.death("being asked") from error
        return self._next_line("answering", ANSWER_S)

    def end(self) -> None:
        """End the process."""
        self._process.stop()
        self._reader.join()
        self._process.end()

    def _next_line(self, while_doing: str, within_s: float) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=within_s)
        except queue.Empty:
            raise PeerError(f"{self._name} did not get done within {within_s:.0f} seconds.") from None
        if not line:
            self._process.wait_end()
            raise self._process.death(while_doing)
        record: dict[str, Any] = json.loads(line)
        return record

    def _read(self) -> None:
        stdout = self._process.process.stdout
        for line in stdout or ():
            self._lines.put(line)
        self._lines.put(b"")


class LookupPeer:
    """All configurations, each in a process of its own."""

    def __init__(self, load: LoadRequest, ready: EngineReady, configs: Sequence[str]) -> None:
        """Start and wait for all; ``configs`` empty means `CONFIGS`.

        Raises:
            PeerError: a configuration is unknown, or a process does not come up.
        """
        if getattr(sys, "frozen", False):
            raise PeerError(f"{ENGINE} needs a Python of its own, which a packaged Paceline does not have.")
        if load.placement.facts:
            raise PeerError(f"{ENGINE} takes no devices, splits or overrides: it would run elsewhere than the target.")
        self._processes: dict[str, LookupProcess] = {}
        lengths = {config: _length(config) for config in configs or CONFIGS}
        try:
            for config, length in lengths.items():
                self._processes[config] = LookupProcess(config, _command(load, ready, length))
            for process in self._processes.values():
                process.wait_ready()
        except BaseException:  # Ctrl+C too: nothing may stay behind
            self.close()
            raise

    @property
    def variants(self) -> Sequence[Variant]:
        """One for each configuration."""
        return [Variant(name, None, ENGINE) for name in self._processes]

    def begin_round(self) -> None:
        """Nothing is kept between answers."""

    def prepare(self, question: Question) -> None:
        """Nothing: the child reads the prompt before its clock starts."""

    def answer(self, variant: Variant, question: Question) -> MeasuredAnswer:
        """Ask the process of this configuration.

        Raises:
            PeerError: it failed.
        """
        sampling = question.sampling
        answer = self._processes[variant.mode].ask(
            {
                "ids": list(question.ids),
                "max_tokens": question.max_tokens,
                "ignore_eos": question.ignore_eos,
                "seed": sampling.seed,
                "sampling": {
                    "temp": sampling.temperature,
                    "top_k": sampling.top_k,
                    "top_p": sampling.top_p,
                    "min_p": sampling.min_p,
                    "repeat_penalty": sampling.repeat_penalty,
                    "frequency_penalty": sampling.frequency_penalty,
                    "presence_penalty": sampling.presence_penalty,
                },
            }
        )
        ids, passes = tuple(answer["token_ids"]), int(answer["passes"])
        stats = RunStats(
            mode=Mode.OFF,
            tokens=len(ids),
            passes=passes,
            proposed=int(answer["proposed"]),
            accepted=len(ids) - passes,
            decode_s=float(answer["seconds"]),
        )
        return MeasuredAnswer(stats, ids, stats.decode_s)

    def close(self) -> None:
        """End every process."""
        while self._processes:
            self._processes.popitem()[1].end()


def understands(config: str) -> bool:
    """Whether this peer has such a configuration."""
    return config == "plain" or _LOOKUP.fullmatch(config) is not None


def _length(config: str) -> int:
    found = _LOOKUP.fullmatch(config)
    if found is None and config != "plain":
        raise PeerError(f"{ENGINE} cannot run as {config}: it knows plain and lookup-N.")
    return int(found[1]) if found else 0


def _command(load: LoadRequest, ready: EngineReady, lookup: int) -> list[str]:
    settings = {
        "target": ready.target.path,
        "n_ctx": ready.target.n_ctx,
        "threads": ready.target.threads,
        "gpu_layers": ready.target.gpu_layers,
        "cache_type": load.cache_type.value,
        "flash_attention": ready.target.flash_attention.value,
        "lookup": lookup,
    }
    # -P: a stray file in the current folder must not be imported.
    return [sys.executable, "-P", "-m", "engine.llama.lookup_peer", json.dumps(settings)]
