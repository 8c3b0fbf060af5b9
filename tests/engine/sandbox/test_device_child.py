"""The helper that lists devices, as the library that is installed has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import DeviceError
from engine.llama.devices import find_gpus
from engine.sandbox.device_child import list_devices


def test_it_lists_what_this_build_finds(tmp_path: Path) -> None:
    assert [one.name for one in list_devices(tmp_path)] == [one.name for one in find_gpus()]


def test_a_device_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="CUDA99"):
        list_devices(tmp_path, ("CUDA99",))
