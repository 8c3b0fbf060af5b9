"""The built-in tools: clock, calculator, and search in a project's files. They use no network and change no files."""

import ast
import logging
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from app.core.domain.framing import NO_PASSAGES, PASSAGES_INTRODUCTION
from app.core.domain.projects import SEARCH_TOOL, Passage, format_passages
from app.core.tools.interface import ToolDefinition, ToolResult, arguments_of
from app.core.tools.policy import BUILT_IN
from engine.records import ToolCall

MAX_CHARS = 500
MAX_BITS = 10_000  # limit of an integer: about 3,000 digits
MAX_NODES = 300
_MAX_FACTORIAL = 800  # 6,500 bits
_TYPOGRAPHIC_SIGNS = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-"})
Number = int | float
log = logging.getLogger(__name__)


# A calculator: Python's arithmetic parsed by `ast` and evaluated here, with limited numbers; no code is run. Integers
# are exact; others are floats, shown with 15 digits. ``^`` means power.


class CalculatorError(ValueError):
    """Invalid, or the numbers are too large. The message is for the model."""


def calculate(expression: str) -> str:
    """The value of an expression, as text.

    Raises:
        CalculatorError: it cannot be evaluated.
    """
    if len(expression) > MAX_CHARS:
        raise CalculatorError(f"The expression has more than {MAX_CHARS} characters.")
    text = expression.translate(_TYPOGRAPHIC_SIGNS).replace("^", "**").strip().removesuffix("=")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise CalculatorError(f"{expression!r} is no arithmetic expression.") from error
    if sum(1 for _ in ast.walk(tree)) > MAX_NODES:
        raise CalculatorError("The expression has too many parts.")
    try:
        return _format_number(_value(tree.body))
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
        return _check_size(node.value)
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        return _UNARY[type(node.op)](_value(node.operand))
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _check_size(_BINARY[type(node.op)](_value(node.left), _value(node.right)))
    if isinstance(node, ast.Name) and node.id in _CONSTANTS:
        return _CONSTANTS[node.id]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        function = _FUNCTIONS.get(node.func.id)
        if function is not None:
            return _check_size(function(*map(_value, node.args)))
    raise CalculatorError(f"{ast.unparse(node)[:80]!r} cannot be calculated. {_known_names()}")


def _known_names() -> str:
    return f"Known are + - * / // % ^, {', '.join((*_CONSTANTS, *_FUNCTIONS))}."


def _check_size(value: object) -> Number:
    if not isinstance(value, int | float):
        raise CalculatorError("The result is no real number.")
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise CalculatorError("A number is too large.")
    return value


def _format_number(value: Number) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        raise CalculatorError("A number is too large.")
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.15g}"


def _power(base: Number, exponent: Number) -> object:
    """Refuse a power that is too large before computing it."""
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


class _WrongArgumentError(ValueError):
    """The message is for the model."""


Arguments = Mapping[str, object]


def _schema(required: tuple[str, ...] = (), **properties: tuple[str, str]) -> Mapping[str, object]:
    described = {name: {"type": kind, "description": text} for name, (kind, text) in properties.items()}
    return {"type": "object", "properties": described, "required": list(required)}


DEFINITIONS = (
    ToolDefinition(
        "current_time",
        "Tells the date, the time, the weekday and the time zone now.",
        _schema(time_zone=("string", "An IANA time zone such as Europe/Berlin; leave it out for the user's own.")),
        BUILT_IN,
        "Date and time",
    ),
    ToolDefinition(
        "calculate",
        "Calculates an arithmetic expression exactly, such as (17 * 23 + 4) / 5 or sqrt(2) ^ 3.",
        _schema(("expression",), expression=("string", "Numbers, + - * / // % ^, brackets, and functions like sqrt.")),
        BUILT_IN,
        "Calculator",
    ),
)
SEARCH_DOCUMENTS = ToolDefinition(  # only in chats of a project; no setting disables it
    SEARCH_TOOL,
    "Searches the files of the user's project, and gives the passages that fit best, each below a number. Put the "
    "number of a passage that you use behind the sentence, like [1].",
    _schema(("question",), question=("string", "What to look for, with the words that the files may have for it.")),
    BUILT_IN,
    "Project files",
)
NAMES = tuple(one.name for one in DEFINITIONS)


class BuiltInTools:
    """A `ToolProvider` of the tools that are ``enabled``."""

    def __init__(
        self,
        enabled: Iterable[str] = NAMES,
        search: Callable[[str], Sequence[Passage]] = lambda _question: (),
        now: Callable[[tzinfo | None], datetime] = lambda zone: datetime.now(UTC).astimezone(zone),
    ) -> None:
        """``search`` finds passages of the project's files; it is called on the tools' thread."""
        self.enabled = frozenset(enabled)
        self._search, self._now = search, now
        self._num_passages = 0  # returned so far: each passage gets its own number
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="built-in-tools")

    def definitions(self) -> tuple[ToolDefinition, ...]:
        return tuple(one for one in DEFINITIONS if one.name in self.enabled)

    def call(self, call: ToolCall, done: Callable[[ToolResult], None]) -> Callable[[], None]:
        """Start a call on the tools' thread."""

        def run() -> None:
            done(self._result(call))

        future = self._thread.submit(run)

        def cancel() -> None:
            if future.cancel():  # it had not started
                done(ToolResult(call.call_id, "The call was stopped.", is_error=True))

        return cancel

    def close(self) -> None:
        """Running calls end soon by themselves."""
        self._thread.shutdown(wait=False)

    def _result(self, call: ToolCall) -> ToolResult:
        tools: Mapping[str, Callable[[Arguments], str]] = {
            "current_time": self._current_time,
            "calculate": lambda arguments: calculate(_text(arguments, "expression")),
            SEARCH_TOOL: self._search_documents,
        }
        if call.name not in self.enabled or call.name not in tools:
            return ToolResult(call.call_id, f"The tool {call.name!r} is not switched on.", is_error=True)
        try:
            return ToolResult(call.call_id, tools[call.name](arguments_of(call)))
        except (CalculatorError, _WrongArgumentError) as error:
            return ToolResult(call.call_id, str(error), is_error=True)
        except Exception:  # the conversation waits for the result
            log.exception("a built-in tool failed")
            return ToolResult(call.call_id, "The tool failed.", is_error=True)

    def _current_time(self, arguments: Arguments) -> str:
        name = _text(arguments, "time_zone", "")
        try:
            zone = ZoneInfo(name) if name else None
        except (ValueError, OSError, KeyError) as error:
            raise _WrongArgumentError(f"There is no time zone {name!r}: give an IANA name, or none.") from error
        now = self._now(zone)
        offset = now.strftime("%z")
        shown = name or now.tzname() or "local time"
        return f"{_DAYS[now.weekday()]}, {now:%Y-%m-%d %H:%M:%S}, UTC{offset[:3]}:{offset[3:5]} ({shown})"

    def _search_documents(self, arguments: Arguments) -> str:
        question = _text(arguments, "question").strip()
        if not question:
            raise _WrongArgumentError("question is empty.")
        found = self._search(question)
        first = self._num_passages + 1
        self._num_passages += len(found)
        return f"{PASSAGES_INTRODUCTION}\n\n{format_passages(found, first)}" if found else NO_PASSAGES


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")  # independent of the locale


def _text(arguments: Arguments, key: str, default: str | None = None) -> str:
    found = arguments.get(key, default)
    if isinstance(found, int | float) and not isinstance(found, bool):
        return str(found)
    if not isinstance(found, str):
        raise _WrongArgumentError(f"{key} must be a text.")
    return found
