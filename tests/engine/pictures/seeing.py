"""An opened vision model for tests, and libmtmd's helper as the reference for the same prompt."""

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from llama_cpp import mtmd_cpp
from numpy.typing import NDArray

from engine.llama import library
from engine.llama.context import N_BATCH, ContextParams, LlamaContext
from engine.llama.model import LlamaModel
from engine.picture import Picture
from engine.pictures.encoder import PictureEncoder
from engine.sequence import CachedSequence
from tests.engine.vision_factory import write_pair

N_CTX = 768
MARKER = "<__media__>"


@dataclass(frozen=True)
class Seeing:
    """A vision model of one family."""

    model: LlamaModel
    context: LlamaContext
    sequence: CachedSequence
    encoder: PictureEncoder

    def ids(self, *parts: str | Picture) -> NDArray[np.int32]:
        """A prompt of texts and pictures."""
        ids = [] if self.model.vocab.bos_id is None else [self.model.vocab.bos_id]
        for part in parts:
            if isinstance(part, Picture):
                ids += self.encoder.ids_of(part)
            else:
                ids += self.model.vocab.tokenize(part, special=False)
        return np.asarray(ids, dtype=np.int32)

    def row(self, ids: NDArray[np.int32]) -> NDArray[np.float32]:
        """The logits after a prompt; the cache may hold a prefix of it."""
        for _ in self.sequence.prefill(ids[self.sequence.reuse(ids) : -1]):
            pass
        return self.sequence.forward(ids[-1:], 1)[0].copy()

    def reference(self, *parts: str | Picture, at_once: int = N_BATCH) -> NDArray[np.float32]:
        """Logits from `mtmd_helper_eval_chunks` in a new context; the last token is decoded separately."""
        lib, mtmd = library.start(), self.encoder._mtmd._handle
        text = "".join(part if isinstance(part, str) else MARKER for part in parts)
        last = self.model.vocab.tokenize(text[-1], special=False)
        with LlamaContext(self.model, ContextParams(N_CTX, 1, picture_ubatch=at_once)) as context:
            with _chunks(mtmd, text[:-1], [part for part in parts if isinstance(part, Picture)]) as chunks:
                past = lib.llama_pos(0)
                if self.encoder._mtmd.row_end is None:
                    code = mtmd_cpp.mtmd_helper_eval_chunks(
                        *(mtmd, context.handle, chunks, 0, 0, context.num_at_once, False, ctypes.byref(past))
                    )
                    assert code == 0
                else:
                    self._eval_mended(context, chunks, past)
            batch = lib.llama_batch_init(1, 0, 1)
            batch.n_tokens, batch.token[0], batch.pos[0] = 1, last[-1], past.value
            batch.n_seq_id[0], batch.seq_id[0][0], batch.logits[0] = 1, 0, 1
            assert lib.llama_decode(context.handle, batch) == 0
            lib.llama_batch_free(batch)
            address = lib.llama_get_logits_ith(context.handle, -1)
            return np.ctypeslib.as_array(address, (context.n_vocab,)).copy()

    def _eval_mended(self, context: LlamaContext, chunks: Any, past: Any) -> None:  # noqa: ANN401  (ctypes)
        """Evaluate chunk by chunk: with the helper, llama.cpp returns no logits for some rows of this family."""
        mtmd, end, at_once = self.encoder._mtmd._handle, self.encoder._mtmd.row_end, context.num_at_once
        for number in range(mtmd_cpp.mtmd_input_chunks_size(chunks)):
            chunk, begin = mtmd_cpp.mtmd_input_chunks_get(chunks, number), past.value
            if mtmd_cpp.mtmd_input_chunk_get_type(chunk) == mtmd_cpp.MTMD_INPUT_CHUNK_TYPE_TEXT:
                code = mtmd_cpp.mtmd_helper_eval_chunk_single(
                    *(mtmd, context.handle, chunk, begin, 0, at_once, False, ctypes.byref(past))
                )
            else:
                assert mtmd_cpp.mtmd_encode_chunk(mtmd, chunk) == 0
                floats = mtmd_cpp.mtmd_get_output_embd(mtmd)
                rows = np.ctypeslib.as_array(
                    floats, (mtmd_cpp.mtmd_input_chunk_get_n_tokens(chunk), self.encoder._mtmd.width)
                )
                rows[~np.isfinite(rows).all(axis=1)] = end
                nobody = mtmd_cpp.mtmd_helper_post_decode_callback(0)
                code = mtmd_cpp.mtmd_helper_decode_image_chunk(
                    *(mtmd, context.handle, chunk, floats, begin, 0, at_once, ctypes.byref(past), nobody, None)
                )
            assert code == 0


@contextmanager
def _chunks(mtmd: int, text: str, pictures: Sequence[Picture]) -> Iterator[Any]:
    bitmaps = [
        mtmd_cpp.mtmd_bitmap_init(one.width, one.height, (ctypes.c_uint8 * len(one.rgb)).from_buffer_copy(one.rgb))
        for one in pictures
    ]
    chunks = mtmd_cpp.mtmd_input_chunks_init()
    given = mtmd_cpp.mtmd_input_text()
    data = text.encode()
    given.text, given.text_len, given.add_special, given.parse_special = data, len(data), True, True
    array = (ctypes.c_void_p * len(bitmaps))(*bitmaps)
    assert mtmd_cpp.mtmd_tokenize(mtmd, chunks, ctypes.byref(given), array, len(bitmaps)) == 0
    try:
        yield chunks
    finally:
        mtmd_cpp.mtmd_input_chunks_free(chunks)
        for bitmap in bitmaps:
            mtmd_cpp.mtmd_bitmap_free(bitmap)


@contextmanager
def opened(folder: Path, family: str, at_once: int = N_BATCH) -> Iterator[Seeing]:
    """Write the files of a family into ``folder``, and open them."""
    pair = write_pair(folder, family)
    with LlamaModel(pair.model) as model:
        encoder = PictureEncoder(pair.side, model, 1)
        with LlamaContext(model, ContextParams(N_CTX, 1, picture_ubatch=at_once)) as context:
            sequence = CachedSequence(context)
            sequence.runs = encoder.runs_for(context)
            yield Seeing(model, context, sequence, encoder)
        encoder.close()
