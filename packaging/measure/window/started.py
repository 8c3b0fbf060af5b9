"""Runs the real app until its first paint, reports the time, and exits. `start.py` starts it and the clock.

It imports only modules of the app, since others would add to the measured time.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

ROOT = str(Path(__file__).resolve().parents[3])
STARTED = "PACELINE_MEASURED_FROM"


def main() -> int:
    """Run the command; print a line of JSON once the event loop runs after the first paint."""
    sys.path.insert(0, ROOT)
    from PySide6.QtCore import QTimer  # noqa: PLC0415  (what is measured is when the app itself imports it)
    from PySide6.QtWidgets import QApplication  # noqa: PLC0415

    from app.__main__ import main as run_app  # noqa: PLC0415  (which imports the window's code itself)

    def report() -> None:
        took_s, processor_s = time.time() - float(os.environ[STARTED]), time.process_time()
        import json  # noqa: PLC0415  (the clock was read)

        window = next(each for each in QApplication.topLevelWidgets() if each.inherits("QMainWindow"))
        figures = {
            "start_s": took_s,
            "processor_s": processor_s,
            "listed": window.sidebar.list.rows.rowCount(),
            "shown": len(window.transcript.cards),
            "usable": window.isVisible() and window.composer.isEnabled(),
        }
        sys.stdout.write(json.dumps(figures) + "\n")
        sys.stdout.flush()
        window.close()

    run = QApplication.exec

    def report_after_paint(*_application: object) -> int:
        QTimer.singleShot(0, report)
        return int(run())

    QApplication.exec = report_after_paint
    return run_app([])


if __name__ == "__main__":
    sys.exit(main())
