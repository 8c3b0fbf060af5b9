"""The set-up's products of a few tokens give llama.cpp's own results, bit for bit."""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

Product = Callable[..., None]
BLOCK = 32  # columns
WEIGHTS = np.dtype([("scales", "<f2", 8), ("values", "u1", 128)])  # eight rows
FOUR_TOKENS = np.dtype([("scales", "<f2", 4), ("values", "i1", 128)])
ONE_TOKEN = np.dtype([("scale", "<f2"), ("values", "i1", 32)])
UNTOUCHED = 12345.0


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    spec = importlib.util.find_spec("llama_cpp")
    assert spec is not None
    assert spec.origin is not None
    (path,) = [*(Path(spec.origin).parent / "lib").glob("libggml-cpu.so")] or [None]
    if path is None:
        pytest.skip("this system has llama.cpp in files of other names")
    loaded = ctypes.CDLL(str(path))
    if not hasattr(loaded, "ggml_gemm_q4_0_8x8_q8_0_stock"):
        pytest.skip("llama.cpp was compiled without few_tokens.h: the processor calls for other kernels")
    loaded.ggml_cpu_init()  # its own products look scales up in a table
    return loaded


def product(library: ctypes.CDLL, name: str) -> Product:
    function: Product = library[name]
    pointer, whole = ctypes.c_void_p, ctypes.c_int
    function.argtypes = [whole, pointer, ctypes.c_size_t, pointer, pointer, whole, whole]  # type: ignore[attr-defined]
    function.restype = None  # type: ignore[attr-defined]
    return function


def filled(rng: np.random.Generator, kind: np.dtype[np.void], count: int, extreme: bool) -> NDArray[np.void]:
    """Blocks of random bytes and scales; ``extreme`` values are the largest that quantizing gives, of either sign."""
    blocks = np.zeros(count, kind)
    values = blocks["values"]
    if values.dtype == np.int8:
        values[:] = rng.choice([-127, 127], values.shape) if extreme else rng.integers(-127, 128, values.shape)
    else:
        values[:] = (
            rng.choice([0x00, 0x77, 0x88, 0xFF], values.shape) if extreme else rng.integers(0, 256, values.shape)
        )
    scales = blocks["scale" if "scale" in (kind.names or ()) else "scales"]
    scales[:] = rng.normal(0.0, 100.0 if extreme else 0.01, scales.shape)
    return blocks


def results(
    function: Product, weights: NDArray[np.void], tokens: NDArray[np.void], shape: tuple[int, int, int, int]
) -> bytes:
    columns, rows, count, stride = shape
    out = np.full((count, stride), UNTOUCHED, np.float32)
    function(columns, out.ctypes.data, stride, weights.ctypes.data, tokens.ctypes.data, count, rows)
    assert (out[:, rows:] == UNTOUCHED).all()  # nothing is written beside the results
    assert (out[:, :rows] != UNTOUCHED).all()
    return out.tobytes()


@settings(max_examples=60, deadline=None)
@given(
    size=st.tuples(st.integers(1, 40), st.integers(1, 6), st.integers(1, 36)),  # more than 16 fours go in several turns
    gap=st.sampled_from([0, 3]),
    extreme=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_products_with_a_few_tokens(
    library: ctypes.CDLL, size: tuple[int, int, int], gap: int, extreme: bool, seed: int
) -> None:
    blocks, groups, fours = size
    rng = np.random.default_rng(seed)
    weights = filled(rng, WEIGHTS, groups * blocks, extreme)
    tokens = filled(rng, FOUR_TOKENS, fours * blocks, extreme)
    shape = (blocks * BLOCK, groups * 8, fours * 4, groups * 8 + gap)
    ours = results(product(library, "ggml_gemm_q4_0_8x8_q8_0"), weights, tokens, shape)
    assert ours == results(product(library, "ggml_gemm_q4_0_8x8_q8_0_stock"), weights, tokens, shape)


@settings(max_examples=60, deadline=None)
@given(blocks=st.integers(1, 40), groups=st.integers(1, 6), extreme=st.booleans(), seed=st.integers(0, 2**32 - 1))
def test_products_with_one_token(library: ctypes.CDLL, blocks: int, groups: int, extreme: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = filled(rng, WEIGHTS, groups * blocks, extreme)
    token = filled(rng, ONE_TOKEN, blocks, extreme)
    shape = (blocks * BLOCK, groups * 8, 1, groups * 8)
    ours = results(product(library, "ggml_gemv_q4_0_8x8_q8_0"), weights, token, shape)
    assert ours == results(product(library, "ggml_gemv_q4_0_8x8_q8_0_stock"), weights, token, shape)
