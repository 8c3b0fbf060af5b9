"""A draft without vision reads a word for each picture, and positions are counted like the target's."""

import random

import numpy as np
import pytest

from engine.drafters.blind import PicturelessSequence
from engine.sequence import CachedSequence
from tests.scripted_pair import MarkovModel

WORD = 5


def history(*parts: int | tuple[int, int]) -> np.ndarray:
    """Token ids; a pair is a picture: its first id and its number of positions."""
    ids = list[int]()
    for part in parts:
        ids += [part] if isinstance(part, int) else range(part[0], part[0] - part[1], -1)
    return np.asarray(ids, dtype=np.int32)


@pytest.fixture
def own() -> CachedSequence:
    """The draft's sequence."""
    return CachedSequence(MarkovModel(np.zeros((16, 16), dtype=np.float32)))


def test_each_stretch_is_one_word(own: CachedSequence) -> None:
    """Adjacent pictures count as one."""
    blind = PicturelessSequence(own, WORD)
    given = history(1, 2, (-10, 4), 3, (-30, 2), (-50, 3), 4)
    for _ in blind.prefill(given):
        pass
    assert own.ids.tolist() == [1, 2, WORD, 3, WORD, 4]
    assert blind.num_past == len(given)
    assert blind.n_ctx == own.n_ctx + 3 + 4


def test_what_is_shared_stays_and_is_counted_in_places(own: CachedSequence) -> None:
    """Text after a picture that changed."""
    blind = PicturelessSequence(own, WORD)
    for _ in blind.prefill(history(1, (-10, 4), 3, 4, 6)):
        pass
    assert PicturelessSequence(own, WORD).reuse(history(1, (-10, 4), 3, 7, 8)) == 6
    assert own.ids.tolist() == [1, WORD, 3]


def test_going_back_anywhere_agrees_with_what_is_held(own: CachedSequence) -> None:
    """Random histories and cuts, compared with a list of pairs."""
    dice = random.Random(3)  # noqa: S311  (no secret)
    blind, next_id = PicturelessSequence(own, WORD), -100
    held = list[int]()
    for _ in range(300):
        if held and dice.random() < 0.4:
            cut = dice.randrange(len(held) + 1)
            while cut and cut < len(held) and held[cut] < 0 and held[cut - 1] < 0:
                cut -= 1
            assert blind.rollback(cut)
            held = held[:cut]
        else:
            parts = [dice.randrange(1, 16) for _ in range(dice.randrange(1, 4))]
            ids = list[int]()
            for part in parts:
                if dice.random() < 0.3 and (held or ids) and (ids or held)[-1] >= 0:
                    ids += range(next_id, next_id - 3, -1)
                    next_id -= 10
                ids.append(part)
            if len(held) + len(ids) > 60:
                continue
            blind.forward(np.asarray(ids, dtype=np.int32), 1)
            held += ids
        assert blind.num_past == len(held)
        expected = [WORD if one < 0 else one for i, one in enumerate(held) if one >= 0 or i == 0 or held[i - 1] >= 0]
        assert own.ids.tolist() == expected
