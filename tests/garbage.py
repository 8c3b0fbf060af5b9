"""Collects cyclic garbage when there may be enough of it."""

import gc

ENOUGH = 20_000  # objects created since the last collection: about ten windows, or 60 MB
EVERYTHING = 20  # collections of new objects for each full collection, which takes longer in a large process

_looks = 0


def collect_some() -> None:
    """Collect if worthwhile: usually new objects, sometimes also older ones, which a fixture may have held."""
    global _looks  # noqa: PLW0603  (of the process, as the garbage is)
    if gc.get_count()[0] > ENOUGH:
        _looks += 1
        gc.collect(2 if _looks % EVERYTHING == 0 else 1)
