"""Signals end a command once, and its cleanup is complete."""

import os
import signal

import pytest

from app.cli.interrupts import ended_by_signals


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_impatient_second_signal_does_not_skip_what_is_done_at_the_end(number: signal.Signals) -> None:
    done: list[str] = []

    def serve() -> None:
        with ended_by_signals():
            try:
                signal.raise_signal(number)
            finally:
                for again in (signal.SIGINT, signal.SIGTERM, signal.SIGINT):
                    signal.raise_signal(again)
                done.append("waited for the engine")

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        serve()
    assert done == ["waited for the engine"]
    assert signal.getsignal(signal.SIGINT) is before
