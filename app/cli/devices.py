"""`paceline devices`: lists the devices that llama.cpp can use besides the CPU, with their names for `--device`."""

import argparse

from app.cli.output import print_json, size_words, table
from engine.llama.devices import find_gpus
from engine.llama.library import processor_name
from engine.records import Device, DeviceKind

_KINDS = {DeviceKind.GPU: "GPU", DeviceKind.INTEGRATED: "integrated GPU"}


def command(options: argparse.Namespace) -> int:
    """List the devices of this machine."""
    found = find_gpus()
    if options.json:
        print_json({"processor": processor_name(), "devices": found})
    elif found:
        print(table([("device", "description", "kind", "memory", "free"), *map(_row, found)]))
    else:
        print(f"llama.cpp finds no device besides the processor ({processor_name()}).")
    return 0


def _row(device: Device) -> tuple[str, ...]:
    sizes = ("unknown" if one is None else size_words(one) for one in (device.total_bytes, device.free_bytes))
    return (device.name, device.description, _KINDS[device.kind], *sizes)
