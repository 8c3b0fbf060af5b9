"""One target, with what may draft for it: from a request to a stream of events."""
