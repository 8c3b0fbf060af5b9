"""The app after its first start, with the devices of this machine, listed once."""

from pathlib import Path

import pytest

from app.core.hub.pairs import device_list
from engine.records import Device
from engine.sandbox.library_facts import list_devices


@pytest.fixture(scope="session")
def _devices_here(found_by_trying: Path) -> tuple[Device, ...]:
    """The output of the child process that lists the devices."""
    return list_devices(found_by_trying)


@pytest.fixture(autouse=True)
def _no_first_looks(
    tried: None, warm_helpers: None, _devices_here: tuple[Device, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prevent child processes that test kernels or list devices, for which a window would wait."""

    def answer(cache_dir: Path, names: tuple[str, ...] = ()) -> tuple[Device, ...]:
        return list_devices(cache_dir, names) if names else _devices_here

    monkeypatch.setattr(device_list, "list_devices", answer)
