"""The helper process that writes a model without some of its layers: whoever waits for it can end it at any time."""

from __future__ import annotations

from pathlib import Path

from engine.llama.pruning import prune_layers
from engine.sandbox.probe_child import answer_as_json


def main(arguments: list[str]) -> int:
    """Source, destination, then the numbers of the layers to leave out."""
    source, destination, *layers = arguments

    def write() -> dict[str, object]:
        prune_layers(Path(source), Path(destination), [int(number) for number in layers])
        return {"written": True}

    return answer_as_json(write, Path(source).name)
