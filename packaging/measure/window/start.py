"""Measures the time from the app's command to a usable window, in separate processes.

``python packaging/measure/window/start.py --home DIR [--repeat 9]``

DIR is a folder of the app (PACELINE_HOME) with chats. Each start runs the unmodified command `paceline` with the real
engine, without a display. The clock starts before the process, and ends when the event loop runs after the first paint,
with the list and the last conversation shown. As in an installation, Python's compiled modules are kept between starts,
in a separate folder that is empty at first. The first start, which compiles every module, is reported separately. CPU
time is reported as well, since other programs affect it less.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STARTED = Path(__file__).with_name("started.py")


def start_once(home: str, compiled: str) -> dict[str, float]:
    """Start the app once, with a folder of compiled modules; return its report."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PACELINE_HOME": home, "QT_QPA_PLATFORM": "offscreen", "PYTHONPYCACHEPREFIX": compiled}
    environment["PACELINE_MEASURED_FROM"] = str(time.time())
    done = subprocess.run([sys.executable, str(STARTED)], env=environment, capture_output=True, check=True)
    reported: dict[str, float] = json.loads(done.stdout.splitlines()[0])
    if not (reported["usable"] and reported["listed"] and reported["shown"]):
        raise SystemExit(f"The window was not usable: {reported}")
    return reported


def main() -> int:
    """Start the app several times, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", required=True)
    parser.add_argument("--repeat", type=int, default=9)
    options = parser.parse_args()
    config = Path(options.home) / "config"
    config.mkdir(parents=True, exist_ok=True)
    (config / "welcomed").touch()  # skips the first-run dialog
    with tempfile.TemporaryDirectory() as compiled:
        reported = [start_once(options.home, compiled) for _ in range(options.repeat + 1)]
    first, *rest = (each["start_s"] for each in reported)
    processor = [each["processor_s"] for each in reported[1:]]
    result = {
        "first_s": round(first, 3),
        "best_s": round(min(rest), 3),
        "median_s": round(statistics.median(rest), 3),
        "worst_s": round(max(rest), 3),
        "processor_best_s": round(min(processor), 3),
        "processor_median_s": round(statistics.median(processor), 3),
        "starts": len(rest),
    }
    print(json.dumps(result, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
