"""Stores each finished answer of a measurement in a file, so that a stopped measurement can be continued.

The first line holds the facts that all answers share: models, settings, machine, code. Later lines either add facts
(for example of a peer) or hold one answer each.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

import engine
from app.core.benchmark.prompts import BenchmarkPrompt
from app.core.benchmark.report import machine
from app.core.benchmark.runs import BenchmarkPlan, BenchmarkRun, Variant
from app.core.storage.chats.codec import stats_from_text, stats_to_text
from engine.gguf.model_parts import all_parts
from engine.records import LoadRequest

_HEAD, _FORMAT = "paceline_benchmark", 1
_NUM_FIRST_BYTES = f'{{"{_HEAD}"'.encode()
_ENDS_BYTES = 1 << 20  # bytes at each end of a model file that its digest covers: header and last weights
_VARYING_FACTS = ("python", "memory_bytes")  # facts that may change on one machine
Facts = Mapping[str, object]  # numbers, texts, and lists and mappings of them
Key = tuple[str, str, float, Variant, int]


class Journal:
    """The answers in one file, which one process at a time can open."""

    def __init__(self, path: Path, facts: Facts) -> None:
        """Open or create the file. A file with answers of other ``facts`` is refused.

        An incomplete last line, left by a killed process, is cut off.

        Raises:
            ValueError: the file is no journal, is damaged, has other facts, or is in use.
            OSError: the file cannot be read or written.
        """
        self._name = path.name
        self._facts: dict[str, object] = {}
        self._runs: dict[Key, BenchmarkRun] = {}
        self._file: BinaryIO = path.open("a+b")
        try:
            _lock_file(self._file, self._name)
            self._read()
            self.add_facts(facts)
        except BaseException:
            self._file.close()
            raise

    def __len__(self) -> int:
        return len(self._runs)

    def add_facts(self, facts: Facts) -> None:
        """Add facts that all later answers must share.

        Raises:
            ValueError: the file holds another value of a fact.
            OSError: the file cannot be written.
        """
        normalised = json.loads(json.dumps(facts))
        different = [name for name, value in normalised.items() if self._facts.get(name, value) != value]
        if different:
            names = ", ".join(different).replace("_", " ")
            raise ValueError(
                f"{self._name} belongs to another measurement: it differs in {names}. Name another file, or delete it."
            )
        new = {name: value for name, value in normalised.items() if name not in self._facts}
        if new or self._file.seek(0, os.SEEK_END) == 0:
            self._facts |= new
            self._write({_HEAD: _FORMAT, "facts": new})

    def find(
        self, prompt: BenchmarkPrompt, temperature: float, variant: Variant, round_number: int
    ) -> BenchmarkRun | None:
        return self._runs.get((prompt.id, digest_of(prompt), temperature, variant, round_number))

    def record(self, prompt: BenchmarkPrompt, run: BenchmarkRun) -> None:
        """Write one answer.

        Raises:
            OSError: the file cannot be written.
        """
        self._runs[run.prompt_id, digest_of(prompt), run.temperature, run.variant, run.round] = run
        stats = json.loads(stats_to_text(run.stats) or "{}")
        self._write({**asdict(run), "words": digest_of(prompt), "stats": stats})

    def close(self) -> None:
        self._file.close()

    def _write(self, record: Mapping[str, object]) -> None:
        self._file.write(json.dumps(record, separators=(",", ":")).encode() + b"\n")
        self._file.flush()

    def _read(self) -> None:
        self._file.seek(0)
        content = self._file.read()
        if content and not content.startswith(_NUM_FIRST_BYTES[: len(content)]):
            raise ValueError(f"{self._name} holds no answers of a benchmark.")
        whole = content[: content.rfind(b"\n") + 1]
        lines = whole.splitlines(keepends=True)
        for number, line in enumerate(lines, 1):
            try:
                self._read_record(json.loads(line))
            except (ValueError, TypeError, LookupError, AttributeError) as error:
                if number < len(lines) or number == 1:
                    raise ValueError(f"{self._name}, line {number} is damaged: {error}.") from error
                whole = whole[: -len(line)]
        self._file.truncate(len(whole))

    def _read_record(self, record: dict[str, Any]) -> None:
        if _HEAD in record:
            if record[_HEAD] != _FORMAT:
                raise ValueError("another version of Paceline wrote it")
            self._facts |= record["facts"]
        else:
            run = _run(record)
            self._runs[run.prompt_id, str(record["words"]), run.temperature, run.variant, run.round] = run


def digest_of(prompt: BenchmarkPrompt) -> str:
    """A digest of the text, since prompts of several files may have the same id."""
    words = json.dumps([[message.role, message.content] for message in prompt.messages])
    return hashlib.sha256(words.encode()).hexdigest()[:12]


def _run(record: dict[str, Any]) -> BenchmarkRun:
    stats = stats_from_text(json.dumps(record["stats"]))
    if stats is None:
        raise ValueError("its numbers cannot be read")
    fields = {name: record[name] for name in ("prompt_id", "category", "temperature", "round", "wall_s")}
    return BenchmarkRun(
        **fields, variant=Variant(**record["variant"]), stats=stats, token_ids=tuple(record["token_ids"])
    )


def _lock_file(file: BinaryIO, name: str) -> None:
    """Lock the file against other processes; the operating system releases the lock when this process ends."""
    if os.name != "posix":
        return
    import fcntl  # noqa: PLC0415  (where there is one)

    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise ValueError(f"Another measurement writes to {name}.") from error


def facts_in_common(load: LoadRequest, plan: BenchmarkPlan) -> dict[str, object]:
    """Models, settings, machine, llama.cpp's libraries and our code; without prompts, rounds and variants."""
    return {
        "target": _model_facts(load.target),
        "draft": _model_facts(load.draft) if load.draft else None,
        "loading": {name: value for name, value in asdict(load).items() if name not in ("target", "draft")},
        "sampling": {name: value for name, value in asdict(plan.sampling).items() if name != "temperature"},
        "answers": {"max_tokens": plan.max_tokens, "raw": plan.raw, "ignore_eos": plan.ignore_eos},
        "machine": {name: value for name, value in machine().items() if name not in _VARYING_FACTS},
        "code_of_the_engine": _digest(sorted(Path(engine.__file__).parent.rglob("*.py"))),
    }


def program_facts(path: str) -> dict[str, object]:
    """Name and digest of a peer's program; the digest includes llama.cpp's libraries beside it."""
    program = Path(path).resolve()
    beside = {file.resolve() for name in ("*llama*.so*", "*ggml*.so*") for file in program.parent.glob(name)}
    return {"name": program.name, "digest": _digest((program, *sorted(beside)))}


def _model_facts(path: str) -> dict[str, object]:
    """Name, size, and a digest of both ends of the file; only the name if it is unreadable (loading reports why)."""
    digest, size = hashlib.sha256(), 0
    try:
        for part in all_parts(Path(path)):
            with part.open("rb") as file:
                digest.update(file.read(_ENDS_BYTES))
                part_size = file.seek(0, 2)
                file.seek(max(0, part_size - _ENDS_BYTES))
                digest.update(file.read())
                size += part_size
    except OSError:
        return {"name": Path(path).name}
    return {"name": Path(path).name, "size_bytes": size, "digest": digest.hexdigest()[:12]}


def _digest(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.name.encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:12]
