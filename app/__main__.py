"""`python -m app` and the command `paceline`. Knows only how to hand over to the command line."""

from __future__ import annotations

import sys

from app.command_line.parser import main

if __name__ == "__main__":
    sys.exit(main())
