"""The engine's state for the window."""

from dataclasses import dataclass, field
from enum import StrEnum

from engine.records import LAST_SOURCES, Mode, ModelInfo, Source


class EngineState(StrEnum):
    EMPTY = "empty"  # no model
    LOADING = "loading"
    READY = "ready"
    READING = "reading"  # processing the prompt
    ANSWERING = "answering"
    RACING = "racing"  # a race is using the models


# Minimum parameters of a target that a draft model can speed up. With drafts of 0.1 to 0.5 billion parameters, targets
# of 0.14 and 0.27 billion ran at 0.92 to 0.96 of plain speed, a target of 1.5 billion at 1.10 to 1.17.
MIN_DRAFTED_PARAMETERS = 900_000_000
_NEED_DRAFT = ({Mode.DRAFT}, {Mode.DRAFT, Mode.HEAD})


@dataclass(frozen=True, slots=True)
class EngineView:
    """The engine's state for the status line and the mode switch. ``progress``: 0 to 1; None if unknown."""

    state: EngineState = EngineState.EMPTY
    target: ModelInfo | None = None
    draft: ModelInfo | None = None
    unavailable: dict[Mode, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    progress: float | None = None
    loading: str = ""  # the name of the model that is being loaded, if known
    own_head: ModelInfo | None = None  # the head in the target's file, if it is used
    has_heads: bool = False  # the model has heads, though they may not be usable

    @property
    def drafter(self) -> ModelInfo | None:
        """The draft model, or the target's own head."""
        return self.draft or self.own_head

    @property
    def modes(self) -> frozenset[Mode]:
        """The modes that can be offered: no head mode without a head."""
        has_head = self.has_heads or (self.drafter is not None and bool(self.drafter.head_method))
        return frozenset(Mode) if has_head else frozenset(Mode) - {Mode.HEAD}

    @property
    def sources(self) -> frozenset[Source]:
        """The possible provenance of the next answer's tokens."""
        if all(mode in self.unavailable for mode in Mode if mode is not Mode.OFF):
            return frozenset({Source.TARGET})
        found = {Source.NGRAM, *LAST_SOURCES}
        if self.drafter is not None:
            found.add(Source.HEAD if self.drafter.head_method else Source.DRAFT)
        return frozenset(found)

    @property
    def lacks_draft(self) -> bool:
        """True if some modes cannot run only because no draft model is loaded."""
        return (
            self.target is not None
            and not self.target.engine_url
            and self.drafter is None
            and set(self.unavailable) in _NEED_DRAFT
        )

    @property
    def wants_draft(self) -> bool:
        """True if a draft model is missing and could make the target faster."""
        return self.lacks_draft and self.target is not None and self.target.num_params >= MIN_DRAFTED_PARAMETERS
