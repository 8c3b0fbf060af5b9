"""`paceline devices`: lists the devices that llama.cpp can use besides the CPU, with their names for `--device`."""

from __future__ import annotations

import argparse

from app.cli.output import notify, print_json, size_words, table
from engine.llama import rpc
from engine.llama.devices import find_devices, find_gpus
from engine.llama.library import processor_name
from engine.records import Device, DeviceKind

_KINDS = {DeviceKind.GPU: "GPU", DeviceKind.INTEGRATED: "integrated GPU", DeviceKind.REMOTE: "over RPC"}


def command(options: argparse.Namespace) -> int:
    """List the devices of this machine and of the named servers; exit code 1 if a server does not answer."""
    found = [(gpu.name, gpu) for gpu in find_gpus()]
    for name in options.servers:
        found.extend((name, device) for device in find_devices([rpc.checked(name)]))
    if warning := rpc.warning(options.servers):
        notify(warning)
    if options.json:
        print_json({"processor": processor_name(), "devices": [{"device": name, "is": one} for name, one in found]})
        return 0
    if found:
        print(table([("device", "description", "kind", "memory", "free"), *(_row(*one) for one in found)]))
    else:
        print(f"llama.cpp finds no device besides the processor ({processor_name()}).")
    if not rpc.is_supported():
        print("This build of llama.cpp has no RPC backend, so devices of other machines cannot be used.")
    return 0


def _row(name: str, device: Device) -> tuple[str, ...]:
    sizes = ("unknown" if one is None else size_words(one) for one in (device.total_bytes, device.free_bytes))
    return (name, device.description, _KINDS[device.kind], *sizes)
