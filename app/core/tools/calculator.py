"""A calculator for models: Python's arithmetic read by `ast` and evaluated here, with bounded numbers; nothing is run.

Whole numbers are exact; others are floats, shown with 15 digits. ``^`` is power, as people write it.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping

MAX_CHARS = 500
MAX_BITS = 10_000  # of a whole number: about 3,000 digits
MAX_NODES = 300
_MAX_FACTORIAL = 800  # 6,500 bits
_WRITTEN = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-"})

Number = int | float


class CalculatorError(ValueError):
    """An expression that is none, or whose numbers are too large; the sentence is for the model."""


def calculate(expression: str) -> str:
    """The value of an expression, as text.

    Raises:
        CalculatorError: it cannot be evaluated.
    """
    if len(expression) > MAX_CHARS:
        raise CalculatorError(f"The expression has more than {MAX_CHARS} characters.")
    text = expression.translate(_WRITTEN).replace("^", "**").strip().removesuffix("=")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise CalculatorError(f"{expression!r} is no arithmetic expression.") from error
    if sum(1 for _ in ast.walk(tree)) > MAX_NODES:
        raise CalculatorError("The expression has too many parts.")
    try:
        return _written(_value(tree.body))
    except ZeroDivisionError as error:
        raise CalculatorError("Division by zero.") from error
    except OverflowError as error:
        raise CalculatorError("A number is too large.") from error
    except (TypeError, ValueError) as error:
        if isinstance(error, CalculatorError):
            raise
        raise CalculatorError(f"It has no value: {error}.") from error


def _value(node: ast.expr) -> Number:
    if isinstance(node, ast.Constant):
        if type(node.value) not in (int, float):
            raise CalculatorError(f"{node.value!r} is no number.")
        return _bounded(node.value)
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        return _UNARY[type(node.op)](_value(node.operand))
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _bounded(_BINARY[type(node.op)](_value(node.left), _value(node.right)))
    if isinstance(node, ast.Name) and node.id in _CONSTANTS:
        return _CONSTANTS[node.id]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        function = _FUNCTIONS.get(node.func.id)
        if function is not None:
            return _bounded(function(*map(_value, node.args)))
    raise CalculatorError(f"{ast.unparse(node)[:80]!r} cannot be calculated. {_known()}")


def _known() -> str:
    return f"Known are + - * / // % ^, {', '.join((*_CONSTANTS, *_FUNCTIONS))}."


def _bounded(value: object) -> Number:
    if not isinstance(value, int | float):
        raise CalculatorError("The result is no real number.")
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise CalculatorError("A number is too large.")
    return value


def _written(value: Number) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        raise CalculatorError("A number is too large.")
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.15g}"


def _power(base: Number, exponent: Number) -> object:
    """Refused before it is computed where it would be too large."""
    if isinstance(base, int) and isinstance(exponent, int) and abs(base) > 1:
        if exponent * base.bit_length() > 2 * MAX_BITS:
            raise CalculatorError("A number is too large.")
        if exponent < 0:
            return float(base) ** exponent
    return base**exponent


def _factorial(number: Number) -> int:
    if not isinstance(number, int) or not 0 <= number <= _MAX_FACTORIAL:
        raise CalculatorError(f"A factorial is of a whole number from 0 to {_MAX_FACTORIAL}.")
    return math.factorial(number)


def _comb(total: Number, chosen: Number) -> int:
    if not all(isinstance(one, int) and 0 <= one <= 10_000 for one in (total, chosen)):
        raise CalculatorError("comb takes two whole numbers from 0 to 10,000.")
    return math.comb(int(total), int(chosen))


def _round(number: Number, digits: Number = 0) -> Number:
    if not isinstance(digits, int) or not -30 <= digits <= 30:
        raise CalculatorError("round takes from -30 to 30 digits.")
    return round(number, digits) if digits else round(number)


def _sum(*numbers: Number) -> Number:
    return sum(numbers)


_UNARY: Mapping[type[ast.unaryop], Callable[[Number], Number]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
_BINARY: Mapping[type[ast.operator], Callable[[Number, Number], object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
_CONSTANTS: Mapping[str, float] = {"pi": math.pi, "e": math.e, "tau": math.tau}
_FUNCTIONS: Mapping[str, Callable[..., object]] = {
    **{name: getattr(math, name) for name in ("sqrt", "exp", "log", "log2", "log10", "gcd", "lcm", "hypot")},
    **{name: getattr(math, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "degrees", "radians")},
    "floor": math.floor,
    "ceil": math.ceil,
    "ln": math.log,
    "abs": abs,
    "min": min,
    "max": max,
    "sum": _sum,
    "round": _round,
    "factorial": _factorial,
    "comb": _comb,
}
