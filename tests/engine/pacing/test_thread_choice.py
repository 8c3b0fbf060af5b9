"""If the choice of threads cannot be made, the number stays unchanged."""

from __future__ import annotations

import pytest

from app.core.paths import builtin_draft
from engine.errors import DecodeError
from engine.loading.loading import LoadOptions, open_model
from engine.pacing import thread_choice
from engine.pacing.measuring import Interrupted


@pytest.mark.parametrize("reason", [DecodeError("The pass failed."), Interrupted()])
def test_what_ends_it_leaves_the_number_that_was_in_force(reason: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_choice.library, "physical_cores", lambda: 2)
    loaded = open_model(builtin_draft(), LoadOptions(512, 1, 0))
    forward = loaded.context.forward

    def fails_on_two(*of: object) -> object:
        if loaded.context.threads == 2:
            raise reason
        return forward(*of)  # type: ignore[arg-type]

    monkeypatch.setattr(loaded.sequence, "_forward", fails_on_two)
    with pytest.raises(type(reason)):
        thread_choice.choose_threads(loaded, None, (1,), 0.1)
    assert loaded.context.threads == 1
    loaded.close()
