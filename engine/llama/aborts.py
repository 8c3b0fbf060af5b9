"""Reports why llama.cpp aborts the process: a failed assertion, or an uncaught exception.

A child process tries every file first, so this is for failures that the trial did not find. The process cannot
continue; if the session has a separate process, its parent reports the end.
"""

import ctypes
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from engine.llama import library

_OnAbort = ctypes.CFUNCTYPE(None, ctypes.c_char_p)
_OnTerminate = ctypes.CFUNCTYPE(None)
_SET_TERMINATE = "_ZSt13set_terminatePFvvE"  # std::set_terminate(void (*)())
_RUNTIMES = {"linux": "libstdc++.so.6", "darwin": "libc++.1.dylib"}  # C++ runtimes; other systems have another function
_UNCAUGHT = "an exception that nothing caught"
_callbacks: list[Any] = []  # keeps the callbacks alive, since llama.cpp has only their addresses


def report_aborts(report: Callable[[str], None]) -> None:
    """Let aborts call ``report`` with the reason on the failed thread, and then end the process with status 1.

    On systems without such callbacks, the process ends without a report.
    """

    def end(reason: str) -> None:
        try:
            report(reason)
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(1)

    @_OnAbort  # type: ignore[untyped-decorator]
    def on_abort(message: bytes | None) -> None:
        end((message or b"").decode("utf-8", "replace").strip())

    @_OnTerminate  # type: ignore[untyped-decorator]
    def on_terminate() -> None:
        end(_UNCAUGHT)

    library.start()  # first, since it sets its own handler
    _callbacks[:] = on_abort, on_terminate
    with suppress(AttributeError):
        library.ggml().ggml_set_abort_callback(on_abort)
    with suppress(AttributeError, OSError, KeyError):
        getattr(ctypes.CDLL(_RUNTIMES[sys.platform]), _SET_TERMINATE)(on_terminate)
