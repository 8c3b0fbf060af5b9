"""Lets llama.cpp select the top k tokens of a row on the output layer's device, which avoids copying the row.

The sampler chain contains only top-k; the engine does all other sampling.
"""

import logging
from typing import Any

import numpy as np

from engine.interfaces import Candidates
from engine.llama.model import LlamaModel

log = logging.getLogger(__name__)

NUM_CANDIDATES = 128  # more than usual values of top-k; other tokens of a draft's row would hardly ever be accepted
# On a CPU the row need not be copied, and top-k takes as long as a whole pass of a tiny model. So candidates pay off
# only on a GPU with a large vocabulary.
_SMALLEST_VOCABULARY = 4096
_NEEDED = (
    "llama_set_sampler",
    "llama_sampler_chain_init",
    "llama_sampler_chain_default_params",
    "llama_sampler_chain_add",
    "llama_sampler_init_top_k",
    "llama_sampler_free",
    "llama_get_sampled_candidates_ith",
    "llama_get_sampled_candidates_count_ith",
    "llama_get_sampled_logits_ith",
    "llama_get_sampled_logits_count_ith",
)
_SEQUENCE = 0
_LAST_ROW = -1


def candidates_pay(model: LlamaModel) -> bool:
    """Whether candidates are faster than rows: a GPU computes the logits of a large vocabulary."""
    return model.gpu_layers > model.n_layer and model.vocab.n_vocab >= _SMALLEST_VOCABULARY


class TopKSampler:
    """Selects the ``count`` most likely tokens of each row of a context; ``count`` is 0 if unsupported.

    While attached, the context gives no whole rows, and selects from at most one row per pass. Support is known only
    after a pass: on other devices llama.cpp accepts the sampler, but then gives whole rows instead of candidates.
    """

    def __init__(self, lib: Any, handle: int, n_vocab: int, count: int) -> None:  # noqa: ANN401  (the binding)
        self._lib, self._handle, self._n_vocab = lib, handle, n_vocab
        self._chain: Any = None
        self._retired: Any = None  # chain that the last graph references until the next pass
        self.count = count if count < n_vocab else 0
        missing = [name for name in _NEEDED if not hasattr(lib, name)]
        if self.count and missing:
            self._give_up(f"it lacks {missing[0]}")

    @property
    def is_attached(self) -> bool:
        return self._chain is not None

    def attach(self) -> bool:
        """Let the next passes give candidates; llama.cpp plans its buffers again. False if it refused for good."""
        if self._chain is not None or not self.count:
            return self._chain is not None
        lib = self._lib
        self._free_retired()
        # A new chain each time, since llama.cpp aborts if a chain is set twice.
        chain = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
        lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_top_k(self.count))
        if lib.llama_set_sampler(self._handle, _SEQUENCE, chain):
            self._chain = chain
            return True
        self._retired = chain
        self._give_up("it refused the sampler")
        return False

    def detach(self) -> None:
        """Let the next passes give whole rows."""
        if self._chain is not None:
            self._lib.llama_set_sampler(self._handle, _SEQUENCE, None)
            self._retired, self._chain = self._chain, None

    def read(self) -> Candidates:
        """Candidates of the last pass, ids ascending. If unsupported, the whole row, and ``count`` becomes 0."""
        lib, handle = self._lib, self._handle
        count = int(lib.llama_get_sampled_candidates_count_ith(handle, _LAST_ROW))
        num_logits = int(lib.llama_get_sampled_logits_count_ith(handle, _LAST_ROW))
        pointer = lib.llama_get_sampled_logits_ith(handle, _LAST_ROW)
        logits = np.ctypeslib.as_array(pointer, (num_logits,))
        if count != num_logits or count == 0:
            row = logits.copy()
            self.detach()
            self._give_up("its device cannot pick them")
            return Candidates(np.arange(num_logits, dtype=np.int64), row)
        ids = np.ctypeslib.as_array(lib.llama_get_sampled_candidates_ith(handle, _LAST_ROW), (count,))
        order = ids.argsort()
        return Candidates(ids[order].astype(np.int64), logits[order])

    def free(self) -> None:
        """Free the chains. The context must be freed first."""
        self._free_retired()
        if self._chain is not None:
            self._lib.llama_sampler_free(self._chain)
            self._chain = None

    def _free_retired(self) -> None:
        if self._retired is not None:
            self._lib.llama_sampler_free(self._retired)
            self._retired = None

    def _give_up(self, reason: str) -> None:
        self.count = 0
        log.info(
            "llama.cpp does not pick the likeliest tokens where they are computed (%s): whole rows are read", reason
        )
