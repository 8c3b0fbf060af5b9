"""Vision of a session's target: chooses and opens its side file (mmproj)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from engine.errors import EngineError, NotEnoughMemoryError
from engine.fit.estimate import ENCODER_BYTES
from engine.gguf.header import read_header
from engine.gguf.model_kind import PICTURES
from engine.llama.context import N_BATCH
from engine.loading.loading import LoadedModel, LoadOptions
from engine.picture import Picture
from engine.pictures.encoder import PictureEncoder
from engine.pictures.side_file import check_side_file, find_side_file, picture_ubatch
from engine.prompt.chat_prompt import PromptBuilder
from engine.prompt.pictures import no_vision_error
from engine.records import ChatRequest, LoadRequest, ModelInfo
from engine.sandbox.probe import InspectSide
from engine.sentences import i18n


class Vision:
    """The picture encoder of a session. If a side file does not fit, the target gets no vision; ``notices`` say why.

    ``inspect`` checks side files before this process opens them.
    """

    def __init__(self, inspect: InspectSide | None, encoder: PictureEncoder | None = None) -> None:
        """``encoder`` belongs to another `Vision`, which closes it."""
        self.inspect: InspectSide = inspect or (lambda *_: None)
        self.notices: tuple[str, ...] = ()
        self._encoder, self._owns_encoder = encoder, encoder is None
        self._side: Path | None = None  # the chosen side file

    def prepare(self, request: LoadRequest, options: LoadOptions, should_stop: Callable[[], bool]) -> LoadOptions:
        """Complete ``options`` for a vision model, if the request names a usable side file."""
        if request.mmproj is None:
            return options
        target = Path(request.target)
        side = Path(request.mmproj) if request.mmproj else find_side_file(target)
        if side is None:
            return options
        try:
            check_side_file(side, read_header(target))
            self.inspect(target, side, should_stop)
            # Raise `NotEnoughMemoryError` if memory for the encoder is short.
            needed = side.stat().st_size + ENCODER_BYTES
            if not options.may_leave_main_memory and psutil.virtual_memory().available < needed:
                raise NotEnoughMemoryError(
                    i18n("{name} needs about {size} MB, which are not free.", name=side.name, size=needed >> 20),
                    "Leave it out, or close other programs.",
                )
            at_once = max(N_BATCH, picture_ubatch(side))
        except EngineError as error:
            if should_stop():
                raise
            self.notices = (error.one_line,)
            return options
        self._side = side
        return replace(options, num_at_once=at_once)

    def open(self, target: LoadedModel) -> None:
        """Open the side file that `prepare` has chosen, for a target opened with the options of `prepare`."""
        if self._side is not None:
            try:
                self._encoder = PictureEncoder(self._side, target.model, target.context.threads)
            except EngineError as error:
                self.notices = (error.one_line,)

    def fields(self, info: ModelInfo) -> dict[str, Any]:
        """Fields of `ModelInfo` about the target's vision."""
        if self._encoder is None:
            return {"has_vision": False}
        return {
            "has_vision": True,
            "unused_abilities": tuple(part for part in info.unused_abilities if part != PICTURES),
        }

    def attach(self, target: LoadedModel, prompt: PromptBuilder) -> None:
        """Encode pictures of ``prompt`` for ``target`` from now on."""
        if self._encoder is not None:
            target.sequence.runs = self._encoder.runs_for(target.context)
            prompt.ids_of_picture = self._encoder.ids_of

    def open_for(self, target: LoadedModel) -> Vision:
        """The vision of another context of the target, with the same encoder."""
        if self._encoder is not None:
            target.sequence.runs = self._encoder.runs_for(target.context)
        return Vision(self.inspect, self._encoder)

    def ids_in(self, request: ChatRequest) -> frozenset[int]:
        """Return the ids of a request's pictures.

        Raises:
            PictureError: a picture cannot be used, or the target accepts no pictures.
        """
        pictures: list[Picture] = [picture for message in request.messages for _, picture in message.pictures]
        if not pictures or request.raw_prompt is not None:
            return frozenset()
        if self._encoder is None:
            raise no_vision_error()
        return frozenset(one for picture in pictures for one in self._encoder.ids_of(picture) if one < 0)

    @contextmanager
    def pictures_in_use(self) -> Iterator[None]:
        """Keep encoded pictures in memory during the block, even if a parallel answer ends."""
        encoder = self._encoder
        if encoder is None:
            yield
            return
        encoder.num_readers += 1
        try:
            yield
        finally:
            encoder.num_readers -= 1
            if not encoder.num_readers:
                encoder.release()

    def close(self) -> None:
        if self._encoder is not None and self._owns_encoder:
            self._encoder.close()
        self._encoder = None
