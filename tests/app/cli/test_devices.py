"""Tests `paceline devices`: the list for people and for scripts."""

import json

import pytest

from app.cli import devices
from app.cli.parser import main
from engine.records import Device, DeviceKind

Capture = pytest.CaptureFixture[str]
GB = 10**9
FOUND = (
    Device("CUDA0", "NVIDIA RTX 4090", 24 * GB, 20 * GB),
    Device("Vulkan0", "Radeon 780M", None, None, DeviceKind.INTEGRATED),
)


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
    assert [one["name"] for one in told] == ["CUDA0", "Vulkan0"]
    sizes = [(one["kind"], one["total_bytes"], one["free_bytes"]) for one in told]
    assert sizes == [("gpu", 24 * GB, 20 * GB), ("integrated gpu", None, None)]


def test_nothing_beside_the_processor(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(devices, "find_gpus", tuple)
    assert main(["devices"]) == 0
    out = capsys.readouterr().out
    assert "no device besides the processor" in out
