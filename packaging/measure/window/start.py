"""Measures the time from the app's command to a usable window.

``python packaging/measure/window/start.py --home DIR [--repeat 9]``

DIR is a folder of the app (PACELINE_HOME) with chats. Each start is the command `paceline` as it is, with the
real engine, without a display: the clock starts before the process does, and ends when the event loop comes round
after the first paint, with the list and the last conversation shown. Python's compiled modules are kept between the
starts, as they are in every installation, whatever the environment says of them here: in a folder of this measurement's
own, empty at first. The first start, which compiles every module, is reported apart; it is what a start takes without.
The processor's time is told as well: other programs make a start wait, but add little to that.
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
    """Start the app once, with the compiled modules in a folder; returns its report."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PACELINE_HOME": home, "QT_QPA_PLATFORM": "offscreen", "PYTHONPYCACHEPREFIX": compiled}
    environment["PACELINE_MEASURED_FROM"] = str(time.time())
    done = subprocess.run([sys.executable, str(STARTED)], env=environment, capture_output=True, check=True)
    reported: dict[str, float] = json.loads(done.stdout.splitlines()[0])
    if not (reported["usable"] and reported["listed"] and reported["shown"]):
        raise SystemExit(f"The window was not usable: {reported}")
    return reported


def main() -> int:
    """Start the app several times, and print the times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", required=True)
    parser.add_argument("--repeat", type=int, default=9)
    options = parser.parse_args()
    config = Path(options.home) / "config"
    config.mkdir(parents=True, exist_ok=True)
    (config / "welcomed").touch()  # not a first run
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
