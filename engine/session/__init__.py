"""A session: a target with its drafters, which converts requests to streams of events."""
