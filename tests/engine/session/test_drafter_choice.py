"""What a session's drafters know of its model: where an answer ends."""

from __future__ import annotations

import pytest

from app.paths import builtin_draft, builtin_target
from engine.records import ChatRequest, Finished, FinishReason, LoadRequest, Message, Mode, RunStats, SamplingParams
from engine.session.session import Session

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
