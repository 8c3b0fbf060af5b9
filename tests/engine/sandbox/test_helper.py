"""Helpers are found by name, each without importing the others."""

import subprocess
import sys

import pytest

from engine.sandbox.helper import child_command, child_environment, main, run_helper


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


def test_a_helper_that_starts_slowly_gets_all_of_its_data(monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import sys, time; time.sleep(0.3); sys.stdout.buffer.write(sys.stdin.buffer.read())"
    monkeypatch.setattr("engine.sandbox.helper.child_command", lambda *_: [sys.executable, "-c", program])
    data = bytes(range(256)) * 4000  # more than a pipe holds
    assert run_helper("picture", data=data, limit_s=60).output == data


def test_a_helper_may_end_without_reading_its_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.sandbox.helper.child_command", lambda *_: [sys.executable, "-c", "print(1)"])
    assert run_helper("picture", data=bytes(1_000_000), limit_s=60).output.strip() == b"1"
