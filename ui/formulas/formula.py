"""Typesets formulas as SVG on a separate thread and caches them by source. The only module that imports ziamath.

Formulas come from a model and are untrusted: size, nesting and work are bounded. Work is counted in function calls, so
that the result does not depend on the machine's speed.
"""

import logging
import re
import sys
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from types import FrameType

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal

log = logging.getLogger(__name__)

MAX_CHARS = 1_500
MAX_NESTING = 24
MAX_CALLS = 3_000_000  # about a second; an ordinary formula takes 10,000 to 200,000
INK = "#010203"  # placeholder in the SVG for the text colour
_EM = 24.0
_MARGIN = 1.0
_VIEW_BOX = re.compile(r'viewBox="(-?[\d.]+) (-?[\d.]+) ([\d.]+) ([\d.]+)"')
_REFUSED = re.compile(r"\\(?:def|let|newcommand|renewcommand|href|url|includegraphics|input|require)\b")
_DELIMITERS = (("$$", "$$", True), ("\\[", "\\]", True), ("\\(", "\\)", False), ("$", "$", False))
_ALIGNED_ENVIRONMENTS = ("aligned*", "gathered", "gather*", "gather", "split")  # environments, typeset as ``aligned``
MAX_CACHED = 2_000
POLL_MS = 40


@dataclass(frozen=True, slots=True)
class Formula:
    svg: str
    width: float
    ascent: float
    descent: float


class _TooMuchWorkError(Exception):
    """A formula took too many calls."""


def without_delimiters(source: str) -> tuple[str, bool]:
    r"""The content of ``$x$``, ``\(x\)``, ``$$x$$`` or ``\[x\]``, and whether it is a display formula."""
    for opening, closing, display in _DELIMITERS:
        if source.startswith(opening) and source.endswith(closing) and len(source) > len(opening) + len(closing):
            return source[len(opening) : -len(closing)].strip(), display
    return source.strip(), False


def typeset(source: str, max_calls: int = MAX_CALLS) -> Formula | None:
    """Typeset a formula with its delimiters; None if it fails for any reason."""
    latex, display = without_delimiters(source)
    if not latex or len(latex) > MAX_CHARS or _nesting(latex) > MAX_NESTING or _REFUSED.search(latex):
        return None
    try:
        svg = _with_call_limit(max_calls, lambda: _render_svg(_supported_latex(latex), display=display))
    except Exception as error:  # noqa: BLE001 (a library on untrusted input: any failure means the source is shown)
        log.info("A formula is shown as its source: %s", type(error).__name__)
        return None
    found = _VIEW_BOX.search(svg)
    if found is None:
        return None
    top, width, height = (float(found[group]) for group in (2, 3, 4))
    if not 0 < width < 400 * _EM or not 0 < height < 100 * _EM:
        return None
    return Formula(svg, width / _EM, -top / _EM, (height + top) / _EM)


def _render_svg(latex: str, *, display: bool) -> str:
    from ziamath.config import config  # noqa: PLC0415  (160 ms, and most answers have no formula)
    from ziamath.zmath import Latex  # noqa: PLC0415

    config.svg2 = False  # Qt draws the glyphs of SVG 1 only
    return str(Latex(latex, size=_EM, color=INK, inline=not display, margin=_MARGIN).svg())


def _supported_latex(latex: str) -> str:
    """Replace LaTeX that ziamath does not support by an equivalent."""
    latex = re.sub(r"\\tag\*?\{([^{}]*)\}", r"\\qquad(\\text{\1})", latex)
    for name in _ALIGNED_ENVIRONMENTS:
        latex = latex.replace(f"{{{name}}}", "{aligned}")
    return latex


def _nesting(latex: str) -> int:
    depth = deepest = 0
    for char in re.sub(r"\\[{}]", "", latex):
        depth += (char == "{") - (char == "}")
        deepest = max(deepest, depth)
    return max(deepest, latex.count("\\left"), latex.count("\\begin"))


def _with_call_limit(max_calls: int, job: Callable[[], str]) -> str:
    """Run a job on this thread with a limit on its function calls."""
    left = max_calls

    def count(_frame: FrameType, _event: str, _argument: object) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise _TooMuchWorkError

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        return job()
    finally:
        sys.setprofile(before)


class Pending(Enum):
    PENDING = "pending"


class FormulaCache(QObject):
    """Typesets formulas on a thread: one takes milliseconds of Python, too long between two frames.

    Polls for results only while some are pending; the thread touches no Qt object.
    """

    ready = Signal(object)  # a frozenset of sources that were typeset or failed; one signal for several formulas

    def __init__(self) -> None:
        super().__init__()
        self._cache: OrderedDict[str, Formula | None] = OrderedDict()
        self._pending: dict[str, Future[Formula | None]] = {}
        self._pool: ThreadPoolExecutor | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(POLL_MS)
        self._timer.timeout.connect(self._poll)

    def get(self, source: str) -> Formula | Pending | None:
        """A formula; None if it cannot be typeset, `Pending` while it is being typeset."""
        if source in self._cache:
            self._cache.move_to_end(source)
            return self._cache[source]
        if source not in self._pending:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="formulas")
                application = QCoreApplication.instance()
                if application is not None:
                    application.aboutToQuit.connect(self.close)
            self._pending[source] = self._pool.submit(typeset, source)
            self._timer.start()
        return Pending.PENDING

    def close(self) -> None:
        self._timer.stop()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def _poll(self) -> None:
        done = frozenset(source for source, job in self._pending.items() if job.done())
        for source in done:
            self._cache[source] = self._pending.pop(source).result()
        while len(self._cache) > MAX_CACHED:
            self._cache.popitem(last=False)
        if not self._pending:
            self._timer.stop()
        if done:
            self.ready.emit(done)
