"""Lists devices without llama.cpp in the window's process: from the engine, else from a helper, cached for a while."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.core.hub.pairs import device_list
from app.core.hub.pairs.device_list import DeviceList
from engine.errors import DeviceError, ModelLoadError
from engine.records import NO_DEVICE, Device, DeviceKind, EngineReady
from tests.app.fakes import info

OWN = Device("CUDA0", "One", 8, 7)
INSIDE = Device("Vulkan0", "Two", 4, 3, DeviceKind.INTEGRATED)
READY = replace(EngineReady(info("t.gguf")), devices=(OWN, INSIDE))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The requests to the helper; it knows CUDA0, and crashes if asked for "crash"."""
    asked: list[tuple[str, ...]] = []

    def answer(_folder: Path, names: tuple[str, ...]) -> tuple[Device, ...]:
        asked.append(names)
        if names == ("crash",):
            raise ModelLoadError("It crashed.")
        if names not in ((), ("CUDA0",)):
            raise DeviceError("There is no such device.")
        return (OWN,)

    monkeypatch.setattr(device_list, "list_devices", answer)
    return asked


def test_the_helper_is_asked_once_in_a_while_until_the_engine_tells(
    tmp_path: Path, asked: list[tuple[str, ...]]
) -> None:
    ready: list[EngineReady] = []
    devices = DeviceList(tmp_path, lambda: ready[-1] if ready else None)
    assert devices.gpus() == devices.gpus() == devices.find(()) == (OWN,)
    assert asked == [()]
    for _ in range(2):
        with pytest.raises(DeviceError, match="no such device"):
            devices.find(("CUDA7",))
        with pytest.raises(DeviceError, match="could not be listed"):
            devices.find(("crash",))
    assert asked == [(), ("CUDA7",), ("crash",)]
    ready.append(READY)
    assert devices.gpus() == (OWN, INSIDE)
    assert devices.find(()) == (OWN,), "integrated ones only where there are no others"
    assert devices.find(("Vulkan0",)) == (INSIDE,)
    assert devices.find((NO_DEVICE,)) == ()
    assert len(asked) == 3


def test_an_answer_is_not_kept_for_ever(
    tmp_path: Path, asked: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    devices = DeviceList(tmp_path)
    devices.gpus()
    monkeypatch.setattr(device_list, "KEPT_S", 0.0)
    devices.gpus()
    assert asked == [(), ()]
