"""Creates drafts from the target: copies without some layers, which are measured and kept only if they can pay off.

Without some layers, most models lose more quality than they gain speed, unless they were trained for it like
LayerSkip's (Elhoushi et al. 2024, arXiv 2404.16710). So several choices of layers are tried. Each copy is compared with
the target at every token of a few answers, and both are timed alternately. A copy of Qwen2.5-Coder 1.5B without four of
its 28 layers agrees on .78 to .91 of the tokens and takes .89 of a pass, which gains nothing.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from engine.errors import EngineError, ToolError
from engine.gguf.header import read_header
from engine.gguf.model_parts import size_of_files
from engine.llama.pruning import prune_layers
from engine.loading.loading import LoadedModel, LoadOptions, fit_context, open_model
from engine.prompt.chat_prompt import PromptBuilder
from engine.records import Message
from engine.sampling.sampler import argmax
from engine.sampling.top_k import Row
from engine.sentences import Sentence, i18n, joined
from engine.storage.cost_store import file_facts, key_of

QUESTIONS = (
    "Explain in a short paragraph why the sky is blue.",
    "Write a Python function that returns the n-th Fibonacci number, with a docstring.",
    "List five things to pack for a week in the mountains, each with a reason.",
)
_ANSWER_TOKENS = 48  # tokens per answer
_N_CTX = 512
_MIN_LAYERS = 4  # least layers of a model for this
_SPARE_BYTES = 64 << 20
_MAX_DEPTH = 16
MIN_GAIN = 1.05

Progress = Callable[[str, float], None]  # name of the current step, and its progress from 0 to 1


@dataclass(frozen=True, slots=True)
class SelfDraft:
    """A copy of a model with ``n_layer`` layers, without the layers ``left_out``.

    ``agreement`` is the share of ``num_tokens`` of the model's answers at which both have the same argmax; ``share`` is
    the time of a token of the copy relative to a pass of the model.
    """

    path: Path
    left_out: tuple[int, ...]
    n_layer: int
    agreement: float
    share: float
    num_tokens: int

    @property
    def pays(self) -> bool:
        """Whether drafting with the copy can be faster than plain decoding."""
        return self.max_gain >= MIN_GAIN

    @property
    def max_gain(self) -> float:
        """Speedup at the best depth if verification were free; at least 1."""
        kept = [sum(self.agreement**i for i in range(depth + 1)) for depth in range(1, _MAX_DEPTH + 1)]
        return max(1.0, *(tokens / (1.0 + self.share * depth) for depth, tokens in enumerate(kept, 1)))

    @property
    def words(self) -> Sentence:
        measured = i18n(
            "Without {number} of its {n_layer} layers it agrees with the whole model on {agreement:.0f}% of "
            "{num_tokens} tokens, and a token takes {share:.0f}% of the time.",
            number=len(self.left_out),
            n_layer=self.n_layer,
            agreement=self.agreement * 100.0,
            num_tokens=self.num_tokens,
            share=self.share * 100.0,
        )
        if self.pays:
            follows = i18n(
                "Drafting with it can pay off: up to {gain:.2f} times the speed without drafting.", gain=self.max_gain
            )
        else:
            follows = i18n("It would have to agree more often than that to pay, so drafting with it gains nothing.")
        return joined([measured, follows])


def shapes(n_layer: int) -> tuple[tuple[int, ...], ...]:
    """Choices of layers to leave out: an eighth, and a quarter, spread over the middle; and the second half.

    Raises:
        ToolError: the model has too few layers.
    """
    if n_layer < _MIN_LAYERS:
        raise ToolError(
            i18n("The model has {n_layer} layers only, too few to leave any out.", n_layer=n_layer),
            "Choose a small model of the same family as a draft.",
        )
    first, last = n_layer // 4, n_layer - max(1, n_layer // 8)
    middle = range(first, last)
    spread = [_evenly_spaced(middle, max(1, n_layer // part)) for part in (8, 4)]
    return tuple(dict.fromkeys([*spread, tuple(range(n_layer // 2, n_layer))]))


def _evenly_spaced(layers: range, number: int) -> tuple[int, ...]:
    step = len(layers) / number
    return tuple(layers[int(i * step + step / 2)] for i in range(number))


def make_self_draft(
    target: Path,
    folder: Path,
    wanted: Sequence[Sequence[int]] = (),
    progress: Progress = lambda _what, _fraction: None,
) -> tuple[SelfDraft, ...]:
    """Make copies of ``target`` in ``folder`` and measure them, best first; the best file is kept if it can pay off.

    ``wanted`` are the layers to leave out of each copy; default: `shapes`. Runs in a helper process
    (`engine.sandbox.self_draft_child`), which may be killed at any time.

    Raises:
        EngineError: the target cannot be used or has too few layers, or the disk is full; then no copy is kept.
    """
    header = read_header(target)
    count = header.arch_value("block_count")
    n_layer = count if isinstance(count, int) else 0
    plans = [tuple(sorted(set(plan))) for plan in wanted] or list(shapes(n_layer))
    for plan in plans:
        if not plan or plan[0] < 0 or plan[-1] >= n_layer or len(plan) >= n_layer:
            raise ToolError(
                i18n("The layers to leave out must be some of 0 to {last}, not all.", last=n_layer - 1),
                "Name other layers.",
            )
    found, made, num_bytes = list[SelfDraft](), list[Path](), size_of_files(target)
    options = fit_context([str(target), str(target)], LoadOptions(n_ctx=_N_CTX))
    try:
        with _MeasuredTarget(target, options) as measured:
            answers = measured.answers(lambda fraction: progress(i18n("asking the model"), fraction))
            for plan in plans:
                key = key_of(*file_facts(str(target)), plan)[:8]
                path = folder / f"{target.stem}-without-{len(plan)}-layers-{key}.gguf"
                made.append(path)
                progress(i18n("writing a copy without {pruned} layers", pruned=len(plan)), 0.0)
                _write(target, path, plan, num_bytes)
                agreement, share, num_tokens = measured.compare(
                    path, answers, lambda fraction: progress(i18n("measuring the copy"), fraction)
                )
                found.append(SelfDraft(path, plan, n_layer, agreement, share, num_tokens))
                best = max(found, key=lambda one: one.max_gain)
                _remove([one for one in made if one != best.path or not best.pays])
    except BaseException:
        _remove(made)
        raise
    found.sort(key=lambda one: -one.max_gain)
    return tuple(found)


def _remove(paths: Sequence[Path]) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def _write(target: Path, destination: Path, plan: tuple[int, ...], num_bytes: int) -> None:
    """Write a copy, under a temporary name until it is complete."""
    part = destination.with_name(f"{destination.name}.part")
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(destination.parent).free < num_bytes + _SPARE_BYTES:
            raise ToolError(
                i18n("There is not enough space in {folder} for a copy of the model.", folder=destination.parent)
            )
        prune_layers(target, part, plan)
        part.replace(destination)
    except OSError as error:
        raise ToolError(
            i18n("{file} could not be written: {reason}.", file=destination.name, reason=error.strerror or error)
        ) from error
    finally:
        _remove([part])


class _MeasuredTarget:
    """The whole model, which generates answers and is timed together with its copies."""

    def __init__(self, target: Path, options: LoadOptions) -> None:
        self._options = options
        self._target = open_model(target, options)
        self._prompt = PromptBuilder(self._target.model.vocab, self._target.model.chat_template)

    def __enter__(self) -> _MeasuredTarget:
        return self

    def __exit__(self, *_: object) -> None:
        self._target.close()

    def answers(self, progress: Callable[[float], None]) -> list[tuple[list[int], list[int]]]:
        """For each question, the ids of the prompt and of the beginning of the model's answer."""
        found = []
        for number, question in enumerate(QUESTIONS):
            progress(number / len(QUESTIONS))
            prompt = self._prompt.build((Message("user", question),))
            ids = self._greedy(prompt)
            if ids:
                found.append((prompt, ids))
        if not found:
            raise ToolError("The model ends its answers at once, so nothing can be measured.")
        return found

    def _greedy(self, prompt: list[int]) -> list[int]:
        row = _read(self._target, prompt)
        ids: list[int] = []
        while len(ids) < _ANSWER_TOKENS:
            token_id = argmax(row)
            if self._target.model.vocab.is_eog(token_id):
                break
            ids.append(token_id)
            row = self._target.sequence.forward([token_id], 1)[0]
        return ids

    def compare(
        self, path: Path, answers: list[tuple[list[int], list[int]]], progress: Callable[[float], None]
    ) -> tuple[float, float, int]:
        """Return a copy's share of equal tokens, its relative time per token (of minimums), and the number of tokens.

        Both read each token alternately, so that other load affects both.
        """
        draft = open_model(path, self._options)
        same, num_tokens, best_s = 0, 0, [float("inf"), float("inf")]
        try:
            for number, (prompt, ids) in enumerate(answers):
                progress(number / len(answers))
                _read(self._target, prompt)
                row = _read(draft, prompt)
                for token_id in ids:
                    same += argmax(row) == token_id
                    num_tokens += 1
                    for index, loaded in enumerate((self._target, draft)):
                        started = perf_counter()
                        row = loaded.sequence.forward([token_id], 1)[0]
                        best_s[index] = min(best_s[index], perf_counter() - started)
        finally:
            draft.close()
        return same / num_tokens, best_s[1] / best_s[0], num_tokens


def _read(loaded: LoadedModel, prompt: list[int]) -> Row:
    sequence = loaded.sequence
    sequence.clear()
    if len(prompt) + _ANSWER_TOKENS > sequence.n_ctx:
        raise EngineError("The model's chat template makes prompts that are too long to measure with.")
    for _ in sequence.prefill(np.asarray(prompt[:-1], dtype=np.int32)):
        pass
    row: Row = sequence.forward(prompt[-1:], 1)[0]
    return row
