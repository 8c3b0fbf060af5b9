"""Finds tool calls in a streaming answer.

Text that is not certainly a call is returned as text; no text is lost.
"""

import json
import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from engine.records import ToolCall
from engine.tools.formats import SYNTAXES, Body, ToolFormat
from engine.tools.reading import PENDING, Pending, ReadCalls, Schemas, ends_in_string, read_calls, read_objects
from engine.tools.streaming import StreamedArguments, StreamedObject, StreamedTags, call_start

_FENCES = ("```json\n", "```\n")
_OUTER = "}"  # ends the object around the arguments
_EXTRA = re.compile(r'\A(?:,\s*"(?:id|type|index|tool_call_id)"\s*:\s*(?:"[^"\\]*"|\d+)\s*)+(?=\})')
_EXTRA_CHARS = 200
_ID_CHARS = 9  # Mistral's templates require this length
# Forms that may also occur in blocks with another form's mark.
_OTHER_FORMS = (ToolFormat.FUNCTION, ToolFormat.FUNCTIONARY, ToolFormat.INVOKE)
# The recipient of an answer, which the call repeats.
_HEADER = re.compile(r"\s*(?:to=[\w.:-]+(?:<\|message\|>)?)?\s*")
_HEADER_SO_FAR = re.compile(r"\s*(?:t|to|to=[\w.:-]*(?:<[|a-z>]*)?)?")


class _Mark(NamedTuple):
    """The mark at which calls begin, the forms that begin with it, and the end of such a block."""

    text: str
    formats: tuple[ToolFormat, ...]
    block_end: str

    def length_before(self, tool_format: ToolFormat) -> int:
        """The number of characters before the call itself."""
        is_part = tool_format is ToolFormat.HARMONY or SYNTAXES[tool_format].begin.startswith(self.text)
        return 0 if is_part else len(self.text)


def _marks() -> tuple[_Mark, ...]:
    """All marks; longer marks before their prefixes."""
    formats: dict[str, list[ToolFormat]] = {}
    ends: dict[str, str] = {}
    for tool_format, syntax in SYNTAXES.items():
        for text in (syntax.mark, *syntax.other_marks):
            if text:
                formats.setdefault(text, []).append(tool_format)
        if syntax.block:
            ends[syntax.mark] = syntax.block_end.removeprefix("]").strip()
    found = (
        _Mark(text, tuple(dict.fromkeys((*known, *(_OTHER_FORMS if text in ends else ())))), ends.get(text, ""))
        for text, known in formats.items()
    )
    return tuple(sorted(found, key=lambda mark: -len(mark.text)))


_MARKS = _marks()
_LONGEST = max(len(mark.text) for mark in _MARKS) - 1


@dataclass(frozen=True, slots=True)
class CallBegun:
    """The start of a streaming call: a new id and the tool's name. `CallText` follows."""

    call_id: str
    name: str


@dataclass(frozen=True, slots=True)
class CallText:
    """The next characters of the current call's arguments (JSON)."""

    text: str


OutputPart = str | ToolCall | CallBegun | CallText


def new_call_id() -> str:
    return uuid.uuid4().hex[:_ID_CHARS]


class _Block(NamedTuple):
    """The block of the latest call: how the call and the block may end, and how another call begins.

    ``num_left``: the ends that may still follow.
    """

    formats: tuple[ToolFormat, ...]
    ends: tuple[str, ...]
    begins: tuple[str, ...]
    num_left: tuple[str, ...]


class _ReadCalls(NamedTuple):
    """The result of reading the start of a text: calls and text. ``end``: the offset after them.

    ``begun``: the name of a call that is still streaming.
    """

    calls: list[ToolCall]
    text: str
    end: int
    begun: str = ""


class ToolOutput:
    """Reads an answer chunk by chunk.

    Calls have a form of `engine.tools.formats`. Or the whole answer is a JSON object, fenced or not, with a tool's name
    and arguments, which some models write regardless of their template.
    """

    def __init__(
        self, names: frozenset[str], schemas: Schemas = MappingProxyType({}), *, streams: bool = False
    ) -> None:
        """``schemas``: parameters by tool name, for forms with tags, whose values have no types.

        With ``streams``, calls are returned as `CallBegun` and `CallText` as soon as the name is certain. Such a call
        cannot be withdrawn if its arguments are invalid or truncated.
        """
        self._names, self._schemas, self._streams = names, schemas, streams
        self._streamed: StreamedArguments | None = None  # reads the streaming arguments
        self._buffer = ""
        self._block: _Block | None = None
        self._begun = False  # True if text was returned
        self._leading_blanks = ""  # blanks or the recipient: returned as text if no call follows
        self._blanks: str | None = None  # blanks after a call, before any text
        self.num_calls = 0

    def feed(self, text: str) -> list[OutputPart]:
        """Process a text chunk; returns certain text and complete calls."""
        self._buffer += text
        return self._merge_parts(self._advance(is_end=False))

    def flush(self) -> list[OutputPart]:
        """Return the rest at the end of the answer."""
        kept = self._merge_parts(self._advance(is_end=True))
        return [*kept, self._leading_blanks] if self._leading_blanks else kept

    def _merge_parts(self, found: Iterator[OutputPart]) -> list[OutputPart]:
        kept: list[OutputPart] = []
        for one in found:
            if isinstance(one, CallText):
                kept.append(one)
                continue
            if not isinstance(one, str):
                if self._leading_blanks and not _HEADER.fullmatch(self._leading_blanks):
                    kept.append(self._leading_blanks)
                self._leading_blanks, self._blanks, self._begun = "", "", True
                kept.append(one)
                continue
            said = one if self._blanks is None else self._after_call(one)
            if not self._begun:
                said, self._leading_blanks = self._leading_blanks + said, ""
                if _HEADER_SO_FAR.fullmatch(said):
                    said, self._leading_blanks = "", said
            if said:
                self._begun = True
                kept.append(said)
        return kept

    def _after_call(self, text: str) -> str:
        """Text after a call without the line ends between them; the first line keeps its indent."""
        said = (self._blanks or "") + text
        words = said.lstrip()
        if not words:
            self._blanks = said
            return ""
        self._blanks = None
        blanks = said[: len(said) - len(words)]
        return (blanks.rpartition("\n")[2] if "\n" in blanks else "") + words

    def _advance(self, *, is_end: bool) -> Iterator[OutputPart]:
        while self._buffer:
            if self._streamed is not None:
                if more := self._streamed.advance(self._buffer):
                    yield CallText(more)
                if self._streamed.end is None and not is_end:
                    return
                self._buffer = self._buffer[self._streamed.end :] if self._streamed.end is not None else ""
                self._streamed = None
                continue
            if self._block is not None and not self._leave_block(is_end=is_end):
                return
            taken = self._read_start(is_end=is_end)
            if taken is None:
                return
            self._buffer = self._buffer[taken.end :]
            if taken.text:
                yield taken.text
            self.num_calls += len(taken.calls)
            yield from taken.calls
            if taken.begun:
                self.num_calls += 1
                yield CallBegun(new_call_id(), taken.begun)

    def _read_start(self, *, is_end: bool) -> _ReadCalls | None:
        """Read the start of the pending text; None if nothing is certain yet."""
        buffer = self._buffer
        offset, mark = self._first_mark(0)
        if self._block is not None or offset == 0:
            return self._read_marked(mark if self._block is None else None, is_end=is_end)
        if self._may_be_unmarked(has_mark=offset > 0):
            taken = self._read_unmarked(is_end=is_end)
            if taken is not None:
                return taken
            if offset < 0 and not is_end:
                return None
        if offset > 0:
            return _ReadCalls([], buffer[:offset], offset)
        held = 0 if is_end else self._num_held()
        end = len(buffer) - held
        return _ReadCalls([], buffer[:end], end) if end else None

    def _leave_block(self, *, is_end: bool) -> bool:
        """Read the text after a call in its block: the block's end, another call, or text after an unclosed block.

        Returns False if that is not certain yet.
        """
        block = self._block
        assert block is not None  # noqa: S101  (the caller has looked)
        text = self._buffer.lstrip()
        if block.num_left[:1] == (_OUTER,):
            text = _EXTRA.sub("", text, count=1)
            if not is_end and text.startswith(",") and len(text) < _EXTRA_CHARS and _OUTER not in text:
                return False  # more fields may follow the arguments
        if text.startswith(","):  # a separator of calls
            following = text[1:].lstrip()
            if not is_end and any(one.startswith(following) for one in block.begins):
                return False
            text = following if following.startswith(block.begins) else text
        if not is_end and any(one.startswith(text) and text != one for one in (*block.num_left, *block.begins)):
            return False
        end = next((one for one in block.num_left if text.startswith(one)), "")
        if end:
            left = block.num_left[block.num_left.index(end) + 1 :]
            text = text[len(end) :]
            self._block = block._replace(num_left=left) if left or end == _OUTER else None
            self._buffer = text
            return bool(text) and (self._block is None or self._leave_block(is_end=is_end))
        if not text.startswith(block.begins):
            self._block = None
        self._buffer = text
        return bool(text)

    def _first_mark(self, start: int) -> tuple[int, _Mark | None]:
        found = [(offset, mark) for mark in _MARKS if (offset := self._buffer.find(mark.text, start)) >= 0]
        return min(found, key=lambda one: (one[0], -len(one[1].text)), default=(-1, None))

    def _num_held(self) -> int:
        """The length of the pending suffix that may be the start of a mark."""
        for count in range(min(_LONGEST, len(self._buffer)), 0, -1):
            if any(mark.text.startswith(self._buffer[-count:]) for mark in _MARKS):
                return count
        return 0

    def _read_marked(self, mark: _Mark | None, *, is_end: bool) -> _ReadCalls | None:
        """Read the call after ``mark``, or (None) after a call in the same block. Returns None if it is incomplete."""
        buffer, block = self._buffer, self._block
        if not is_end and mark is not None and any(o.text != mark.text and o.text.startswith(buffer) for o in _MARKS):
            return None  # the text may still become a longer mark
        formats = mark.formats if mark is not None else block.formats if block is not None else ()
        base, pending = 1, dict[ToolFormat, str]()
        for tool_format in formats:
            start = 0 if mark is None else mark.length_before(tool_format)
            found = read_calls(buffer[start:], tool_format, self._schemas)
            base = max(base, start)
            if found is PENDING:
                pending[tool_format] = buffer[start:]
            if not isinstance(found, ReadCalls):
                continue
            if calls := self._calls_of(found):
                self._block = self._block_after(tool_format, formats, mark)
                return _ReadCalls(calls, "", start + found.end)
            base = max(base, start + found.end)
        if pending and not is_end:
            return self._begin_streamed(pending, formats, mark) if self._streams else None
        if any(ends_in_string(text) for text in pending.values()):
            return _ReadCalls([], buffer, len(buffer))
        return self._as_text(mark, base, is_end=is_end)

    def _begin_streamed(
        self, pending: Mapping[ToolFormat, str], formats: tuple[ToolFormat, ...], mark: _Mark | None
    ) -> _ReadCalls | None:
        """Start a streaming call whose name is certain; None without one."""
        for tool_format, text in pending.items():
            begun = call_start(text, tool_format)
            if begun is None or begun.name not in self._names:
                continue
            syntax = SYNTAXES[tool_format]
            self._block = self._block_after(tool_format, formats, mark)
            is_object = syntax.body is Body.OBJECT
            if is_object and self._block is not None and self._block.ends[:1] != (_OUTER,):
                ends = (_OUTER, *(("]",) if text.lstrip().startswith("[") else ()), *self._block.ends)
                self._block = self._block._replace(ends=ends)
            if self._block is not None:
                self._block = self._block._replace(num_left=self._block.ends)
            is_tags = syntax.body is Body.TAGS
            self._streamed = StreamedTags(begun.name, syntax, self._schemas) if is_tags else StreamedObject()
            return _ReadCalls([], "", len(self._buffer) - len(text) + begun.start, begun.name)
        return None

    def _block_after(
        self, tool_format: ToolFormat, formats: tuple[ToolFormat, ...], mark: _Mark | None
    ) -> _Block | None:
        """The block of a call: what may follow it."""
        if mark is None and self._block is not None:
            ends, begins = self._block.ends, self._block.begins
            return _Block(formats, ends, begins, ends[1:] if ends[:1] == (_OUTER,) else ends)
        syntax = SYNTAXES[tool_format]
        of_mark = mark.block_end if mark is not None else ""
        is_object = syntax.body is Body.OBJECT
        end = syntax.end if syntax.body is not Body.TAGS else ""
        ends = tuple(one for one in (end.strip(), of_mark) if one)
        begins = ("{",) if is_object else tuple(filter(None, (syntax.begin.partition("{")[0],)))
        return _Block(formats, ends, begins, ends) if ends or begins else None

    def _as_text(self, mark: _Mark | None, base: int, *, is_end: bool) -> _ReadCalls | None:
        """Return an unusable block as text, up to its end or to the next possible call."""
        buffer = self._buffer
        block_end = mark.block_end if mark is not None else (self._block.ends[-1:] or ("",))[0] if self._block else ""
        ended = buffer.find(block_end, base) if block_end else base
        next_offset, _ = self._first_mark(base)
        offsets = [offset for offset in (ended + len(block_end) if ended >= 0 else -1, next_offset) if offset >= 0]
        if not offsets and not is_end:
            return None
        self._block = None
        end = min(offsets, default=len(buffer))
        return _ReadCalls([], buffer[:end], end)

    def _may_be_unmarked(self, *, has_mark: bool) -> bool:
        text = self._buffer.lstrip()
        if self._begun or (has_mark and not text.startswith("{")):
            return False
        return (
            not text
            or text.startswith("{")
            or any(text.startswith(fence) or fence.startswith(text) for fence in _FENCES)
        )

    def _read_unmarked(self, *, is_end: bool) -> _ReadCalls | None:
        text = self._buffer.lstrip()
        fence = next((one for one in _FENCES if text.startswith(one)), "")
        if not is_end and (fence or not text.startswith("{")):
            return None
        body = text[len(fence) :]
        found = read_objects(body, needs_arguments=True)
        if isinstance(found, Pending) and not is_end:
            begun = call_start(body, ToolFormat.BARE) if self._streams and not fence else None
            if begun is None or begun.name not in self._names:
                return None
            self._streamed = StreamedObject()
            self._block = _Block((ToolFormat.HERMES,), (_OUTER, ";"), ("{",), (_OUTER, ";"))
            return _ReadCalls([], "", len(self._buffer) - len(body) + begun.start, begun.name)
        calls = self._calls_of(found) if isinstance(found, ReadCalls) else []
        if not isinstance(found, ReadCalls) or not calls or (fence and body[found.end :].strip().removeprefix("```")):
            self._begun = True  # no call: return the object as text
            return _ReadCalls([], "", 0)
        ends = ("```" if fence else ";",)
        self._block = _Block((ToolFormat.HERMES,), ends, ("{",), ends)
        return _ReadCalls(calls, "", len(self._buffer) - len(body) + found.end)

    def _calls_of(self, found: ReadCalls) -> list[ToolCall]:
        """The calls; empty if a tool is unknown."""
        from engine.prompt.typed_text import whole_characters  # noqa: PLC0415  (NumPy: the first paint waits for none)

        calls: list[ToolCall] = []
        for name, arguments in found.calls:
            try:
                written = whole_characters(json.dumps(arguments, ensure_ascii=False, allow_nan=False))
            except ValueError:  # a number that JSON cannot represent
                return []
            if name not in self._names:
                return []
            calls.append(ToolCall(new_call_id(), name, written))
        return calls
