"""The peer of a benchmark: llama.cpp's server.

Each configuration of the server is a process, used over HTTP on this machine. It gets our prompt ids and our sampling
chain. Its speed is what it reports (tokens after the first over the time since the first), which excludes prompt
processing as ours does.
"""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from app.core.benchmark.runs import MeasuredAnswer, Question, Variant
from app.core.domain.errors import PeerError
from app.core.remote.client import RemoteClient
from app.core.remote.errors import RemoteError
from engine.gguf.head_files import DFLASH, DSPARK, EAGLE3, MTP
from engine.records import EngineReady, LoadRequest, Mode, Placement, RunStats, SplitMode
from engine.sandbox.helper import creation_flags

ENGINE = "llama-server"
HOST = "127.0.0.1"
READY_S = 120.0  # time limit for loading the models
END_S = 5.0  # seconds between terminating and killing a process
_POLL_S = 0.05
_NGRAMS = ("ngram-simple", "ngram-mod")
_LEARNING = "ngram-mod"  # reuses text of earlier answers, so it is restarted for each round
DRAFT_LENGTHS = (3, 7)
# The server's names of our head kinds.
_HEAD_KINDS = {MTP: "draft-mtp", EAGLE3: "draft-eagle3", DFLASH: "draft-dflash", DSPARK: "draft-dspark"}
_CHAIN = ["penalties", "temperature", "top_k", "top_p", "min_p"]  # our samplers, in our order
# Variables that our window sets for its threads; a peer should run with its own defaults.
_THREAD_VARIABLES = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
_HIDDEN_OPTIONS = "LLAMA_ARG_"
_PR_SET_PDEATHSIG = 1  # from Linux's <sys/prctl.h>


class PeerProcess:
    """One running peer in a clean environment. Its output goes to a file that is read only if the process dies."""

    def __init__(self, name: str, command: Sequence[str]) -> None:
        """Start ``command``.

        Raises:
            PeerError: the process cannot be started.
        """
        self._name = name
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  (closed by `end`)
        try:
            self.process = subprocess.Popen(  # noqa: S603  (the program that the person named)
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                env=_environment(os.environ),
                creationflags=creation_flags(),
                start_new_session=os.name == "posix",  # Ctrl+C reaches only this process, which ends the peer
                preexec_fn=_die_with_parent(),  # noqa: PLW1509  (a single call of the system)
            )
        except OSError as error:
            self._log.close()
            raise PeerError(f"{name} could not be started from {command[0]}: {error.strerror}.") from error

    @property
    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def error(self, reason: str) -> PeerError:
        """The error of this peer; if the process has ended, with its exit status and last line of output."""
        if not self.has_ended:
            return PeerError(f"{self._name}: {reason}")
        said = self.last_line()
        return PeerError(f"{self._name} ended with status {self.process.poll()}{f'; it said: {said}' if said else ''}.")

    def last_line(self) -> str:
        """The last line of the output; empty if there is none."""
        self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - 4096))
        lines = [line.strip() for line in self._log.read().decode("utf-8", "replace").splitlines()]
        return next((line for line in reversed(lines) if line), "")[:300].rstrip(".")

    def end(self) -> None:
        """Terminate the process, then kill it if it does not end."""
        for ask in (self.process.terminate, self.process.kill):
            if self.has_ended:
                break
            ask()
            try:
                self.process.wait(END_S)
            except subprocess.TimeoutExpired:
                continue
        self._log.close()


def _die_with_parent() -> Callable[[], object] | None:
    """Let Linux end the peer when the thread that started it ends, even if the benchmark is killed."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM))


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without our thread settings and the variables that set options of llama-server."""
    own = _THREAD_VARIABLES
    return {name: value for name, value in environ.items() if name not in own and not name.startswith(_HIDDEN_OPTIONS)}


class LlamaServerPeer:
    """All configurations of the server: ``plain``, ``draft-3`` and so on with a draft or head, and n-grams.

    Idle processes take memory but no time.
    """

    def __init__(self, path: str, load: LoadRequest, ready: EngineReady) -> None:
        """Start all servers and wait for them.

        Raises:
            PeerError: the program is missing, or a server does not start.
        """
        if not Path(path).is_file():
            raise PeerError(f"There is no {ENGINE} at {path}.")
        shared, draft = [str(Path(path).resolve()), *_target_options(load, ready)], _draft_options(load, ready)
        self._commands = {"plain": shared}
        for length in DRAFT_LENGTHS if draft else ():
            self._commands[f"draft-{length}"] = [*shared, *draft, "--spec-draft-n-max", str(length)]
        self._commands |= {name: [*shared, "--spec-type", name] for name in _NGRAMS}
        self._servers: dict[str, tuple[PeerProcess, RemoteClient]] = {}
        self._start(self._commands)

    @property
    def variants(self) -> Sequence[Variant]:
        return [Variant(name, None, ENGINE) for name in self._commands]

    def begin_round(self) -> None:
        """Restart the server that learns from earlier answers.

        Raises:
            PeerError: it does not start again.
        """
        self._servers.pop(_LEARNING)[0].end()
        self._start([_LEARNING])

    def prepare(self, question: Question) -> None:
        """Nothing to do: the time that a server reports starts after the prompt."""

    def answer(self, variant: Variant, question: Question) -> MeasuredAnswer:
        """Ask the server of this configuration.

        Raises:
            PeerError: the server refused, is gone, or reports no timings.
        """
        process, client = self._servers[variant.mode]
        try:
            with client.answer("/completion", completion(question)) as answers:
                return read_answer(next(answers, {}))
        except RemoteError as error:
            raise process.error(error.message) from error
        except (LookupError, TypeError, ValueError) as error:
            raise process.error(f"an answer without timings ({error!r}).") from error

    def close(self) -> None:
        while self._servers:
            self._servers.popitem()[1][0].end()

    def _start(self, names: Iterable[str]) -> None:
        names = list(names)
        try:
            for name, port in zip(names, free_ports(len(names)), strict=True):
                process = PeerProcess(f"{ENGINE} ({name})", [*self._commands[name], "--port", str(port)])
                self._servers[name] = process, RemoteClient(f"http://{HOST}:{port}")
            for name in names:
                _wait_ready(*self._servers[name])
        except BaseException:  # also Ctrl+C: end the processes that were started
            self.close()
            raise


def _wait_ready(process: PeerProcess, client: RemoteClient) -> None:
    until = time.monotonic() + READY_S
    while True:
        try:
            client.json("/health")
        except RemoteError as error:
            if process.has_ended or time.monotonic() >= until:
                raise process.error("it was not ready in time.") from error
            time.sleep(_POLL_S)
        else:
            return


def completion(question: Question) -> dict[str, Any]:
    """The body of ``/completion``: our prompt ids, and our sampling chain in the same order."""
    sampling = question.sampling
    return {
        "prompt": list(question.ids),
        "n_predict": question.max_tokens,
        "ignore_eos": question.ignore_eos,
        "samplers": _CHAIN,
        "temperature": sampling.temperature,
        "top_k": sampling.top_k,
        "top_p": sampling.top_p,
        "min_p": sampling.min_p,
        "repeat_penalty": sampling.repeat_penalty,
        "repeat_last_n": sampling.penalty_last_n,
        "frequency_penalty": sampling.frequency_penalty,
        "presence_penalty": sampling.presence_penalty,
        "seed": -1 if sampling.seed is None else sampling.seed % 2**32,
        "cache_prompt": True,
        "return_tokens": True,
        "stream": False,
    }


def read_answer(answer: Mapping[str, Any]) -> MeasuredAnswer:
    """Read a completion with its timings.

    Raises:
        LookupError, TypeError, ValueError: the timings are missing or malformed.
    """
    timings = answer["timings"]
    tokens = max(int(timings["predicted_n"]) - 1, 0)
    proposed, accepted = int(timings.get("draft_n", 0)), int(timings.get("draft_n_accepted", 0))
    stats = RunStats(
        mode=Mode.OFF,
        tokens=tokens,
        passes=tokens - accepted,
        proposed=proposed,
        accepted=accepted,
        decode_s=float(timings["predicted_ms"]) / 1000.0 if tokens else 0.0,
    )
    return stats, tuple(int(token) for token in answer.get("tokens", ()))


def free_ports(count: int) -> list[int]:
    """Different free ports of this machine."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for listener in sockets:
            listener.bind((HOST, 0))
        return [int(listener.getsockname()[1]) for listener in sockets]


def _target_options(load: LoadRequest, ready: EngineReady) -> list[str]:
    target = ready.target
    return [
        *("--model", target.path, "--host", HOST, "--ctx-size", str(target.n_ctx), "--parallel", "1"),
        *("--threads", str(target.threads), "--threads-batch", str(target.threads)),
        *("--n-gpu-layers", str(target.gpu_layers), "--flash-attn", target.flash_attention.value),
        *("--cache-type-k", load.cache_type.value, "--cache-type-v", load.cache_type.value, "--cache-ram", "0"),
        *_placement_options(target.placement),
    ]


def _placement_options(placement: Placement) -> list[str]:
    """Server options for the same devices and splits."""
    words: list[str] = []
    if placement.devices:
        words += ["--device", ",".join(placement.devices)]
    if placement.split_mode is not SplitMode.LAYER:
        words += ["--split-mode", placement.split_mode.value]
    if placement.tensor_split:
        words += ["--tensor-split", ",".join(f"{share:g}" for share in placement.tensor_split)]
    if placement.cpu_moe_layers:
        words += ["--n-cpu-moe", str(placement.cpu_moe_layers)]
    return words


def _draft_options(load: LoadRequest, ready: EngineReady) -> list[str]:
    """Server options for the same drafter; empty if there is none. A head in the target's file has no file."""
    drafter = ready.draft or ready.own_head
    if drafter is None:
        return []
    kind = load.draft_cache_type.value
    return [
        *("--spec-type", _HEAD_KINDS.get(drafter.head_method, "draft-simple")),
        *(("--spec-draft-model", drafter.path) if ready.draft is not None else ()),
        *("--spec-draft-threads", str(drafter.threads), "--spec-draft-ngl", str(drafter.gpu_layers)),
        *("--spec-draft-type-k", kind, "--spec-draft-type-v", kind),
    ]
