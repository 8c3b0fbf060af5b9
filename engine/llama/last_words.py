"""What is said where llama.cpp ends the process: a failed assertion, or an exception that nothing catches.

Files are tried in a child process before they are opened here, so this is for what no trial reached. Nothing can go on
after either: where the session has a process of its own, that one's end is told by its parent; where it has not, these
are the last words.
"""

from __future__ import annotations

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
_RUNTIMES = {"linux": "libstdc++.so.6", "darwin": "libc++.1.dylib"}  # of C++; elsewhere it has another name for it
_UNCAUGHT = "an exception that nothing caught"
_held: list[Any] = []  # llama.cpp keeps their addresses only


def say_last_words(tell: Callable[[str], None]) -> None:
    """Have ``tell`` called with the reason, on the thread that failed; the process ends with status 1 then.

    Where this system has no way to it, the process ends as it would have.
    """

    def end(reason: str) -> None:
        try:
            tell(reason)
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

    library.start()  # loading it sets a handler of its own
    _held[:] = on_abort, on_terminate
    with suppress(AttributeError):
        library.ggml().ggml_set_abort_callback(on_abort)
    with suppress(AttributeError, OSError, KeyError):
        getattr(ctypes.CDLL(_RUNTIMES[sys.platform]), _SET_TERMINATE)(on_terminate)
