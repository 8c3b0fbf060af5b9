"""The set-up's products of a few tokens are bit-identical to llama.cpp's own product for each single token."""

import ctypes
import mmap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.engine.kernels.ggml_cpu import IS_ARM, open_library

Product = Callable[..., None]
UNTOUCHED = 12345.0
AROUND = 16  # floats before and after the results


@dataclass(frozen=True)
class Kind:
    """A weight type: its functions, and blocks of eight rows, of four tokens and of one."""

    functions: str
    columns: int  # per block
    weights: np.dtype[np.void]
    four: np.dtype[np.void]
    one: np.dtype[np.void]
    piece: int = 8  # adjacent columns of a row


OF_X86 = [
    Kind(
        "q4_0_8x8_q8_0",
        32,
        np.dtype([("scale", "<f2", 8), ("values", "u1", 128)]),
        np.dtype([("scale", "<f2", 4), ("values", "i1", 128)]),
        np.dtype([("scale", "<f2", 1), ("values", "i1", 32)]),
    ),
    Kind(
        "q4_K_8x8_q8_K",
        256,
        np.dtype([("scale", "<f2", 16), ("small_scales", "u1", 96), ("values", "u1", 1024)]),
        np.dtype([("scale", "<f4", 4), ("values", "i1", 1024), ("sums", "<i2", 64)]),
        np.dtype([("scale", "<f4", 1), ("values", "i1", 256), ("sums", "<i2", 16)]),
    ),
]
OF_ARM = [replace(OF_X86[1], functions="q4_K_8x4_q8_K", piece=4)]  # without i8mm
KINDS = OF_ARM if IS_ARM else OF_X86


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    return open_library(f"ggml_gemm_{KINDS[0].functions}_stock")


def alone_by(library: ctypes.CDLL, kind: Kind) -> Product:
    """llama.cpp's product of a single token, even if the library has ours."""
    name = f"ggml_gemv_{kind.functions}"
    return product(library, f"{name}_stock" if hasattr(library, f"{name}_stock") else name)


def product(library: ctypes.CDLL, name: str) -> Product:
    function: Product = library[name]
    pointer, whole = ctypes.c_void_p, ctypes.c_int
    function.argtypes = [whole, pointer, ctypes.c_size_t, pointer, pointer, whole, whole]  # type: ignore[attr-defined]
    function.restype = None  # type: ignore[attr-defined]
    return function


def filled(
    rng: np.random.Generator, kind: np.dtype[np.void], shape: tuple[int, ...], extreme: bool
) -> NDArray[np.void]:
    """Blocks of random bytes and scales; ``extreme``: each block has one value, the largest of either sign."""
    blocks = np.zeros(shape, kind)
    values = blocks["values"]
    if values.dtype == np.int8:
        values[:] = rng.choice([-127, 127], (*shape, 1)) if extreme else rng.integers(-127, 128, values.shape)
    else:
        values[:] = rng.choice([0x77, 0x88, 0xFF], (*shape, 1)) if extreme else rng.integers(0, 256, values.shape)
    if "small_scales" in (kind.names or ()):
        small = blocks["small_scales"]
        small[:] = 0xFF if extreme else rng.integers(0, 256, small.shape)
    scale = blocks["scale"]
    scale[:] = rng.normal(0.0, 100.0 if extreme else 0.01, scale.shape)
    if "sums" in (kind.names or ()):
        blocks["sums"] = values.reshape(*shape, 16, 16).sum(axis=-1)
    return blocks


def at_the_end(blocks: NDArray[np.void]) -> NDArray[np.void]:
    """Copy ``blocks`` directly before unreadable memory."""
    size = -(-blocks.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, size + mmap.PAGESIZE)
    place = np.frombuffer(memory, np.uint8).ctypes.data
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(place + size), mmap.PAGESIZE, 0) == 0
    copy = np.frombuffer(memory, blocks.dtype, blocks.size, size - blocks.nbytes).reshape(blocks.shape)
    copy[:] = blocks
    return copy


def together(kind: Kind, tokens: NDArray[np.void]) -> NDArray[np.void]:
    """Pack tokens [tokens, blocks] by fours like llama.cpp: pieces of each in turn."""
    count, blocks = tokens.shape
    fours = tokens.reshape(count // 4, 4, blocks).transpose(0, 2, 1)
    result = np.zeros(fours.shape[:2], kind.four)
    result["scale"] = fours["scale"].reshape(*result.shape, 4)
    pieces = fours["values"].reshape(*result.shape, 4, -1, kind.piece)
    result["values"] = pieces.swapaxes(2, 3).reshape(*result.shape, -1)
    if "sums" in (kind.four.names or ()):  # sums of 16 values: four per part of 64, for each token in turn
        result["sums"] = fours["sums"].reshape(*result.shape, 4, 4, 4).swapaxes(2, 3).reshape(*result.shape, -1)
    return result


def results(
    function: Product, columns: int, weights: NDArray[np.void], tokens: NDArray[np.void], gap: int = 0
) -> NDArray[np.float32]:
    """Call a product for all ``tokens``; [tokens, rows]. Checks that nothing else is written."""
    rows, count = len(weights) * 8, len(tokens) * (tokens.dtype["scale"].shape or (1,))[0]
    around = np.full(2 * AROUND + count * (rows + gap), UNTOUCHED, np.float32)
    out = around[AROUND:-AROUND].reshape(count, rows + gap)
    function(columns, out.ctypes.data, rows + gap, weights.ctypes.data, tokens.ctypes.data, count, rows)
    assert (out[:, :rows] != UNTOUCHED).all()
    found = out[:, :rows].copy()
    out[:, :rows] = UNTOUCHED
    assert (around == UNTOUCHED).all()
    return found


def alone(function: Product, columns: int, weights: NDArray[np.void], tokens: NDArray[np.void]) -> NDArray[np.float32]:
    """Call a product for each of ``tokens`` separately; [tokens, rows]."""
    return np.concatenate([results(function, columns, weights, tokens[i : i + 1]) for i in range(len(tokens))])


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.functions)
@settings(max_examples=60, deadline=None)
@given(
    size=st.tuples(st.integers(1, 24), st.integers(1, 5), st.integers(1, 20)),  # more than 16 fours take several rounds
    gap=st.sampled_from([0, 3, 16]),
    extreme=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_each_token_gets_what_it_gets_alone(
    library: ctypes.CDLL, kind: Kind, size: tuple[int, int, int], gap: int, extreme: bool, seed: int
) -> None:
    blocks, groups, fours = size
    rng = np.random.default_rng(seed)
    weights = filled(rng, kind.weights, (groups, blocks), extreme)
    tokens = filled(rng, kind.one, (fours * 4, blocks), extreme)
    columns = blocks * kind.columns
    expected = alone(alone_by(library, kind), columns, weights, tokens)
    ours = alone(product(library, f"ggml_gemv_{kind.functions}"), columns, weights, tokens)
    assert ours.tobytes() == expected.tobytes()
    ours = results(product(library, f"ggml_gemm_{kind.functions}"), columns, weights, together(kind, tokens), gap)
    assert ours.tobytes() == expected.tobytes()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.functions)
@pytest.mark.parametrize("blocks", [1, 2, 3])
@pytest.mark.parametrize("fours", [1, 2, 3, 5])
def test_nothing_is_read_behind_the_end(library: ctypes.CDLL, kind: Kind, blocks: int, fours: int) -> None:
    rng = np.random.default_rng(0)
    weights = at_the_end(filled(rng, kind.weights, (2, blocks), extreme=False))
    tokens = filled(rng, kind.one, (fours * 4, blocks), extreme=False)
    columns, one = blocks * kind.columns, product(library, f"ggml_gemv_{kind.functions}")
    alone(one, columns, weights, at_the_end(tokens[:1]))  # reading further ends the process
    some = at_the_end(together(kind, tokens))
    found = results(product(library, f"ggml_gemm_{kind.functions}"), columns, weights, some)
    assert found.tobytes() == alone(one, columns, weights, tokens).tobytes()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.functions)
def test_threads_do_not_disturb_each_other(library: ctypes.CDLL, kind: Kind) -> None:
    rng = np.random.default_rng(0)
    weights = filled(rng, kind.weights, (64, 8), extreme=False)
    some = [together(kind, filled(rng, kind.one, (16, 8), extreme=False)) for _ in range(2)]
    function, columns = product(library, f"ggml_gemm_{kind.functions}"), 8 * kind.columns
    expected = [results(function, columns, weights, tokens).tobytes() for tokens in some]

    def right(number: int) -> bool:
        return all(results(function, columns, weights, some[number]).tobytes() == expected[number] for _ in range(100))

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(right, range(2))) == [True, True]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.functions)
def test_tokens_lie_together_as_llama_cpp_takes_them(library: ctypes.CDLL, kind: Kind) -> None:
    """llama.cpp's product of several tokens, which rounds Q4_K in another order, gives nearly the same result."""
    rng = np.random.default_rng(0)
    weights = filled(rng, kind.weights, (3, 4), extreme=False)
    tokens = filled(rng, kind.one, (8, 4), extreme=False)
    columns = 4 * kind.columns
    stock = results(product(library, f"ggml_gemm_{kind.functions}_stock"), columns, weights, together(kind, tokens))
    ours = results(product(library, f"ggml_gemm_{kind.functions}"), columns, weights, together(kind, tokens))
    np.testing.assert_allclose(ours, stock, rtol=1e-3, atol=1e-3 * float(np.abs(stock).max()))
