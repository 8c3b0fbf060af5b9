"""What tests of several of the engine's packages share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial

import pytest

from engine.sandbox import picture, probe
from tests.engine.warm_helpers import CAN_FORK, client_command, helper_server


@pytest.fixture(scope="session")
def helper_address() -> Iterator[str]:
    """Of a process that forks helpers; empty where there is none."""
    with helper_server() if CAN_FORK else nullcontext("") as address:
        yield address


@pytest.fixture
def python_command(helper_address: str) -> Callable[..., list[str]]:
    """What runs code that is given as text, with arguments: a process of its own that has the engine imported."""
    return lambda *words: (
        client_command(helper_address, "-c", *words) if helper_address else [sys.executable, "-c", *words]
    )


@pytest.fixture
def warm_helpers(helper_address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have helpers that open files begin as forks, see `tests.engine.warm_helpers`."""
    if helper_address:
        for module in (probe, picture):
            monkeypatch.setattr(module, "child_command", partial(client_command, helper_address))
