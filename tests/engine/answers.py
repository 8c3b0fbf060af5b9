"""Answers of sessions to raw prompts, greedy and of a fixed length unless a test says otherwise."""

from collections.abc import Callable, Sequence

from engine.records import ChatRequest, Event, Finished, Mode, SamplingParams, TextChunk
from engine.session.session import Session

GREEDY = SamplingParams(temperature=0.0)
PROMPT = "Once upon a time aa"


def asked(mode: Mode = Mode.OFF, prompt: str = PROMPT, **fields: object) -> ChatRequest:
    """A request for 64 greedy tokens; ``fields``: those of `ChatRequest`."""
    usual = {"sampling": GREEDY, "max_tokens": 64, "ignore_eos": True}
    return ChatRequest(raw_prompt=prompt, mode=mode, **(usual | fields))  # type: ignore[arg-type]


def end_of(session: Session, request: ChatRequest, should_stop: Callable[[], bool] = lambda: False) -> Finished:
    """The only `Finished` of an answer, which is its last event."""
    return last_of(list(session.generate(request, should_stop)))


def last_of(events: Sequence[Event]) -> Finished:
    (end,) = [event for event in events if isinstance(event, Finished)]
    assert end is events[-1]
    return end


def answer(session: Session, mode: Mode = Mode.OFF, prompt: str = PROMPT, **fields: object) -> Finished:
    """The end of an answer to `asked`."""
    return end_of(session, asked(mode, prompt, **fields))


def text_of(events: Sequence[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextChunk))
