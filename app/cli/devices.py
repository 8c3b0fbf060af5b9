"""`paceline devices`: lists the devices that llama.cpp can use besides the CPU, with their names for `--device`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from app.cli.models.output import size_words
from app.cli.output import notify, table
from engine.llama import rpc
from engine.llama.devices import find_devices, find_gpus
from engine.llama.library import processor_name
from engine.records import Device, DeviceKind

_KINDS = {DeviceKind.GPU: "GPU", DeviceKind.INTEGRATED: "integrated GPU", DeviceKind.REMOTE: "over RPC"}


def command(options: argparse.Namespace) -> int:
    """List the devices of this machine and of the named servers; exit code 1 if a server does not answer."""
    found: list[tuple[str, Device]] = [(gpu.name, gpu) for gpu in find_gpus()]
    for name in options.servers:
        found.extend((name, device) for device in find_devices([rpc.checked(name)]))
    warning = rpc.warning(options.servers)
    if warning:
        notify(warning)
    if options.json:
        print(json.dumps({"processor": processor_name(), "devices": [_device_facts(*one) for one in found]}))
    else:
        _print(found)
    return 0


def _print(found: Sequence[tuple[str, Device]]) -> None:
    if found:
        print(table([("device", "description", "kind", "memory", "free"), *(_row(*one) for one in found)]))
    else:
        print(f"llama.cpp finds no device besides the processor ({processor_name()}).")
    if not rpc.is_supported():
        print("This build of llama.cpp has no RPC backend, so devices of other machines cannot be used.")


def _row(name: str, device: Device) -> tuple[str, ...]:
    sizes = (device.total_bytes, device.free_bytes)
    return (
        name,
        device.description,
        _KINDS[device.kind],
        *("unknown" if one is None else size_words(one) for one in sizes),
    )


def _device_facts(name: str, device: Device) -> dict[str, object]:
    return {
        "device": name,
        "name": device.name,
        "description": device.description,
        "kind": device.kind.value,
        "total_bytes": device.total_bytes,
        "free_bytes": device.free_bytes,
    }
