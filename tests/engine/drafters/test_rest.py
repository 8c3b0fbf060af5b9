"""Looks for text while plain passes follow each other: rare where they are dear, never so rare that text is lost."""

from __future__ import annotations

from engine.drafters.rest import Rest


def looks(rest: Rest, num_tokens: int, look_ms: float, plain_ms: float) -> int:
    count = 0
    for token_id in range(num_tokens):
        if rest.is_time(token_id):
            rest.taken()
            rest.looked(look_ms, plain_ms)
            count += 1
    return count


def test_every_token_is_looked_at_where_a_pass_takes_long() -> None:
    assert looks(Rest(), 200, look_ms=0.02, plain_ms=7.0) == 200


def test_looks_become_rare_where_they_take_a_share_of_a_pass_but_never_end() -> None:
    rest = Rest()
    looks(rest, 200, look_ms=0.03, plain_ms=0.3)
    assert looks(rest, 160, look_ms=0.03, plain_ms=0.3) in range(5, 14)
    assert looks(rest, 160, look_ms=30.0, plain_ms=0.3) >= 2


def test_soon_after_a_proposal_every_token_is_looked_at() -> None:
    assert looks(Rest(), 8, look_ms=0.03, plain_ms=0.3) == 8


def test_where_nothing_was_proposed_dear_looks_are_rare_from_the_first_on() -> None:
    assert looks(Rest(eager=False), 64, look_ms=0.05, plain_ms=0.3) <= 4
    assert looks(Rest(eager=False), 64, look_ms=0.02, plain_ms=7.0) == 64


def test_no_token_is_lost_between_looks() -> None:
    rest, seen = Rest(), list[int]()
    for token_id in range(100):
        if rest.is_time(token_id):
            seen += rest.taken()
            rest.looked(0.5, 0.3)
    assert [*seen, *rest.taken()] == list(range(100))


def test_what_waits_is_counted_until_it_is_taken() -> None:
    rest = Rest()
    looks(rest, 200, look_ms=0.03, plain_ms=0.3)
    rest.taken()
    rest.is_time(1)
    rest.is_time(2)
    assert rest.num_waiting == 2
    rest.taken()
    assert rest.num_waiting == 0
