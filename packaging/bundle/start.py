"""Entry point of a bundle, like `python -m app`; also starts helper processes."""

import sys

from app.__main__ import main

sys.exit(main())
