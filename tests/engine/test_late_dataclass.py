"""What is made late is what `dataclasses` makes at once."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import field

import pytest

from engine.late_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Late:
    """A record with all that a field may have."""

    number: int
    text: str = "as usual"
    several: tuple[int, ...] = field(default=(), compare=False)
    made: list[str] = field(default_factory=list, hash=False)
    unsaid: int = field(default=3, repr=False)
    fixed: int = field(default=7, init=False)
    named: int = field(default=1, kw_only=True)


@dataclasses.dataclass(frozen=True, slots=True)
class AtOnce:
    """The same record."""

    number: int
    text: str = "as usual"
    several: tuple[int, ...] = field(default=(), compare=False)
    made: list[str] = field(default_factory=list, hash=False)
    unsaid: int = field(default=3, repr=False)
    fixed: int = field(default=7, init=False)
    named: int = field(default=1, kw_only=True)


@dataclass(frozen=True, slots=True)
class Checked:
    """A record that looks at what it is given, and one field alone."""

    number: int

    def __post_init__(self) -> None:
        """Refuse what is below zero."""
        if self.number < 0:
            raise ValueError("below zero")


@dataclass(frozen=True, slots=True)
class Derived(Checked):
    """A record with the fields of another."""

    word: str = ""


@dataclass(frozen=True, slots=True)
class Empty:
    """A record without a field."""


@dataclass(frozen=True, slots=True, eq=False)
class Single:
    """A record that is equal to itself alone."""

    number: int


CALLS = (
    ((1,), {}),
    ((1, "two", (3,), ["four"]), {"named": 5}),
    ((), {"number": 1, "unsaid": 2}),
    ((), {}),
    ((1, "two", (), [], 3, 4), {}),
    ((1,), {"fixed": 2}),
    ((1,), {"number": 2}),
)


def _outcome(kind: Callable[..., object], values: tuple[object, ...], named: dict[str, object]) -> object:
    try:
        return repr(kind(*values, **named)).replace("Late", "AtOnce")
    except TypeError as error:
        return str(error).replace("Late", "AtOnce")


@pytest.mark.parametrize(("values", "named"), CALLS)
def test_an_instance_is_made_refused_and_told_of_as_by_dataclasses(
    values: tuple[object, ...], named: dict[str, object]
) -> None:
    assert _outcome(Late, values, named) == _outcome(AtOnce, values, named)


def test_instances_are_equal_and_hashed_by_the_fields_that_are_compared() -> None:
    one, other = Late(1, several=(1,)), Late(1, several=(2,))
    assert one == other
    assert one != Late(2)
    assert hash(one) == hash(other)  # though it has a list: that one is not hashed
    assert one != AtOnce(1)
    assert len({Checked(1), Checked(1), Checked(2)}) == 2
    assert Empty() == Empty()
    assert hash(Empty()) == hash(Empty())
    assert Derived(1, "a") != Derived(1, "b")
    assert Checked(1) != Derived(1)
    single = Single(1)
    assert single in {single}
    assert single != Single(1)


def test_each_list_is_its_own() -> None:
    one, other = Late(1), Late(1)
    one.made.append("word")
    assert other.made == []


@pytest.mark.parametrize("name", ["number", "never_heard_of"])
def test_nothing_can_be_set_or_deleted(name: str) -> None:
    record = Late(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot assign to field '{name}'"):
        setattr(record, name, 2)
    with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot delete field '{name}'"):
        delattr(record, name)
    assert not hasattr(record, "__dict__")


def test_what_is_given_is_looked_at() -> None:
    with pytest.raises(ValueError, match="below zero"):
        Checked(-1)
    with pytest.raises(ValueError, match="below zero"):
        Derived(-1)


def test_copies_are_equal() -> None:
    record = Late(1, made=["word"])
    for copied in (copy.copy(record), copy.deepcopy(record), pickle.loads(pickle.dumps(record))):  # noqa: S301 (ours)
        assert copied == record
    assert dataclasses.replace(record, number=2).number == 2
    assert dataclasses.asdict(Late(1)) == dataclasses.asdict(AtOnce(1))


def test_records_can_be_matched() -> None:
    match Derived(1, "word"):
        case Derived(number, word):
            assert (number, word) == (1, "word")


def test_other_options_are_left_to_dataclasses() -> None:
    @dataclass(slots=True)
    class Open:
        number: int

    record = Open(1)
    record.number = 2
    assert record.number == 2
