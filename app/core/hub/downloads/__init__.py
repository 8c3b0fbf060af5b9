"""Downloads: a queue, resumed after a crash, each file checked."""
