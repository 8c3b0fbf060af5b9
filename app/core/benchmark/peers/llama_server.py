"""llama.cpp's server as a peer: one process for each configuration, used over HTTP on this machine.

Every server gets the same prompt ids and the same sampling chain. The speed is the server's own report (tokens after
the first over the time since the first), which excludes prompt processing as ours does.
"""

import contextlib
import http.client
import json
import re
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.core.benchmark.peers.process import PeerProcess, peer_environment
from app.core.benchmark.runs import MeasuredAnswer, Question, Variant
from app.core.domain.errors import PeerError
from engine.gguf.head_files import DFLASH, DSPARK, EAGLE3, MTP
from engine.records import EngineReady, LoadRequest, Mode, Placement, RunStats, SamplingParams, SplitMode

DRAFT_LENGTHS = (1, 3, 5, 7)
# The server looks up n-grams of 12 tokens or more by default. On short answers these sizes find more, and a peer should
# be measured at its best. The last one tries n-grams before the draft model, as our mixed mode does.
TUNED_CONFIGS = ("ngram-simple:4:16", "ngram-mod:6:16", "draft-3+ngram-simple:4:16")
_DRAFT = re.compile(r"draft-(\d+)")
_NGRAM = re.compile(r"(ngram-[a-z0-9-]+?)(?::(\d+):(\d+))?")
_HEAD_KINDS = {
    MTP: "draft-mtp",
    EAGLE3: "draft-eagle3",
    DFLASH: "draft-dflash",
    DSPARK: "draft-dspark",
}  # head kinds, and their names in the server's options
_KINDS = re.compile(r"^\s*--spec-type\s+(\S+)", re.MULTILINE)
ENGINE = "llama-server"
HOST = "127.0.0.1"
READY_S = 120.0  # time limit for loading the models
ANSWER_S = 600.0
_POLL_S = 0.05
_HELP_S = 30.0
_CHAIN = ["penalties", "temperature", "top_k", "top_p", "min_p"]  # our samplers, in our order


# Configurations of the server: ``plain``; ``draft-3`` (3 tokens of the draft model, EAGLE-3 head or next-token layers);
# ``ngram-simple`` and the server's other kinds, with default sizes or given ones (``ngram-simple:4:16``: look up 4
# tokens, propose 16); and combinations such as ``draft-3+ngram-simple``.


@dataclass(frozen=True, slots=True)
class ServerDrafter:
    """The server's name of a kind of drafting, and the drafter's file; no file if the head is part of the target."""

    kind: str = "draft-simple"
    path: str | None = None


def drafter_of(ready: EngineReady) -> ServerDrafter | None:
    """The drafter that both engines can use; None if there is none."""
    if ready.draft is not None:
        return ServerDrafter(_HEAD_KINDS.get(ready.draft.head_method, "draft-simple"), ready.draft.path)
    return ServerDrafter(_HEAD_KINDS[ready.own_head.head_method]) if ready.own_head is not None else None


def offered_kinds(help_text: str) -> tuple[str, ...]:
    """The kinds of speculation in the output of ``--help``.

    Raises:
        ValueError: the server has no ``--spec-type``.
    """
    found = _KINDS.search(help_text)
    if found is None:
        raise ValueError("it does not know --spec-type; a llama.cpp of 2026 does")
    return tuple(kind for kind in found[1].split(",") if kind != "none")


def default_configs(kinds: Sequence[str], *, has_draft: bool) -> tuple[str, ...]:
    """Plain decoding, every draft length if there is a draft, every n-gram kind, and `TUNED_CONFIGS`."""
    ngrams = [kind for kind in kinds if kind.startswith("ngram-")]
    tuned = [
        config for config in TUNED_CONFIGS if _kinds_of(config) <= set(kinds) and (has_draft or "draft" not in config)
    ]
    return ("plain", *(f"draft-{length}" for length in DRAFT_LENGTHS if has_draft), *ngrams, *tuned)


def server_arguments(config: str, drafter: ServerDrafter | None, kinds: Sequence[str]) -> list[str]:
    """The server's options for ``config``.

    Raises:
        ValueError: the name is unknown, the draft that it needs is missing, or the server lacks the kind.
    """
    if config == "plain":
        return []
    arguments, types = [], []
    for part in config.split("+"):
        drafted, ngram = _DRAFT.fullmatch(part), _NGRAM.fullmatch(part)
        if drafted:
            if drafter is None:
                raise ValueError(f"{part} needs a draft model or a head")
            if drafter.kind not in kinds:
                raise ValueError(f"it does not offer {drafter.kind}")
            types.append(drafter.kind)
            arguments += ["--spec-draft-model", drafter.path] if drafter.path else []
            arguments += ["--spec-draft-n-max", drafted[1]]
        elif ngram and ngram[1] in kinds:
            types.append(ngram[1])
            arguments += _ngram_sizes(ngram[1], ngram[2], ngram[3])
        else:
            ngrams = [kind for kind in kinds if kind.startswith("ngram-")]
            raise ValueError(f"{part!r} is not one of plain, draft-N, {', '.join(ngrams)}")
    return ["--spec-type", ",".join(types), *arguments]


def _kinds_of(config: str) -> set[str]:
    return {part.split(":")[0] for part in config.split("+") if part.startswith("ngram-")}


def _ngram_sizes(kind: str, lookup: str | None, proposed: str | None) -> list[str]:
    if lookup is None or proposed is None:
        return []
    if kind == "ngram-cache":
        raise ValueError("ngram-cache has no sizes")
    if kind == "ngram-mod":
        return [f"--spec-{kind}-n-match", lookup, f"--spec-{kind}-n-max", proposed, f"--spec-{kind}-n-min", "1"]
    return [f"--spec-{kind}-size-n", lookup, f"--spec-{kind}-size-m", proposed]


class LlamaServer(PeerProcess):
    def __init__(self, config: str, port: int, command: Sequence[str]) -> None:
        """Start the process; `wait_ready` waits until it answers.

        Raises:
            PeerError: the process cannot be started.
        """
        self._port = port
        super().__init__(f"{ENGINE} ({config})", [*command, "--port", str(port)])

    def wait_ready(
        self, within_s: float = READY_S, clock: Callable[[], float] = time.monotonic, pause_s: float = _POLL_S
    ) -> None:
        """Poll until the server is healthy.

        Raises:
            PeerError: the process ended, or was not ready in time.
        """
        until = clock() + within_s
        while not self._is_healthy():
            if self.has_ended:
                raise self.exit_error("starting")
            if clock() >= until:
                raise PeerError(f"{self._name} was not ready within {within_s:.0f} seconds.")
            time.sleep(pause_s)

    def complete(self, body: dict[str, Any]) -> dict[str, Any]:
        """Request one completion.

        Raises:
            PeerError: the server refused, sent an invalid answer, or is gone.
        """
        try:
            status, text = self._request("POST", "/completion", json.dumps(body), ANSWER_S)
            answer = json.loads(text)
        except (OSError, http.client.HTTPException) as error:
            raise self.exit_error("answering") from error
        except ValueError as error:
            raise PeerError(f"{self._name} answered with something that is no JSON.") from error
        if status != http.client.OK or not isinstance(answer, dict):
            raise PeerError(f"{self._name} refused a completion: {_reason(answer)}.")
        return answer

    def _is_healthy(self) -> bool:
        try:
            return self._request("GET", "/health", None, 1.0)[0] == http.client.OK
        except (OSError, http.client.HTTPException):
            return False

    def _request(self, method: str, path: str, body: str | None, timeout_s: float) -> tuple[int, str]:
        connection = http.client.HTTPConnection(HOST, self._port, timeout=timeout_s)
        with contextlib.closing(connection):
            connection.request(method, path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            return response.status, response.read().decode("utf-8", "replace")


class LlamaServerPeer:
    """All configurations of the server, each in its own process. Idle processes take memory but no time."""

    def __init__(self, path: str, load: LoadRequest, ready: EngineReady, configs: Sequence[str]) -> None:
        """Start all servers and wait for them; empty ``configs`` means `default_configs`.

        Raises:
            PeerError: the program is missing, a configuration is unknown, or a server does not start.
        """
        if not Path(path).is_file():
            raise PeerError(f"There is no {ENGINE} at {path}.")
        program = str(Path(path).resolve())
        kinds = _offered_options(program)
        drafter = drafter_of(ready)
        names = tuple(configs) or default_configs(kinds, has_draft=drafter is not None)
        self._commands: dict[str, list[str]] = {}
        for name in names:
            try:
                extra = server_arguments(name, drafter, kinds)
            except ValueError as error:
                raise PeerError(f"{ENGINE} cannot run as {name}: {error}.") from error
            self._commands[name] = [
                program,
                *_shared_arguments(load, ready),
                *(_draft_settings(load, ready) if extra else ()),
                *extra,
            ]
        self._servers: dict[str, LlamaServer] = {}
        self._start(names)

    @property
    def variants(self) -> Sequence[Variant]:
        return [Variant(name, None, ENGINE) for name in self._commands]

    def begin_round(self) -> None:
        """Restart the servers that learn from earlier answers.

        Raises:
            PeerError: a server does not start again.
        """
        # With ngram-mod the server reuses text of earlier answers, so it is restarted for each round.
        again = [name for name in self._commands if "ngram-mod" in name]
        for name in again:
            self._servers.pop(name).end()
        self._start(again)

    def prepare(self, question: Question) -> None:
        """Nothing to do: the time that a server reports starts after the prompt."""

    def answer(self, variant: Variant, question: Question) -> MeasuredAnswer:
        """Ask the server of this configuration.

        Raises:
            PeerError: the server failed.
        """
        started = time.perf_counter()
        answer = self._servers[variant.mode].complete(completion(question))
        return read_answer(answer, time.perf_counter() - started)

    def close(self) -> None:
        while self._servers:
            self._servers.popitem()[1].end()

    def _start(self, names: Sequence[str]) -> None:
        try:
            for name, port in zip(names, free_ports(len(names)), strict=True):
                self._servers[name] = LlamaServer(name, port, self._commands[name])
            for name in names:
                self._servers[name].wait_ready()
        except BaseException:  # also Ctrl+C: end the processes that were started
            self.close()
            raise


def completion(question: Question) -> dict[str, Any]:
    """The body of ``/completion``: our prompt ids, and our sampling chain in the same order."""
    sampling: SamplingParams = question.sampling
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


def read_answer(answer: dict[str, Any], wall_s: float) -> MeasuredAnswer:
    """Read ``timings`` of a completion.

    Raises:
        PeerError: the timings are missing.
    """
    try:
        timings = answer["timings"]
        tokens = max(int(timings["predicted_n"]) - 1, 0)
        decode_s = float(timings["predicted_ms"]) / 1000.0
        proposed, accepted = int(timings.get("draft_n", 0)), int(timings.get("draft_n_accepted", 0))
        ids = tuple(int(token) for token in answer.get("tokens", ()))
        wall_s -= float(timings["prompt_ms"]) / 1000.0
    except (KeyError, TypeError, ValueError) as error:
        raise PeerError(f"{ENGINE} answered without its timings ({error!r}).") from error
    stats = RunStats(
        mode=Mode.OFF,
        tokens=tokens,
        passes=tokens - accepted,
        proposed=proposed,
        accepted=accepted,
        decode_s=decode_s if tokens else 0.0,
    )
    return MeasuredAnswer(stats, ids, wall_s)


def free_ports(count: int) -> list[int]:
    """Different free ports of this machine."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for listener in sockets:
            listener.bind((HOST, 0))
        return [int(listener.getsockname()[1]) for listener in sockets]


def _shared_arguments(load: LoadRequest, ready: EngineReady) -> list[str]:
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


def _draft_settings(load: LoadRequest, ready: EngineReady) -> list[str]:
    drafter = ready.draft or ready.own_head
    if drafter is None:
        return []
    kind = load.draft_cache_type.value
    return [
        *("--spec-draft-threads", str(drafter.threads), "--spec-draft-ngl", str(drafter.gpu_layers)),
        *("--spec-draft-type-k", kind, "--spec-draft-type-v", kind),
    ]


def _offered_options(program: str) -> tuple[str, ...]:
    """The kinds of speculation that this server's help lists.

    Raises:
        PeerError: the program does not start, or is too old.
    """
    try:
        done = subprocess.run(  # noqa: S603  (the program that the person named)
            [program, "--help"], capture_output=True, timeout=_HELP_S, env=peer_environment(), check=False
        )
        return offered_kinds((done.stdout + done.stderr).decode("utf-8", "replace"))
    except (OSError, subprocess.SubprocessError) as error:
        raise PeerError(f"{ENGINE} could not be run: {error}.") from error
    except ValueError as error:
        raise PeerError(f"{program} cannot be measured: {error}.") from error


def _reason(answer: object) -> str:
    if isinstance(answer, dict) and isinstance(answer.get("error"), dict):
        return str(answer["error"].get("message", "no reason given")).rstrip(".")
    return "no reason given"
