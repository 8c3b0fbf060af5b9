"""Chooses the heads of a session: detects a target's own heads, and opens these or a head file."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from engine.errors import EngineError, LoadCancelledError, ModelLoadError, NotEnoughMemoryError
from engine.fit.cache_size import CacheSetup
from engine.fit.estimate import head_memory
from engine.fit.fit import report_of
from engine.gguf.head_files import MTP, are_heads_stripped, has_next_token_layers, head_method, own_heads_sentence
from engine.gguf.header import read_header
from engine.heads.compatibility import check_head_file, unsupported_reason
from engine.heads.loaded import LoadedHead
from engine.heads.loading import open_head_file, open_own_heads
from engine.loading.loading import LoadedModel, LoadOptions, draft_options, fit_context
from engine.records import FlashAttention, LoadRequest
from engine.sandbox.probe import InspectHead
from engine.sentences import i18n

NO_HEAD = i18n("This model has no next-token layers (MTP), and no file with a head for it is chosen.")


class HeadChoice:
    """Opens heads after ``inspect`` has checked them. ``reason`` says why the target's own heads are not used."""

    def __init__(self, inspect: InspectHead | None) -> None:
        self.inspect: InspectHead = inspect or (lambda *_: None)
        self.reason: str = NO_HEAD

    @property
    def mentions_heads(self) -> bool:
        """Whether the target's header mentions heads, even if they were removed."""
        return self.reason != NO_HEAD

    def prepare(self, path: str, options: LoadOptions, should_stop: Callable[[], bool]) -> LoadOptions:
        """Add to ``options`` a context that fits, and the target's own heads if usable.

        Raises:
            ModelFileError: a header cannot be read, or the load was cancelled.
            NotEnoughMemoryError: the model does not fit the free main memory.
        """
        self.reason = NO_HEAD
        header = read_header(Path(path))
        if are_heads_stripped(header):
            self.reason = own_heads_sentence(header, Path(path).name)
        if not has_next_token_layers(header):
            return fit_context([path], options)
        self.reason = unsupported_reason(MTP)
        if self.reason:
            return fit_context([path], options)
        try:
            self.inspect(Path(path), None, should_stop)
            return fit_context([path], replace(options, heads=True))
        except EngineError as error:
            if should_stop():
                raise
            self.reason = error.message
            if not isinstance(error, NotEnoughMemoryError):
                self.reason = i18n("The model's own heads cannot be used: {reason}", reason=error.message)
        return fit_context([path], options)

    def open_own(self, target: LoadedModel, request: LoadRequest) -> LoadedHead | None:
        """Open the target's own heads; None if none are loaded, or if opening fails (see ``reason``)."""
        if not target.model.has_heads:
            return None
        try:
            return open_own_heads(target, draft_options(request, target.context.n_ctx))
        except EngineError as error:
            self.reason = error.message
            return None

    def open_file(
        self,
        path: str,
        target: LoadedModel,
        request: LoadRequest,
        progress: Callable[[float], bool],
        should_stop: Callable[[], bool],
    ) -> LoadedHead | None:
        """Open the head in a file; None if the file is a complete model.

        Raises:
            DraftRefusedError: the head does not belong to this target.
            EngineError: it cannot be opened.
        """
        if not is_head_file(path):
            return None
        options = draft_options(request, target.context.n_ctx)
        headers = read_header(target.model.path), read_header(Path(path))
        check_head_file(*headers)
        if not target.model.gpu_layers:
            fused = options.flash_attention is not FlashAttention.OFF
            setup = CacheSetup(target.context.n_ctx, options.cache_type, options.cache_type, fused)
            report_of([head_memory(headers[0], setup, headers[1])]).check()
        self.inspect(target.model.path, Path(path), should_stop)
        return open_head_file(path, target, options, progress)


@contextmanager
def explain_stripped_heads(path: str) -> Iterator[None]:
    """Add to an error of the block that the file's heads were removed, if they were.

    Raises:
        ModelLoadError: llama.cpp's error with that sentence appended.
    """
    try:
        yield
    except ModelLoadError as error:
        header = read_header(Path(path))
        if isinstance(error, LoadCancelledError) or not are_heads_stripped(header):
            raise
        reason = own_heads_sentence(header, Path(path).name)
        raise ModelLoadError(i18n("{error} {reason}", error=error.message, reason=reason), error.advice) from error


def is_head_file(path: str) -> bool:
    """Whether a file contains a head for another model; False for an unreadable file, which fails when it is opened."""
    try:
        return bool(head_method(read_header(Path(path))))
    except EngineError:
        return False
