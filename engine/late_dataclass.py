"""Frozen dataclasses that are cheap to import: what is compiled for each is made with the first instance, or never.

`dataclasses` writes and compiles six methods for each class, which takes more than a millisecond. A start imports a
hundred records and makes some forty of them, so this was a good part of it. Here a class gets its fields and slots at
once and its ``__init__`` with its first instance; the other methods are the same for all. What they do is what those of
`dataclasses` do. Knows nothing of what the records are about.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from reprlib import recursive_repr
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen=False, slots=False, eq=True, **others):  # noqa: ANN001, ANN003, ANN201 (checkers see the other)
        """`dataclasses.dataclass`; one that is ``frozen`` and has ``slots`` becomes a cheap one."""
        if frozen and slots and not others:
            return _made_late if eq else _made_late_each_its_own
        return dataclasses.dataclass(frozen=frozen, slots=slots, eq=eq, **others)


__all__ = ["dataclass"]

Method = Callable[..., object]
_NONE, _FACTORY = dataclasses.MISSING, object()  # no default; stands for a value that a factory gives


def _made_late(given: type) -> type:
    equal: dict[str, Method] = {"__eq__": _eq, "__hash__": _hash}
    equal = {name: method for name, method in equal.items() if name not in vars(given)}
    made = _made_late_each_its_own(given)
    for name, method in equal.items():
        setattr(made, name, method)
    return made


def _made_late_each_its_own(given: type) -> type:
    """Without comparing values: an instance is equal to itself alone."""
    own = set(vars(given))
    given.__doc__ = given.__doc__ or given.__name__  # else a signature would be looked for, which is not there yet
    made: type = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(given)
    wanted: dict[str, Method] = {"__init__": _init_later(made), "__repr__": _repr}
    methods = {name: method for name, method in wanted.items() if name not in own}
    methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
    methods |= {"__getstate__": _state, "__setstate__": _set_state}
    for name, method in methods.items():
        setattr(made, name, method)
    return made


def _fields(of: object) -> tuple[dataclasses.Field[object], ...]:
    return dataclasses.fields(cast("type", of))


# ---- making an instance -------------------------------------------------------------------------------------------


def _init_later(made: type) -> Method:
    def make_first(self: object, *values: object, **named: object) -> None:
        init = _init_of(made)
        made.__init__ = init  # type: ignore[misc]  # two threads at once make the same one
        init(self, *values, **named)

    return make_first


def _init_of(made: type) -> Method:
    """Compile what sets the fields; its arguments are named and ordered as they are."""
    scope: dict[str, object] = {"_set": object.__setattr__, "_FACTORY": _FACTORY}
    for each in _fields(made):
        scope |= {f"_default_{each.name}": each.default, f"_make_{each.name}": each.default_factory}
    places = [_argument(each) for each in _fields(made) if each.init and not each.kw_only]
    named = [_argument(each) for each in _fields(made) if each.init and each.kw_only]
    arguments = ", ".join(["self", *places, *(["*", *named] if named else [])])
    after = ["self.__post_init__()"] if hasattr(made, "__post_init__") else []
    lines = [*_settings(made), *after, "return"]
    return _compiled(made, "__init__", arguments, lines, scope)


def _argument(each: dataclasses.Field[object]) -> str:
    if each.default is not _NONE:
        return f"{each.name}=_default_{each.name}"
    return each.name if each.default_factory is _NONE else f"{each.name}=_FACTORY"


def _settings(made: type) -> Iterator[str]:
    for each in _fields(made):
        name = each.name
        if each.default_factory is not _NONE:
            made_now = f"_make_{name}()"
            yield f"_set(self, {name!r}, {f'{made_now} if {name} is _FACTORY else {name}' if each.init else made_now})"
        elif each.init or each.default is not _NONE:
            yield f"_set(self, {name!r}, {name if each.init else f'_default_{name}'})"


# ---- what all of them have ----------------------------------------------------------------------------------------


def _eq(self: object, other: object) -> bool:
    """Compare, and have the class compare by itself from now on."""
    kind = self.__class__
    mine, its = (_values(of, [each.name for each in _fields(kind) if each.compare]) for of in ("self", "other"))
    text = f"return {mine} == {its} if other.__class__ is self.__class__ else NotImplemented"
    equals = _compiled(kind, "__eq__", "self, other", [text], {})
    kind.__eq__ = equals  # type: ignore[method-assign, assignment]
    return cast("bool", equals(self, other))


def _hash(self: object) -> int:
    """Hash, and have the class hash by itself from now on."""
    kind = self.__class__
    names = [each.name for each in _fields(kind) if (each.compare if each.hash is None else each.hash)]
    hashed = _compiled(kind, "__hash__", "self", [f"return hash({_values('self', names)})"], {})
    kind.__hash__ = hashed  # type: ignore[method-assign, assignment]
    return cast("int", hashed(self))


def _values(of: str, names: list[str]) -> str:
    return "(" + "".join(f"{of}.{name}, " for name in names) + ")"


def _compiled(kind: type, name: str, arguments: str, lines: list[str], scope: dict[str, object]) -> Method:
    """Make a method of lines that have nothing in them but the names of fields."""
    exec(f"def {name}({arguments}):\n" + "".join(f" {line}\n" for line in lines), scope)  # noqa: S102
    method = cast("Method", scope[name])
    method.__qualname__ = f"{kind.__qualname__}.{name}"
    return method


@recursive_repr("...")
def _repr(self: object) -> str:
    told = (f"{each.name}={getattr(self, each.name)!r}" for each in _fields(self) if each.repr)
    return f"{type(self).__qualname__}({', '.join(told)})"


def _refuse_to_set(_self: object, name: str, _value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: object) -> list[object]:
    return [getattr(self, each.name) for each in _fields(self)]


def _set_state(self: object, state: list[object]) -> None:
    for each, value in zip(_fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)
