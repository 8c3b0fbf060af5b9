"""`paceline devices`: lists the devices that llama.cpp can use besides the CPU, with their names for `--device`."""

from __future__ import annotations

import argparse
import json

from app.cli.models.output import size_words
from app.cli.output import table
from engine.llama.devices import find_gpus
from engine.llama.library import processor_name
from engine.records import Device, DeviceKind

_KINDS = {DeviceKind.GPU: "GPU", DeviceKind.INTEGRATED: "integrated GPU"}


def command(options: argparse.Namespace) -> int:
    """List the devices of this machine."""
    found = find_gpus()
    if options.json:
        print(json.dumps({"processor": processor_name(), "devices": [_device_facts(device) for device in found]}))
    elif found:
        print(table([("device", "description", "kind", "memory", "free"), *map(_row, found)]))
    else:
        print(f"llama.cpp finds no device besides the processor ({processor_name()}).")
    return 0


def _row(device: Device) -> tuple[str, ...]:
    sizes = (device.total_bytes, device.free_bytes)
    return (
        device.name,
        device.description,
        _KINDS[device.kind],
        *("unknown" if one is None else size_words(one) for one in sizes),
    )


def _device_facts(device: Device) -> dict[str, object]:
    return {
        "device": device.name,
        "name": device.name,
        "description": device.description,
        "kind": device.kind.value,
        "total_bytes": device.total_bytes,
        "free_bytes": device.free_bytes,
    }
