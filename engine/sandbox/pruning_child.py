"""The helper process that writes a model without some of its layers: whoever waits for it can end it at any time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from engine.llama.pruning import prune_layers
from engine.sandbox.probe import ask_child
from engine.sandbox.probe_child import answer_as_json

_LIMIT_S = 1800.0  # a slow disk and a model of many gigabytes


def main(arguments: list[str]) -> int:
    """Source, destination, then the numbers of the layers to leave out."""
    source, destination, *layers = arguments

    def write() -> dict[str, object]:
        prune_layers(Path(source), Path(destination), [int(number) for number in layers])
        return {"written": True}

    return answer_as_json(write, Path(source).name)


def prune_in_helper(source: Path, destination: Path, layers: Sequence[int], should_stop: Callable[[], bool]) -> None:
    """Have a helper write ``source`` without these layers.

    Raises:
        EngineError: it could not, crashed, or was stopped.
    """
    ask_child("prune", [source, destination], _LIMIT_S, should_stop, [str(layer) for layer in layers])
