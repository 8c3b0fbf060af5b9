"""A GGUF file loaded by llama.cpp: weights and facts about them."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from engine.errors import (
    DeviceError,
    EngineError,
    LoadCancelledError,
    ModelFileError,
    ModelLoadError,
    ModelNotFoundError,
    NewerModelError,
)
from engine.fit.estimate import experts_pattern
from engine.gguf.title import model_title
from engine.llama import gpu_verdict, library
from engine.llama.devices import cpu_buffer_type, default_gpus, handles_of
from engine.llama.vocab import Vocab
from engine.records import DEFAULT_PLACEMENT, Placement, SplitMode
from engine.sentences import i18n

MIN_BYTES = 16 << 20  # smaller blocks fit the processor's caches
_HUGE = 2 << 20
_MADV_HUGEPAGE = 14  # <sys/mman.h>
_HUGE_PAGE_SETTING = Path("/sys/kernel/mm/transparent_hugepage/enabled")
_MAPS = Path("/proc/self/maps")
_UNKNOWN = re.compile(r"unknown (?:model architecture|pre-tokenizer type|tokenizer)")
MAX_DEVICES = 16  # llama_max_devices()
_FIRST_SPLIT = 1  # llama.h's enum llama_split_mode: 0 is a single device, then the modes of `SplitMode`
_FIRST_CALLS = 3  # calls of the progress callback after which memory for weights is allocated but mostly not filled


# Asks Linux to back large blocks of memory with huge pages, before llama.cpp fills them with weights. A pass reads all
# weights once: each page of 4 KiB needs a look-up that stops the processor's prefetching, and with pages of 2 MiB the
# same pass took 5 to 6% less time. Many systems give huge pages only on request
# (https://docs.kernel.org/admin-guide/mm/transhuge.html). Does nothing on other systems.


def request_huge_pages() -> int:
    """Request huge pages for all large anonymous blocks of this process; return the number of bytes.

    The system converts used pages later. Never raises: without huge pages the model is only slower.
    """
    if not sys.platform.startswith("linux"):
        return 0
    try:
        if "[madvise]" not in _HUGE_PAGE_SETTING.read_text():
            return 0
        # File names may be invalid UTF-8, and may contain line separators.
        lines = _MAPS.read_bytes().decode("ascii", "replace").rstrip("\n").split("\n")
    except OSError:
        return 0
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return sum(end - begin for begin, end in large_blocks(lines) if madvise(begin, end - begin, _MADV_HUGEPAGE) == 0)


def large_blocks(lines: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Begin and end of private, writable, anonymous blocks in ``/proc/self/maps``, cut to whole huge pages."""
    for line in lines:
        span, rights, _offset, _device, inode, *name = line.split(maxsplit=5)
        if rights != "rw-p" or inode != "0" or name:
            continue
        begin, end = (int(edge, 16) for edge in span.split("-"))
        begin, end = -(-begin // _HUGE) * _HUGE, end // _HUGE * _HUGE
        if end - begin >= MIN_BYTES:
            yield begin, end


class LlamaModel:
    """Loaded weights, or with ``vocab_only`` only the vocabulary. Close it, or use a ``with`` block.

    Raises:
        ModelNotFoundError: no such file, or not readable.
        ModelLoadError: llama.cpp refused the file, or ``progress`` returned False (the message says which).
        DeviceError: ``placement`` names a missing device.
        BaseException: an exception of ``progress``.
    """

    def __init__(  # noqa: PLR0913  (how a file is opened)
        self,
        path: str | Path,
        *,
        gpu_layers: int = 0,
        vocab_only: bool = False,
        progress: Callable[[float], bool] | None = None,
        repack: bool = True,
        placement: Placement = DEFAULT_PLACEMENT,
        with_heads: bool = False,
    ) -> None:
        """``repack`` repacks weights for the CPU's fastest kernels, which takes time and memory once.

        ``with_heads`` loads the next-token layers (MTP) as well, which need a separate context.
        """
        self._lib = library.start()
        self.path = Path(path)
        self.gpu_layers = 0 if placement.is_processor else gpu_layers
        self.placement, self.has_heads = placement, with_heads
        self._native_placement = NativePlacement(placement)
        self.handle = self._load(vocab_only, progress, repack)
        self.vocab = Vocab(self)

    def _load(self, vocab_only: bool, progress: Callable[[float], bool] | None, repack: bool) -> int:
        if not self.path.is_file():
            raise ModelNotFoundError(i18n("There is no file at {path}.", path=self.path))
        params = self._lib.llama_model_default_params()
        params.n_gpu_layers = self.gpu_layers
        params.vocab_only = vocab_only
        params.load_mtp = self.has_heads
        self._native_placement.write_to(params)
        params.use_extra_bufts = repack and library.uses_repacking()
        cancelled: list[bool] = []
        raised: list[BaseException] = []
        calls = 0

        @self._lib.llama_progress_callback  # type: ignore[untyped-decorator]
        def on_progress(fraction: float, _user_data: ctypes.c_void_p) -> bool:
            nonlocal calls
            calls += 1
            if calls <= _FIRST_CALLS and not vocab_only:
                request_huge_pages()
            try:
                go_on = progress is None or progress(fraction)
            except BaseException as error:  # noqa: BLE001  (Ctrl+C would be printed and lost)
                raised.append(error)
                return False
            if not go_on:
                cancelled.append(True)
            return go_on

        params.progress_callback = on_progress
        with library.collected_errors():
            handle = self._lib.llama_model_load_from_file(os.fsencode(self.path), params)
            reason = library.last_error()
        if raised:
            if handle:
                self._lib.llama_model_free(handle)
            raise raised[0]
        if handle:
            return int(handle)
        if cancelled:
            raise LoadCancelledError(i18n("Loading {path} was cancelled.", path=self.path.name))
        raise self._refusal(reason)

    def _refusal(self, reason: str) -> EngineError:
        """The error for llama.cpp's ``reason``, which is about the file or about the split over devices."""
        if self.placement.split_mode in (SplitMode.ROW, SplitMode.TENSOR) and "split" in reason.lower():
            return DeviceError(
                i18n("{path} cannot be split that way: {reason}.", path=self.path.name, reason=reason),
                i18n("Choose another split: layer by layer works everywhere."),
            )
        kind = NewerModelError if _UNKNOWN.search(reason) else ModelLoadError
        return kind(
            i18n(
                "llama.cpp refused {path}: {reason}.", path=self.path.name, reason=reason or i18n("no reason was given")
            )
        )

    def close(self) -> None:
        """Free the weights. Contexts of the model must be closed first."""
        if self.handle:
            self._lib.llama_model_free(self.handle)
            self.handle = 0

    def __enter__(self) -> LlamaModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def architecture(self) -> str:
        return self.metadata("general.architecture") or "unknown"

    @property
    def name(self) -> str:
        """Display name; see `engine.gguf.title`."""
        return model_title(self.metadata("general.name"), self.path.stem)

    @property
    def num_params(self) -> int:
        return int(self._lib.llama_model_n_params(self.handle))

    @property
    def size_bytes(self) -> int:
        return int(self._lib.llama_model_size(self.handle))

    @property
    def n_ctx_train(self) -> int:
        return int(self._lib.llama_model_n_ctx_train(self.handle))

    @property
    def n_layer(self) -> int:
        return int(self._lib.llama_model_n_layer(self.handle))

    @property
    def sliding_window(self) -> int:
        """Size of the sliding window in tokens; 0 without one."""
        return int(self._lib.llama_model_n_swa(self.handle))

    @property
    def n_embd(self) -> int:
        return int(self._lib.llama_model_n_embd(self.handle))

    @property
    def n_embd_out(self) -> int:
        """Width of a hidden row that next-token layers (MTP) read, which may be a multiple of ``n_embd``."""
        return int(self._lib.llama_model_n_embd_out(self.handle))

    @property
    def n_layer_nextn(self) -> int:
        """Number of next-token layers (MTP), loaded or not."""
        return int(self._lib.llama_model_n_layer_nextn(self.handle))

    @property
    def is_recurrent(self) -> bool:
        """Whether the memory cannot drop single tokens (Mamba, RWKV, and their hybrids)."""
        return bool(self._lib.llama_model_is_recurrent(self.handle) or self._lib.llama_model_is_hybrid(self.handle))

    @property
    def generates_text(self) -> bool:
        """Whether the model has an autoregressive decoder, unlike encoders and diffusion models."""
        return bool(
            self._lib.llama_model_has_decoder(self.handle)
            and not self._lib.llama_model_has_encoder(self.handle)
            and not self._lib.llama_model_is_diffusion(self.handle)
        )

    def check_writes_text(self) -> None:
        """Raise `ModelFileError` unless it `generates_text`."""
        if not self.generates_text:
            raise ModelFileError(
                i18n(
                    "{path} is a {architecture} model, which does not write text.",
                    path=self.path.name,
                    architecture=self.architecture,
                )
            )

    @property
    def chat_template(self) -> str | None:
        text = self._lib.llama_model_chat_template(self.handle, None)
        return text.decode("utf-8", "replace") if text else None

    def metadata(self, key: str) -> str | None:
        """A metadata value as text, printed by llama.cpp."""
        size = 256
        for _ in range(2):
            buffer = ctypes.create_string_buffer(size)
            length = self._lib.llama_model_meta_val_str(self.handle, key.encode(), buffer, size)
            if length < 0:
                return None
            if length < size:
                return buffer.value.decode("utf-8", "replace")
            size = length + 1
        return None


class _Override(ctypes.Structure):
    """llama.h's ``llama_model_tensor_buft_override``."""

    _fields_ = (("pattern", ctypes.c_char_p), ("buft", ctypes.c_void_p))


class NativePlacement:
    """The arrays that llama.cpp reads while loading, and references while the model is loaded.

    Raises:
        DeviceError: a device does not exist, or the tensor split does not match the devices.
    """

    def __init__(self, placement: Placement) -> None:
        self._placement = placement
        self._handles = handles_of(placement.devices)
        _check_split(placement, self._handles)
        self._devices = (ctypes.c_void_p * (len(self._handles) + 1))(*self._handles, None)
        shares = placement.tensor_split
        self._split = (ctypes.c_float * MAX_DEVICES)(*shares) if shares else None
        self._overrides = None
        if layers := placement.cpu_moe_layers or 0:
            self._overrides = (_Override * 2)(_Override(experts_pattern(layers).encode(), cpu_buffer_type()))

    def write_to(self, params: Any) -> None:  # noqa: ANN401  (the binding ships no types)
        """Set fields of ``params``, a ``llama_model_params``; unspecified values are not changed."""
        if self._placement.devices or gpu_verdict.excludes_gpus():
            params.devices = ctypes.addressof(self._devices)
        mode = self._placement.split_mode if self._has_devices() else SplitMode.LAYER  # nothing to split
        params.split_mode = _FIRST_SPLIT + list(SplitMode).index(mode)
        if self._split is not None:
            params.tensor_split = self._split
        if self._overrides is not None:
            params.tensor_buft_overrides = ctypes.addressof(self._overrides)

    def _has_devices(self) -> bool:
        if self._placement.devices or self._placement.split_mode is SplitMode.LAYER:
            return bool(self._handles)
        return bool(default_gpus())


def _check_split(placement: Placement, handles: tuple[int, ...]) -> None:
    if not placement.tensor_split:  # first, since searching for devices may take half a second
        return
    num_devices = len(handles) if placement.devices else len(default_gpus())
    if not any(placement.tensor_split) or len(placement.tensor_split) > num_devices > 0:
        raise DeviceError(
            i18n(
                "The tensor split has {parts} parts; the number of devices is {num_devices}.",
                parts=len([share for share in placement.tensor_split if share]),
                num_devices=num_devices,
            ),
            i18n("Give one number for each device."),
        )
