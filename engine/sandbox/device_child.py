"""The helper process that lists devices: a driver may end who asks, and CUDA takes memory of the device for them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine.errors import DeviceError
from engine.records import Device, DeviceKind
from engine.sandbox.probe import ask_child
from engine.sandbox.probe_child import answer_as_json
from engine.sentences import from_json, to_json

_LIMIT_S = 20.0


def main(arguments: list[str]) -> int:
    """The folder of what earlier starts found, then names of devices; without any, all graphics processors are told."""
    cache_dir, *names = arguments

    def look() -> dict[str, Any]:
        from engine.llama import gpu_verdict  # noqa: PLC0415  (loads llama.cpp: an error of that is told by the caller)
        from engine.llama.devices import find_devices, find_gpus  # noqa: PLC0415
        from engine.sandbox.gpu_check import kept_verdict  # noqa: PLC0415

        verdict, _sentence = kept_verdict(Path(cache_dir))
        if verdict is not None:
            gpu_verdict.set_current(verdict)
        try:
            found = find_devices(names) if names else find_gpus()
        except DeviceError as error:
            return {"refused": {"message": to_json(error.message), "advice": to_json(error.advice)}}
        return {"devices": [asdict(device) for device in found]}

    return answer_as_json(look, "llama.cpp")


def list_devices(cache_dir: Path, names: tuple[str, ...] = ()) -> tuple[Device, ...]:
    """Ask the helper: the devices of these names; without any, all graphics processors that models may lie on.

    Raises:
        DeviceError: one is not there, or does not answer.
        EngineError: the helper crashed.
    """
    answer = ask_child("devices", [cache_dir], _LIMIT_S, words=names, sees_gpus=True)
    if "refused" in answer:
        raise DeviceError(from_json(answer["refused"]["message"]), from_json(answer["refused"]["advice"]))
    return tuple(Device(**{**one, "kind": DeviceKind(one["kind"])}) for one in answer["devices"])
