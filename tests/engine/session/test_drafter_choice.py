"""Tests what a session's drafters know of its model: end tokens and tool calls."""

import numpy as np
import pytest

from app.core.paths import builtin_draft, builtin_target
from engine.prompt.typed_text import tokens_within_text
from engine.records import (
    ChatRequest,
    Finished,
    FinishReason,
    LoadRequest,
    Message,
    Mode,
    RunStats,
    SamplingParams,
    ToolFormat,
)
from engine.sampling.sampler import Sampler
from engine.session.drafter_choice import DraftersByMode
from engine.session.session import Session
from tests.engine.grammar.walks import model

QUESTION = "Repeat this paragraph:\n\nBefore you leave, switch off the lamp and close the door."


@pytest.mark.parametrize("mode", [Mode.NGRAM, Mode.SUFFIX, Mode.AUTO])
def test_a_copy_is_followed_to_the_end_of_what_is_copied_and_no_further(mode: Mode) -> None:
    session = Session()
    session.load(LoadRequest(str(builtin_target()), str(builtin_draft()), n_ctx=512))
    greedy = SamplingParams(temperature=0.0)
    events = list(session.generate(ChatRequest((Message("user", QUESTION),), mode, 24, greedy, max_tokens=100)))
    session.close()
    end = events[-1]
    assert isinstance(end, Finished)
    assert end.reason is FinishReason.END
    assert isinstance(end.stats, RunStats)
    assert end.stats.proposed == end.stats.accepted > 10


def test_a_call_is_drafted_from_what_its_tool_takes() -> None:
    parameters = {"type": "object", "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}}}
    tools = ({"type": "function", "function": {"name": "read", "parameters": parameters}},)
    request = ChatRequest(mode=Mode.SUFFIX, tools=tools)
    drafters, vocab = DraftersByMode(), model().vocab
    outlines = drafters.tool_call_index(request, ToolFormat.HERMES, vocab)
    assert outlines is not None
    assert drafters.tool_call_index(request, ToolFormat.HERMES, vocab) is outlines  # cached
    drafter = drafters.drafter(Mode.SUFFIX, None, None, outlines, vocab.eog_ids)
    call = tokens_within_text(vocab, '{"name": "read", "arguments": {"path": "')
    written = [*tokens_within_text(vocab, "Now: "), *call[:12]]
    drafter.begin(np.array(written, dtype=np.int32), Sampler(SamplingParams()))
    draft = drafter.propose(np.array(written, dtype=np.int32), 100)
    assert draft.ids == call[12:]  # and no value
    assert drafters.tool_call_index(request, ToolFormat.NONE, vocab) is None
    for other in (ChatRequest(mode=Mode.SUFFIX), ChatRequest(mode=Mode.OFF, tools=tools)):
        assert drafters.tool_call_index(other, ToolFormat.HERMES, vocab) is None
