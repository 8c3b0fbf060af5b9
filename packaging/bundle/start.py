"""The entry point of a bundle, like `python -m app`; a bundle also starts its helper processes here."""

import sys

from app.__main__ import main

sys.exit(main())
