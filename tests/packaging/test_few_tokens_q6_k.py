"""The set-up's product of Q6_K weights gives each token, bit for bit, what llama.cpp's own product gives it alone."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable
from ctypes import c_bool, c_int, c_int64, c_size_t, c_void_p
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.packaging.ggml_cpu import open_library

F32, Q6_K = 0, 14  # as ggml numbers its types
COLUMNS = 256  # in a block
ACTIVATIONS = np.dtype([("scale", "<f4"), ("values", "i1", 256), ("sums", "<i2", 16)])
BLOCK = np.dtype([("lower", "u1", 128), ("upper", "u1", 64), ("small_scales", "i1", 16), ("scale", "<f2")])
ROOM = 1 << 25  # bytes for a graph

Blocks = NDArray[np.void]
Floats = NDArray[np.float32]


class InitParams(ctypes.Structure):
    """ggml_init_params."""

    _fields_ = (("mem_size", c_size_t), ("mem_buffer", c_void_p), ("no_alloc", c_bool))


class Ggml:
    """What of ggml a product takes."""

    def __init__(self, cpu: ctypes.CDLL) -> None:
        signatures: dict[str, tuple[Any, list[Any]]] = {
            "ggml_init": (c_void_p, [InitParams]),
            "ggml_free": (None, [c_void_p]),
            "ggml_tensor_overhead": (c_size_t, []),
            "ggml_new_tensor_3d": (c_void_p, [c_void_p, c_int, c_int64, c_int64, c_int64]),
            "ggml_get_data": (c_void_p, [c_void_p]),
            "ggml_mul_mat": (c_void_p, [c_void_p, c_void_p, c_void_p]),
            "ggml_new_graph": (c_void_p, [c_void_p]),
            "ggml_build_forward_expand": (None, [c_void_p, c_void_p]),
            "ggml_graph_compute_with_ctx": (c_int, [c_void_p, c_void_p, c_int]),
        }
        self._functions: dict[str, Callable[..., Any]] = {}
        for name, (result, arguments) in signatures.items():
            function = cpu[name]  # of libggml-base.so as well, which it is linked with
            function.restype, function.argtypes = result, arguments
            self._functions[name] = function

    def _call(self, name: str, *arguments: object) -> Any:  # noqa: ANN401  (a native handle, or a number)
        return self._functions[f"ggml_{name}"](*arguments)

    def product(self, weights: Blocks, tokens: Floats, threads: int = 1, *, at_end: bool = False) -> Floats:
        """What `weights` [layers, rows, blocks] make of `tokens` [layers, tokens, columns]; [layers, tokens, rows].

        ``at_end``: readable memory ends right behind the weights.
        """
        memory = memory_for(self._call("tensor_overhead") + weights.nbytes) if at_end else None
        held = self._call("init", InitParams(*memory, False) if memory else InitParams(ROOM, None, False))
        context = self._call("init", InitParams(ROOM, None, False))
        try:
            layers, rows, blocks = weights.shape
            first = self._tensor(held, Q6_K, weights, (blocks * COLUMNS, rows, layers))
            second = self._tensor(context, F32, tokens, tokens.shape[::-1])
            result = self._call("mul_mat", context, first, second)
            graph = self._call("new_graph", context)
            self._call("build_forward_expand", graph, result)
            assert self._call("graph_compute_with_ctx", context, graph, threads) == 0
            shape = (layers, tokens.shape[1], rows)
            found = np.empty(shape, np.float32)
            ctypes.memmove(found.ctypes.data, self._call("get_data", result), found.nbytes)
            return found
        finally:
            self._call("free", context)
            self._call("free", held)

    def _tensor(self, context: int, kind: int, values: Blocks | Floats, shape: tuple[int, ...]) -> int:
        tensor: int = self._call("new_tensor_3d", context, kind, *shape)
        ctypes.memmove(self._call("get_data", tensor), values.ctypes.data, values.nbytes)
        return tensor


def memory_for(size: int) -> tuple[int, int]:
    """Size and place of memory behind which nothing can be read; it is never given back."""
    whole = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, whole + mmap.PAGESIZE)
    place = np.frombuffer(memory, np.uint8).ctypes.data
    KEPT.append(memory)
    assert ctypes.CDLL(None).mprotect(c_void_p(place + whole), mmap.PAGESIZE, 0) == 0
    return size, place + whole - size


KEPT: list[mmap.mmap] = []


@pytest.fixture(scope="module")
def cpu() -> ctypes.CDLL:
    return open_library("llamafile_sgemm_stock")


@pytest.fixture(scope="module")
def ggml(cpu: ctypes.CDLL) -> Ggml:
    return Ggml(cpu)


def filled(rng: np.random.Generator, shape: tuple[int, int, int], *, extreme: bool) -> Blocks:
    """Blocks of random bytes and scales; ``extreme``: each block has one value only, the least or the largest."""
    blocks = np.zeros(shape, BLOCK)
    for name in ("lower", "upper"):
        values = blocks[name]
        values[:] = rng.choice([0x00, 0xFF], (*shape, 1)) if extreme else rng.integers(0, 256, values.shape)
    small = blocks["small_scales"]
    small[:] = rng.choice([-128, 127], (*shape, 1)) if extreme else rng.integers(-128, 128, small.shape)
    blocks["scale"] = rng.normal(0.0, 100.0 if extreme else 0.01, shape)
    return blocks


def some_tokens(rng: np.random.Generator, shape: tuple[int, int, int], *, extreme: bool) -> Floats:
    values = rng.choice([-1.0, 1.0], (*shape[:2], 1)) * np.ones(shape) if extreme else rng.standard_normal(shape)
    return values.astype(np.float32)


def alone(cpu: ctypes.CDLL, weights: Blocks, tokens: Floats) -> Floats:
    """What llama.cpp's own product makes of each row and each token."""
    layers, rows, blocks = weights.shape
    quantized = np.zeros((*tokens.shape[:2], blocks), ACTIVATIONS)
    found = np.zeros((layers, tokens.shape[1], rows), np.float32)
    for layer in range(layers):
        for token in range(tokens.shape[1]):
            own = quantized[layer, token]
            cpu.quantize_row_q8_K(pointer(tokens[layer, token]), pointer(own), c_int64(blocks * COLUMNS))
            for row in range(rows):
                out, one = pointer(found[layer, token, row:]), pointer(weights[layer, row])
                cpu.ggml_vec_dot_q6_K_q8_K(
                    blocks * COLUMNS, out, c_size_t(0), one, c_size_t(0), pointer(own), c_size_t(0), 1
                )
    return found


def pointer(values: Blocks | Floats) -> c_void_p:
    return c_void_p(values.ctypes.data)


@settings(max_examples=60, deadline=None)
@given(
    size=st.tuples(st.integers(1, 3), st.integers(1, 75), st.integers(1, 5)),  # layers, rows, blocks
    count=st.one_of(st.integers(1, 19), st.integers(40, 47)),  # with more, llama.cpp's tiles pay
    threads=st.integers(1, 3),
    extreme=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_each_token_gets_what_it_gets_alone(
    cpu: ctypes.CDLL, size: tuple[int, int, int], count: int, threads: int, extreme: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    weights = filled(rng, size, extreme=extreme)
    tokens = some_tokens(rng, (size[0], count, size[2] * COLUMNS), extreme=extreme)
    assert Ggml(cpu).product(weights, tokens, threads).tobytes() == alone(cpu, weights, tokens).tobytes()


@pytest.mark.parametrize("count", [1, 2, 3, 8, 13])
def test_nothing_is_read_behind_the_end(ggml: Ggml, count: int) -> None:
    rng = np.random.default_rng(0)
    weights = filled(rng, (1, 8, 3), extreme=False)  # so many bytes that ggml adds none behind them
    tokens = some_tokens(rng, (1, count, 3 * COLUMNS), extreme=False)
    found = ggml.product(weights, tokens, at_end=True)  # what reads further ends the process
    assert found.tobytes() == ggml.product(weights, tokens).tobytes()


def test_it_is_the_product(ggml: Ggml) -> None:
    rng = np.random.default_rng(0)
    weights = filled(rng, (1, 6, 2), extreme=False)
    tokens = some_tokens(rng, (1, 5, 2 * COLUMNS), extreme=False)
    lower, upper = weights["lower"].reshape(6, 2, 2, 64), weights["upper"].reshape(6, 2, 2, 32)
    quarters = [
        (lower[..., 32 * (i % 2) : 32 * (i % 2) + 32] >> 4 * (i // 2)) & 15 | (upper >> 2 * i & 3) << 4
        for i in range(4)
    ]
    values = np.stack(quarters, axis=-2).reshape(6, 2, 16, 16).astype(np.float64) - 32.0
    values *= weights["small_scales"].reshape(6, 2, 16, 1) * weights["scale"].reshape(6, 2, 1, 1).astype(np.float64)
    expected = tokens[0].astype(np.float64) @ values.reshape(6, -1).T
    found = ggml.product(weights, tokens)[0]
    np.testing.assert_allclose(found, expected, rtol=0.02, atol=0.02 * float(np.abs(expected).max()))
