"""A GGUF opened with llama.cpp's low-level functions: tokens, logits, greedy and sampled text.

One model and one context, for evaluation and sampling, without PyTorch.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import llama_cpp.llama_cpp as lib
import numpy as np

_quiet: list[Any] = []


def _ignore(_level: int, _text: bytes, _data: object) -> None:
    return None


class ModelFile:
    """One loaded GGUF; raises FileNotFoundError or ValueError when it does not load."""

    def __init__(self, path: Path, num_threads: int = 1, context: int = 2048) -> None:
        if not _quiet:
            _quiet.append(lib.llama_log_callback(_ignore))
            lib.llama_log_set(_quiet[0], ctypes.c_void_p(0))
            lib.llama_backend_init()
        if not path.is_file():
            raise FileNotFoundError(path)
        self.model = lib.llama_model_load_from_file(str(path).encode(), lib.llama_model_default_params())
        if not self.model:
            raise ValueError(f"{path} does not load")
        self.vocab = lib.llama_model_get_vocab(self.model)
        self.num_vocab: int = lib.llama_vocab_n_tokens(self.vocab)
        params = lib.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = context
        params.n_threads = params.n_threads_batch = num_threads
        self.context = lib.llama_init_from_model(self.model, params)
        self.memory = lib.llama_get_memory(self.context)
        self.batch = lib.llama_batch_init(context, 0, 1)
        self.ids: list[int] = []

    def tokenize(self, text: str, add_bos: bool = True) -> list[int]:
        """Ids of `text`; control tokens in it are recognised."""
        raw = text.encode()
        buffer = (lib.llama_token * (len(raw) + 8))()
        count = lib.llama_tokenize(self.vocab, raw, len(raw), buffer, len(buffer), add_bos, True)
        return list(buffer[:count])

    def detokenize(self, ids: list[int]) -> str:
        """Text of `ids`, control tokens left out."""
        buffer = ctypes.create_string_buffer(16 * len(ids) + 64)
        array = (lib.llama_token * len(ids))(*ids)
        count = lib.llama_detokenize(self.vocab, array, len(ids), buffer, len(buffer), False, False)
        return buffer.raw[: max(0, count)].decode("utf-8", "replace")

    def is_end(self, token: int) -> bool:
        """Whether `token` ends an answer."""
        return bool(lib.llama_vocab_is_eog(self.vocab, token))

    def logits(self, ids: list[int], num_rows: int = 1) -> np.ndarray:
        """Rows (num_rows, vocabulary) of logits after the last `num_rows` of `ids`; the shared beginning is reused."""
        shared = 0
        limit = min(len(self.ids), len(ids) - num_rows)
        while shared < limit and self.ids[shared] == ids[shared]:
            shared += 1
        lib.llama_memory_seq_rm(self.memory, 0, shared, -1)
        fresh = ids[shared:]
        for at, token in enumerate(fresh):
            self.batch.token[at] = token
            self.batch.pos[at] = shared + at
            self.batch.n_seq_id[at] = 1
            self.batch.seq_id[at][0] = 0
            self.batch.logits[at] = at >= len(fresh) - num_rows
        self.batch.n_tokens = len(fresh)
        if lib.llama_decode(self.context, self.batch) != 0:
            raise RuntimeError("llama_decode failed")
        self.ids = list(ids)
        first = len(fresh) - num_rows
        rows = [
            np.ctypeslib.as_array(lib.llama_get_logits_ith(self.context, first + at), (self.num_vocab,))
            for at in range(num_rows)
        ]
        return np.stack(rows)

    def answer(self, prompt: list[int], max_tokens: int = 256, temperature: float = 0.0, seed: int = 0) -> list[int]:
        """Ids of an answer, its end token included; greedy at temperature zero."""
        rng = np.random.default_rng(seed)
        ids = list(prompt)
        while len(ids) < len(prompt) + max_tokens and len(ids) < 2047:
            row = self.logits(ids)[0]
            if temperature <= 0:
                token = int(row.argmax())
            else:
                p = softmax(row[None], temperature)[0]
                token = int(np.searchsorted(np.cumsum(p), rng.random() * p.sum()))
            ids.append(token)
            if self.is_end(token):
                break
        return ids[len(prompt) :]

    def chat(self, messages: list[tuple[str, str]]) -> list[int]:
        """Ids of a conversation that waits for the assistant's answer."""
        text = "".join(f"<|im_start|>{role}\n{content}<|im_end|>\n" for role, content in messages)
        return self.tokenize(text + "<|im_start|>assistant\n")

    def reply(self, messages: list[tuple[str, str]], max_tokens: int = 256) -> str:
        """The greedy answer as text."""
        return self.detokenize(self.answer(self.chat(messages), max_tokens))


def softmax(rows: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    """Probabilities (rows, vocabulary) of logits at a temperature above zero, float64."""
    scaled = rows.astype(np.float64) / temperature
    scaled -= scaled.max(axis=1, keepdims=True)
    raised = np.exp(scaled)
    return raised / raised.sum(axis=1, keepdims=True)
