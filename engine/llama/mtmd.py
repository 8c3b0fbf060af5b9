"""Wraps libmtmd, llama.cpp's library for pictures: an encoder for a text model.

A picture is converted to parts: text tokens that the model requires around it, and chunks of tokens with one row of the
encoder each. The library is loaded only for pictures.
"""

import ctypes
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import ModelLoadError, PictureError
from engine.llama import library
from engine.llama.context import LlamaContext
from engine.llama.model import LlamaModel
from engine.picture import Picture
from engine.sentences import i18n

PictureRows = NDArray[np.float32]  # [num_tokens, width of the text model's input]
_MARKER = b"<__media__>"
_NO_CALLBACK = 0


@cache
def _library() -> Any:  # noqa: ANN401  (the binding ships no types)
    """Load the binding and record its log; raises `ModelLoadError` if this build lacks it."""
    library.start()
    try:
        from llama_cpp import mtmd_cpp  # noqa: PLC0415  (a separate library, which most conversations do not need)
    except (ImportError, OSError, RuntimeError, AttributeError) as error:
        raise ModelLoadError(
            i18n("This llama.cpp cannot read pictures: its library libmtmd cannot be loaded ({reason}).", reason=error),
            "Install llama-cpp-python again; “make run” builds all of it.",
        ) from error
    mtmd_cpp.mtmd_helper_log_set(library.on_log, ctypes.c_void_p(0))
    return mtmd_cpp


@dataclass(frozen=True, slots=True)
class PictureChunk:
    """A run of ``num_tokens`` picture tokens that take ``num_positions`` positions; ``handle`` is libmtmd's."""

    handle: int
    num_tokens: int
    num_positions: int


class TokenizedPicture:
    """The parts of a picture in order: text ids, and chunks. It holds preprocessed pixels until closed."""

    def __init__(self, lib: Any, handle: int) -> None:  # noqa: ANN401  (the binding ships no types)
        self._lib, self._handle = lib, handle
        self.parts: list[list[int] | PictureChunk] = []
        for number in range(lib.mtmd_input_chunks_size(handle)):
            chunk = lib.mtmd_input_chunks_get(handle, number)
            if lib.mtmd_input_chunk_get_type(chunk) == lib.MTMD_INPUT_CHUNK_TYPE_TEXT:
                count = ctypes.c_size_t()
                ids = lib.mtmd_input_chunk_get_tokens_text(chunk, ctypes.byref(count))
                self.parts.append([int(ids[i]) for i in range(count.value)])
            else:
                sizes = lib.mtmd_input_chunk_get_n_tokens(chunk), lib.mtmd_input_chunk_get_n_pos(chunk)
                self.parts.append(PictureChunk(int(chunk), *map(int, sizes)))

    @property
    def chunks(self) -> list[PictureChunk]:
        return [part for part in self.parts if isinstance(part, PictureChunk)]

    def close(self) -> None:
        if self._handle:
            self._lib.mtmd_input_chunks_free(self._handle)
            self._handle = 0


class MtmdContext:
    """An encoder loaded for a text model. Close it before the model.

    Raises:
        ModelLoadError: llama.cpp refused the file.
    """

    def __init__(self, path: Path, model: LlamaModel, threads: int) -> None:
        self._lib = lib = _library()
        self.path = path
        params = lib.mtmd_context_params_default()
        params.use_gpu = bool(model.gpu_layers)
        params.n_threads = threads
        params.print_timings = params.warmup = False  # a warm-up takes as long as encoding the largest picture
        with library.collected_errors():
            handle = lib.mtmd_init_from_file(os.fsencode(path), model.handle, params)
            reason = library.last_error()
        if not handle:
            raise ModelLoadError(
                i18n(
                    "llama.cpp refused {path}: {reason}.", path=path.name, reason=reason or i18n("no reason was given")
                ),
                "Choose the side file (mmproj) that was published with this model.",
            )
        self._handle = int(handle)
        self.row_end: NDArray[np.float32] | None = None  # replaces rows that llama.cpp does not fill
        self.width = int(library.start().llama_model_n_embd_inp(model.handle))
        if not lib.mtmd_support_vision(self._handle):
            self.close()
            raise ModelLoadError(
                i18n("{path} hears, but does not see: it has no encoder for pictures.", path=path.name),
                "Choose a side file (mmproj) for pictures.",
            )

    def close(self) -> None:
        if self._handle:
            self._lib.mtmd_free(self._handle)
            self._handle = 0

    def tokenize(self, picture: Picture) -> TokenizedPicture:
        """Split, scale and normalize a picture for the encoder.

        Raises:
            PictureError: the encoder cannot use the picture.
        """
        lib = self._lib
        pixels = (ctypes.c_uint8 * len(picture.rgb)).from_buffer_copy(picture.rgb)
        bitmap = lib.mtmd_bitmap_init(picture.width, picture.height, pixels)
        chunks = lib.mtmd_input_chunks_init()
        text = lib.mtmd_input_text()
        text.text, text.text_len, text.add_special, text.parse_special = _MARKER, len(_MARKER), False, True
        try:
            bitmaps = (ctypes.c_void_p * 1)(bitmap)
            with library.collected_errors():
                code = lib.mtmd_tokenize(self._handle, chunks, ctypes.byref(text), bitmaps, 1)
        finally:
            lib.mtmd_bitmap_free(bitmap)
        found = TokenizedPicture(lib, chunks)
        if any(isinstance(part, list) and min(part, default=0) < 0 for part in found.parts):
            found.close()
            raise PictureError(
                i18n(
                    "{path} belongs to another model: it puts pictures between markers that this model does not know.",
                    path=self.path.name,
                ),
                "Choose the side file (mmproj) that was published with this model.",
            )
        if code == 0 and found.chunks:
            return found
        found.close()
        raise PictureError(
            i18n(
                "The encoder cannot take a picture of {width} x {height} pixels.",
                width=picture.width,
                height=picture.height,
            ),
            "Give it another size: very narrow pictures are refused by some models.",
        )

    def encode(self, chunk: PictureChunk) -> PictureRows:
        """Encode a chunk; return a copy of its rows [num_tokens, width].

        Raises:
            PictureError: the encoder failed.
        """
        with library.collected_errors():
            code = self._lib.mtmd_encode_chunk(self._handle, chunk.handle)
            reason = library.last_error()
        address = self._lib.mtmd_get_output_embd(self._handle) if code == 0 else None
        if not address:
            raise PictureError(
                i18n("The encoder could not read the picture: {reason}.", reason=reason or i18n("no reason was given"))
            )
        rows = np.ctypeslib.as_array(address, (chunk.num_tokens, self.width)).copy()
        broken = ~np.isfinite(rows).all(axis=1)
        if self.row_end is not None and len(self.row_end) == self.width and 2 * broken.sum() < len(rows):
            rows[broken] = self.row_end
        elif broken.any():
            raise PictureError(
                i18n("{path} is damaged: its encoder gave numbers that are not finite.", path=self.path.name)
            )
        return rows

    def make_placeholder(self, chunk: PictureChunk) -> PictureChunk:
        """Copy a chunk without its pixels, for `decode`; release it with `free`."""
        handle = int(self._lib.mtmd_input_chunk_get_placeholder(chunk.handle))
        return PictureChunk(handle, chunk.num_tokens, chunk.num_positions)

    def free(self, placeholder: PictureChunk) -> None:
        self._lib.mtmd_input_chunk_free(placeholder.handle)

    def decode(self, context: LlamaContext, chunk: PictureChunk, rows: PictureRows) -> None:
        """Append a chunk to ``context``, at the positions that the model requires.

        Raises:
            DecodeError: the pass failed; the cache is as before the call, or empty if it is recurrent.
            PictureError: the model must compute all tokens at once, and the chunk has too many.
        """
        most = context.num_at_once
        # Tokens with non-causal attention must be computed in one pass.
        if chunk.num_tokens > most and self._lib.mtmd_decode_use_non_causal(self._handle, chunk.handle):
            raise PictureError(
                i18n(
                    "The picture takes {places} positions, and this model has to see them all at once: at most {most}.",
                    places=chunk.num_tokens,
                    most=most,
                ),
                "Give a smaller picture.",
            )
        floats = rows.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        end = library.start().llama_pos(0)

        def run(handle: int, position: int) -> int:
            return int(
                self._lib.mtmd_helper_decode_image_chunk(
                    *(self._handle, handle, chunk.handle, floats, position, context.seq_id, most, ctypes.byref(end)),
                    *(self._lib.mtmd_helper_post_decode_callback(_NO_CALLBACK), None),
                )
            )

        context.append_run(chunk.num_tokens, chunk.num_positions, run)
