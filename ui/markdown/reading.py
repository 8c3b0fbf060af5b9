"""A whole text on its way to segments, read a little at a time, so that nobody waits for all of it. No Qt."""

from __future__ import annotations

from dataclasses import dataclass, field

from ui.markdown.blocks import Block, BlockStream, Segment, plan_segments

READ_CHARS = 400  # at once: about a millisecond


@dataclass(slots=True)
class MarkdownReading:
    """``text`` stands at ``base`` of the raw text, which the places of the segments are counted in."""

    text: str
    base: int = 0
    _at: int = 0
    _blocks: list[Block] = field(default_factory=list)
    _stream: BlockStream = field(init=False)

    def __post_init__(self) -> None:
        self._stream = BlockStream(self.base)

    def go_on(self) -> list[Segment] | None:
        """Read the next piece; the segments of the whole text when there is no more of it, None before."""
        num_open = sum(block.num_chars for block in self._stream.tail)
        end = self._at + max(READ_CHARS, num_open)  # an open block is read anew with every piece
        cut = self.text.find("\n\n", end, end + READ_CHARS)
        end = cut + 2 if cut >= 0 else end
        self._blocks += self._stream.feed(self.text[self._at : end])
        self._at = end
        if end < len(self.text):
            return None
        return plan_segments([*self._blocks, *self._stream.finish()])
