"""Tests `paceline devices`: the list for people and for scripts, with and without servers."""

from __future__ import annotations

import json

import pytest

from app.cli import devices
from app.cli.parser import main
from engine.llama import rpc
from engine.records import Device, DeviceKind

Capture = pytest.CaptureFixture[str]
GB = 10**9
FOUND = (
    Device("CUDA0", "NVIDIA RTX 4090", 24 * GB, 20 * GB),
    Device("Vulkan0", "Radeon 780M", None, None, DeviceKind.INTEGRATED),
)
SERVER = "rpc:10.0.0.2:50052"


def test_the_list_has_names_kinds_and_memory(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(devices, "find_gpus", lambda: FOUND)
    assert main(["devices"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["device", "description", "kind", "memory", "free"]
    assert lines[1] == ["CUDA0", "NVIDIA", "RTX", "4090", "GPU", "24.0", "GB", "20.0", "GB"]
    assert lines[2] == ["Vulkan0", "Radeon", "780M", "integrated", "GPU", "unknown", "unknown"]


def test_json_has_bytes(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(devices, "find_gpus", lambda: FOUND)
    assert main(["devices", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["devices"]
    assert [one["device"] for one in told] == ["CUDA0", "Vulkan0"]
    sizes = [(one["is"]["kind"], one["is"]["total_bytes"], one["is"]["free_bytes"]) for one in told]
    assert sizes == [("gpu", 24 * GB, 20 * GB), ("integrated gpu", None, None)]


def test_devices_of_a_server_are_listed_by_the_name_that_is_used(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    remote = Device("RPC0", "10.0.0.2:50052", 8 * GB, 7 * GB, DeviceKind.REMOTE)
    monkeypatch.setattr(devices, "find_gpus", tuple)
    monkeypatch.setattr(devices, "find_devices", lambda names: (remote,) if list(names) == [SERVER] else ())
    assert main(["devices", SERVER]) == 0
    told = capsys.readouterr()
    assert SERVER in told.out.splitlines()[1]
    assert "no authentication" in told.err


def test_a_server_without_the_backend_is_one_sentence(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(rpc, "is_supported", lambda: False)
    assert main(["devices", SERVER]) == 1
    assert "it has no RPC backend" in capsys.readouterr().err
    assert main(["devices", "CUDA0"]) == 1
    assert "has to be rpc:host:port" in capsys.readouterr().err


def test_nothing_beside_the_processor(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(devices, "find_gpus", tuple)
    monkeypatch.setattr(rpc, "is_supported", lambda: False)
    assert main(["devices"]) == 0
    out = capsys.readouterr().out
    assert "no device besides the processor" in out
    assert "no RPC backend" in out
