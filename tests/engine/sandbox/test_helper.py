"""Helpers are found by name, each without importing the others."""

from __future__ import annotations

import subprocess
import sys

import pytest

from engine.sandbox.helper import child_command, child_environment, main


def test_a_helper_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ValueError, match="no helper called 'nobody'"):
        main(["nobody"])


def test_a_helper_starts_as_a_process_of_its_own_and_loads_no_other() -> None:
    words = child_command("grammar")
    assert words[:2] == [sys.executable, "-P"]
    program = (
        "import sys; from engine.sandbox.helper import main\n"
        "try: main(['template'])\n"
        "except Exception: pass\n"
        "print([name for name in sys.modules if 'engine.sandbox' in name and name[-6:] in ('_child', 'trials')])"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], env=child_environment(bare=False), capture_output=True, text=True,
        check=True, timeout=120,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "['engine.sandbox.template_child']"
