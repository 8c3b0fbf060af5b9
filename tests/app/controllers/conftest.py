"""The app as it starts on any day but the first, and the devices of this machine, asked for once."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.hub.pairs import device_list
from engine.records import Device
from engine.sandbox.library_facts import list_devices


@pytest.fixture(scope="session")
def _devices_here(found_by_trying: Path) -> tuple[Device, ...]:
    """What the child process that lists the devices says."""
    return list_devices(found_by_trying)


@pytest.fixture(autouse=True)
def _no_first_looks(
    tried: None, warm_helpers: None, _devices_here: tuple[Device, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No window waits for a child process that tries the kernels or lists the devices, at its end neither."""

    def answer(cache_dir: Path, names: tuple[str, ...] = ()) -> tuple[Device, ...]:
        return list_devices(cache_dir, names) if names else _devices_here

    monkeypatch.setattr(device_list, "list_devices", answer)
