"""Where a bundle begins: as `python -m app`, also where it starts itself again as a helper process."""

import sys

from app.__main__ import main

sys.exit(main())
