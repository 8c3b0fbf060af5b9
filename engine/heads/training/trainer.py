"""The training itself: batches, losses, checkpoints, the curve, and how often heads are right on held-out texts.

The loss of each head is the cross entropy with the target's own distribution over the tokens that heads can propose,
which is what verification compares them with. Few texts are learnt by heart sooner or later, so those heads are kept
that were the best on held-out texts. It may be stopped at any time and goes on from its checkpoint.
"""

from __future__ import annotations

import json
import time
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import ToolError
from engine.gguf.medusa_writer import HeadsFile
from engine.heads.training.lent import TargetMatrices
from engine.heads.training.network import (
    AdamW,
    Head,
    LinearFit,
    Values,
    computed,
    fresh_head,
    gradients,
    inputs_of,
    softmax_in_place,
)
from engine.heads.training.samples import Reading, Samples, most_used, split
from engine.heads.training.speedup import Proposals
from engine.sentences import said
from engine.storage.atomic import replacing, write_atomically

WEIGHTS = (1.0, 0.7, 0.5, 0.35)  # of the heads' losses
RUN = 16  # places that follow one another in a batch: they share labels
_BATCH = 1024  # places of a step
_RATE = 1e-3
_WARM_STEPS, _DECAY_SHARE = 40, 0.5
_MOST_HELD, _GROUP = 6_000, 250  # places of an evaluation, and of a part of it
_WARM = 0.8  # the temperature beside 0 at which they are looked at


@dataclass(frozen=True, slots=True)
class Curve:
    """One look: after ``tokens`` seen in ``seconds``, what share of each head's proposals is right on held-out texts.

    Each head counts where those before it were right; ``sampled`` is the share kept at a temperature of 0.8.
    """

    step: int
    tokens: int
    seconds: float
    loss: float
    greedy: tuple[float, ...]
    sampled: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """What to train: so many heads, over so many tokens of the vocabulary, for so long; looked at every so often.

    It ends earlier where all texts were read ``passes`` times. The learning rate falls towards the nearer of both ends.
    """

    num_heads: int = 3
    vocabulary: int = 2048
    seconds: float = 1200.0
    every_s: float = 60.0
    passes: float = 6.0


class Trainer:
    """Heads for one target, with their checkpoint and curve in ``folder``."""

    def __init__(self, target: Path, folder: Path, readings: Sequence[Reading], plan: TrainingPlan) -> None:
        """Begin, or go on where a checkpoint is.

        Raises:
            ToolError: the texts are too few, or the checkpoint is damaged or of another plan.
            EngineError: the target's file cannot be read, or lacks what heads use.
        """
        self.target, self.plan, self.lent = target, plan, TargetMatrices(target)
        trained, held = split(readings)
        self.samples, self.held = Samples(trained, plan.num_heads), Samples(held, plan.num_heads)
        if not len(self.samples.places) or not len(self.held.places):
            raise ToolError(
                said("There are too few texts to train with and to try the heads on."), "Give more chats or texts."
            )
        self._state, self._log = folder / "heads.npz", folder / "curve.jsonl"
        kept = most_used(self.samples, self.lent.n_vocab, min(plan.vocabulary, self.lent.n_vocab))
        dice = np.random.default_rng(1)
        self.heads = [fresh_head(k, self.lent.width, dice) for k in range(plan.num_heads)]
        self.best = [head.copy() for head in self.heads]
        self._tokens_of_best = 0.0  # of a pass
        self.spread = self._spread()
        self.tokens, self.seconds = 0, 0.0
        self.kept = self._go_on(kept)
        self.output = self.lent.output(self.kept)
        self.curve: list[Curve] = self._old_curve()
        self._losses, self._dice = [0.0, 0.0], np.random.default_rng(self.optimizer.step)
        self._waiting: list[NDArray[np.int64]] = []
        self._said = _said_of(self)

    def _spread(self) -> tuple[float, ...]:
        some = self.samples.places[:4096]
        rows = self.samples.rows[some].astype(np.float32)
        return float(rows.std()), float(self.lent.embedded(self.samples.ids[some]).std())

    @property
    def progress(self) -> float:
        """How much of the training is done, from 0 to 1."""
        return min(1.0, max(self.seconds / self.plan.seconds, self._read))

    @property
    def has_read_enough(self) -> bool:
        """Whether more time would not help: the texts were read as often as the plan says."""
        return self._read >= 1.0

    @property
    def _read(self) -> float:
        return self.tokens / (self.plan.passes * len(self.samples.places))

    # ---- training ---------------------------------------------------------------------------------------------------

    def run(self, on_progress: Callable[[float], None], on_look: Callable[[Curve], None]) -> None:
        """Train until the plan is done; ``on_progress`` hears how much of it is. A look ends it, and is kept.

        Raises:
            OSError: a checkpoint cannot be written.
        """
        try:
            if not self.optimizer.step:
                self._fit()
                on_look(self.look())
            since = looked = time.monotonic()
            while self.progress < 1.0:
                self.step()
                now = time.monotonic()
                self.seconds, since = self.seconds + now - since, now
                on_progress(self.progress)
                if now - looked > self.plan.every_s and self.progress < 1.0:
                    on_look(self.look())
                    looked = since = time.monotonic()
        except KeyboardInterrupt:
            self._save()
            raise
        if not self.curve or self.curve[-1].step != self.optimizer.step:
            on_look(self.look())

    def _fit(self) -> None:
        """Begin with what is linear: the least squares of the target's later rows."""
        width = self.lent.width
        fits = [LinearFit(width * (k + 2), width) for k in range(len(self.heads))]
        for places in np.array_split(self.samples.places, max(1, len(self.samples.places) // _BATCH)):
            row, tokens = self.inputs(self.samples, places)
            for k, fit in enumerate(fits):
                fit.add(
                    inputs_of(row, tokens, k), self.samples.rows[places + k + 1].astype(np.float32) / self.spread[0]
                )
        for fit, head in zip(fits, self.heads, strict=True):
            fit.put_into(head)

    def step(self) -> None:
        """One update."""
        if not self._waiting:
            starts = self.samples.places[::RUN].copy()
            self._dice.shuffle(starts)
            self._waiting = np.array_split(starts, max(1, len(starts) * RUN // _BATCH))
        starts = self._waiting.pop()
        places = (starts[:, None] + np.arange(RUN)).ravel()
        places = places[places < len(self.samples.usable)]
        places = places[self.samples.usable[places]]
        found, loss = self._gradients(places)
        rate = _RATE * min(1.0, (self.optimizer.step + 1) / _WARM_STEPS, (1.0 - self.progress) / _DECAY_SHARE)
        self.optimizer.update(found, max(rate, 0.0))
        self.tokens += len(places)
        self._losses[0] += loss * len(places)
        self._losses[1] += len(places)

    def inputs(self, samples: Samples, places: NDArray[np.int64]) -> tuple[Values, Values]:
        """Rows [n, width] at some places and the tokens behind them [n, heads, width], both divided by their spread."""
        row = samples.rows[places].astype(np.float32) / self.spread[0]
        return row, self.lent.embedded(samples.ids[samples.behind(places)]) / self.spread[1]

    def _gradients(self, places: NDArray[np.int64]) -> tuple[list[Values], float]:
        samples, output, size = self.samples, self.output, self.spread[0]
        row, tokens = self.inputs(samples, places)
        every, at = np.unique(samples.behind(places), return_inverse=True)
        labels = softmax_in_place(samples.rows[every].astype(np.float32) @ output.T)
        at = at.reshape(len(places), -1)
        found, total = list[Values](), 0.0
        for k, head in enumerate(self.heads):
            weight = WEIGHTS[min(k, len(WEIGHTS) - 1)]
            done = computed(head, row, tokens, k)
            scores = softmax_in_place(((done.given * size) @ output.T).astype(np.float32, copy=False))
            wanted = labels[at[:, k]]
            total += weight * float(-np.einsum("ij,ij->", wanted, np.log(scores + 1e-9))) / len(places)
            scores -= wanted
            found += gradients(done, scores @ output * np.float32(size * weight / len(places)))
        return found, total

    # ---- looking ----------------------------------------------------------------------------------------------------

    def look(self) -> Curve:
        """Try the heads on held-out texts, and keep everything: one more point of the curve.

        Raises:
            OSError: there is no room.
        """
        proposals = self.proposals(self.heads)
        if proposals.tokens_per_pass > self._tokens_of_best:
            self._tokens_of_best, self.best = proposals.tokens_per_pass, [head.copy() for head in self.heads]
        loss = self._losses[0] / max(1.0, self._losses[1])
        self._losses = [0.0, 0.0]
        found = Curve(self.optimizer.step, self.tokens, self.seconds, loss, proposals.greedy, proposals.sampled)
        self.curve.append(found)
        self._save()
        write_atomically(self._log, "".join(json.dumps(asdict(one)) + "\n" for one in self.curve).encode())
        return found

    def proposals(self, heads: Sequence[Head]) -> Proposals:
        """What heads propose at places of held-out texts. Tokens that they cannot propose are never right."""
        found = list[tuple[Values, NDArray[np.bool_]]]()
        shared, alive = np.zeros(len(heads)), np.zeros(len(heads))
        for places, own_words in zip(_runs(self.held), self._said, strict=True):
            row, tokens = self.inputs(self.held, places)
            right = np.ones(len(places), dtype=np.bool_)
            shape = len(places), len(heads)
            confidences, hits = np.empty(shape, dtype=np.float32), np.empty(shape, dtype=np.bool_)
            for k, head in enumerate(heads):
                scores = (computed(head, row, tokens, k).given * self.spread[0]) @ self.output.T
                own = softmax_in_place((scores / _WARM).astype(np.float32))
                alive[k] += right.sum()
                shared[k] += np.minimum(own_words.likely[own_words.at[:, k]], own).sum(axis=1)[right].sum()
                hits[:, k] = self.kept[scores.argmax(axis=1)] == own_words.best[own_words.at[:, k]]
                confidences[:, k] = softmax_in_place(scores.astype(np.float32, copy=False)).max(axis=1)
                right &= hits[:, k]
            found.append((confidences, hits))
        sampled = tuple((shared / np.maximum(alive, 1.0)).tolist())
        return Proposals(np.concatenate([one for one, _ in found]), np.concatenate([one for _, one in found]), sampled)

    def write(self, path: Path, matrix_type: str = "Q8_0") -> None:
        """Write the best heads as a GGUF; what was divided out is folded into the matrices.

        Raises:
            OSError: there is no room.
        """
        width, tensors = self.lent.width, dict[str, Values]()
        for k, head in enumerate(self.best):
            sizes = np.repeat(np.array([self.spread[0], *[self.spread[1]] * (k + 1)], dtype=np.float32), width)
            tensors |= {f"head.{k}.block.0.weight": head.inner / sizes, f"head.{k}.block.0.bias": head.inner_bias}
            tensors |= {f"head.{k}.skip.weight": head.skip / sizes, f"head.{k}.skip.bias": head.skip_bias}
        tensors["output.weight"] = self.output * np.float32(self.spread[0])
        file = HeadsFile("hydra", len(self.heads), 1, width, tensors, self.kept.astype(np.int32))
        file.write(path, self.target, matrix_type)

    # ---- checkpoints ------------------------------------------------------------------------------------------------

    def _save(self) -> None:
        optimizer = self.optimizer
        counts = {"tokens": np.array(self.tokens), "seconds": np.array(self.seconds)}
        arrays: dict[str, NDArray[Any]] = {"kept": self.kept, "spread": np.array(self.spread), **counts}
        arrays |= {"tokens_of_best": np.array(self._tokens_of_best)}
        arrays |= {f"b{i}": one for i, one in enumerate(one for head in self.best for one in head.parameters)}
        arrays |= {f"p{i}": one for i, one in enumerate(optimizer.parameters)}
        arrays |= {f"m{i}": one for i, one in enumerate(optimizer.first)}
        arrays |= {f"v{i}": one for i, one in enumerate(optimizer.second)}
        with replacing(self._state, self._state.with_suffix(".part")) as part, part.open("wb") as file:
            np.savez(file, step=optimizer.step, **arrays)  # type: ignore[arg-type]

    def _go_on(self, kept: NDArray[np.int64]) -> NDArray[np.int64]:
        """Take up a checkpoint, where there is one; the ids of the vocabulary in use."""
        parameters = [one for head in self.heads for one in head.parameters]
        best = [one for head in self.best for one in head.parameters]
        self.optimizer = AdamW(parameters)
        if not self._state.is_file():
            return kept
        try:
            with np.load(self._state, allow_pickle=False) as state:
                found = dict(state)
            for name, arrays in (
                ("p", parameters),
                ("b", best),
                ("m", self.optimizer.first),
                ("v", self.optimizer.second),
            ):
                for i, one in enumerate(arrays):
                    one[:] = found[f"{name}{i}"]
            self.optimizer.step, self.tokens = int(found["step"]), int(found["tokens"])
            self.seconds, self.spread = float(found["seconds"]), tuple(map(float, found["spread"]))
            self._tokens_of_best = float(found["tokens_of_best"])
            fits = f"p{len(parameters)}" not in found and len(found["kept"]) == len(kept)
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            fits = False
        if fits:
            chosen: NDArray[np.int64] = found["kept"].astype(np.int64)
            return chosen
        raise ToolError(
            said("The training in {folder} has heads of another number or shape.", folder=self._state.parent.name),
            "Give the same options as before, or delete the folder.",
        )

    def _old_curve(self) -> list[Curve]:
        """Its points up to the checkpoint; none where they are damaged, which harms no training."""
        try:
            lines = [json.loads(line) for line in self._log.read_text("utf-8").splitlines()]
            points = [
                Curve(**one | {"greedy": tuple(one["greedy"]), "sampled": tuple(one["sampled"])}) for one in lines
            ]
        except (OSError, ValueError, KeyError, TypeError):
            return []
        return [one for one in points if one.step <= self.optimizer.step]


@dataclass(frozen=True, slots=True)
class _Said:
    """What the target itself says at the places behind some: they are row ``at`` [places, heads] of the others.

    ``best`` [rows] are its likeliest tokens, ``likely`` [rows, vocabulary of the heads] its distribution at `_WARM`.
    """

    at: NDArray[np.int64]
    best: NDArray[np.int64]
    likely: NDArray[np.float16]


def _said_of(trainer: Trainer) -> list[_Said]:
    """For each of `_runs`: once, since it takes a product with the whole output matrix."""
    output, held = trainer.lent.output(np.arange(trainer.lent.n_vocab)), trainer.held
    found = list[_Said]()
    for places in _runs(held):
        every, at = np.unique(held.behind(places), return_inverse=True)
        full = held.rows[every].astype(np.float32) @ output.T
        best = full.argmax(axis=1)
        likely = softmax_in_place((full / np.float32(_WARM)).astype(np.float32, copy=False))[:, trainer.kept]
        found.append(_Said(at.reshape(len(places), -1), best, likely.astype(np.float16)))
    return found


def _runs(held: Samples) -> list[NDArray[np.int64]]:
    """Places to look at, in groups of neighbours, evenly from all texts; at most `_MOST_HELD`."""
    groups = np.array_split(held.places, max(1, len(held.places) // _GROUP))
    return groups[:: max(1, len(groups) * _GROUP // _MOST_HELD)]
