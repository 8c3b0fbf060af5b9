"""The devices of this machine, for memory estimates, without loading llama.cpp in the window's process.

A driver may end the process that uses it, and CUDA takes device memory for each process. So the devices come from the
engine, which reports them with a loaded model, or from a helper process.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from engine.errors import DeviceError, EngineError
from engine.llama.devices import shared_by_default
from engine.records import NO_DEVICE, Device, EngineReady
from engine.sandbox.library_facts import list_devices
from engine.sentences import i18n

log = logging.getLogger(__name__)

KEPT_S = 30.0  # how long an answer of the helper stays valid, also an error
_Answer = tuple[Device, ...] | DeviceError


class DeviceList:
    """Lists the devices. Thread-safe; calls may wait for the helper."""

    def __init__(self, cache_dir: Path, ready: Callable[[], EngineReady | None] = lambda: None) -> None:
        """``ready`` returns the engine's report, if any; ``cache_dir`` has the devices of earlier starts."""
        self._cache_dir, self._ready = cache_dir, ready
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, ...], tuple[float, _Answer]] = {}

    def gpus(self) -> tuple[Device, ...]:
        """All GPUs that can hold models; empty if they cannot be listed."""
        ready = self._ready()
        if ready is not None:
            return ready.devices
        try:
            return self._ask(())
        except DeviceError:
            return ()

    def find(self, names: Sequence[str]) -> tuple[Device, ...]:
        """The devices with these names; without names, the default devices.

        Raises:
            DeviceError: a device is missing.
        """
        if not names:
            return shared_by_default(self.gpus())
        if tuple(names) == (NO_DEVICE,):
            return ()
        ready = self._ready()
        known = {device.name: device for device in ready.devices} if ready is not None else {}
        missing = tuple(name for name in names if name not in known)
        return tuple(known[name] for name in names if name in known) + (self._ask(missing) if missing else ())

    def _ask(self, names: tuple[str, ...]) -> tuple[Device, ...]:
        with self._lock:
            asked_s, answer = self._kept.get(names, (-KEPT_S, ()))
            if time.monotonic() - asked_s >= KEPT_S:
                try:
                    answer = list_devices(self._cache_dir, names)
                except DeviceError as error:
                    answer = error
                except EngineError as error:
                    log.warning("the devices could not be listed: %s", error.message)
                    answer = DeviceError(i18n("The devices of this computer could not be listed."))
                self._kept[names] = time.monotonic(), answer
        if isinstance(answer, DeviceError):
            raise answer
        return answer
