"""Fixtures that tests of several engine packages share."""

import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from itertools import count

import numpy as np
import pytest

from engine.sandbox.helper import child_command
from tests.engine.warm_helpers import CAN_FORK, client_command, helper_server


@pytest.fixture(scope="session")
def helper_address() -> Iterator[str]:
    """The address of a process that forks helpers; empty if forking is not supported."""
    with helper_server() if CAN_FORK else nullcontext("") as address:
        yield address


@pytest.fixture
def python_command(helper_address: str) -> Callable[..., list[str]]:
    """A function: the command that runs Python code with arguments in a separate process, with the engine imported."""
    return lambda *words: (
        client_command(helper_address, "-c", *words) if helper_address else [sys.executable, "-c", *words]
    )


@pytest.fixture
def warm_helpers(helper_address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start helpers that open files as forks, see `tests.engine.warm_helpers`."""
    if helper_address:

        def command(name: str, *words: str) -> list[str]:
            is_own = name in (
                "template",
                "embeddings",
                "guard",
            )  # commands that are identified by process id or need another pipe
            return child_command(name, *words) if is_own else client_command(helper_address, name, *words)

        monkeypatch.setattr("engine.sandbox.helper.child_command", command)


@pytest.fixture
def repeatable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make answers without a seed sample the same numbers in every run."""
    numbers = count()
    monkeypatch.setattr("engine.sampling.sampler.PCG64", lambda: np.random.PCG64(next(numbers)))
