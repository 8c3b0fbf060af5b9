"""The set-up's products of other weight types are bit-identical to llama.cpp's own product for each token.

For Q4_1 and Q8_0 to its product of a single token; for IQ4_XS, Q5_K and Q6_K to that of its tiles for many tokens.
"""

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

from tests.engine.kernels.ggml_cpu import IS_ARM, InitParams, functions_of, open_library

F32, Q4_1, Q8_0, Q8_1, Q5_K, Q6_K, IQ4_XS, I32 = 0, 3, 8, 9, 13, 14, 23, 26  # type numbers of ggml
KINDS = (IQ4_XS,) if IS_ARM else (IQ4_XS, Q4_1, Q5_K, Q6_K, Q8_0)
ALONE = {
    IQ4_XS: "ggml_vec_dot_iq4_xs_q8_K",
    Q4_1: "ggml_vec_dot_q4_1_q8_1",
    Q5_K: "ggml_vec_dot_q5_K_q8_K",
    Q6_K: "ggml_vec_dot_q6_K_q8_K",
    Q8_0: "ggml_vec_dot_q8_0_q8_0",
}
IQ4_VALUES = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.float64)
COLUMNS = {IQ4_XS: 256, Q4_1: 32, Q5_K: 256, Q6_K: 256, Q8_0: 32}  # per block
BLOCKS = {
    IQ4_XS: np.dtype([("scale", "<f2"), ("upper_scales", "u1", 2), ("small_scales", "u1", 4), ("lower", "u1", 128)]),
    Q4_1: np.dtype([("scale", "<f2"), ("least", "<f2"), ("lower", "u1", 16)]),
    Q5_K: np.dtype(
        [("scale", "<f2"), ("least", "<f2"), ("small_scales", "u1", 12), ("upper", "u1", 32), ("lower", "u1", 128)]
    ),
    Q6_K: np.dtype([("lower", "u1", 128), ("upper", "u1", 64), ("small_scales", "i1", 16), ("scale", "<f2")]),
    Q8_0: np.dtype([("scale", "<f2"), ("lower", "u1", 32)]),  # signed bytes
}
OF_SUPERBLOCKS = "quantize_row_q8_K", np.dtype([("scale", "<f4"), ("values", "i1", 256), ("sums", "<i2", 16)])
OF_BLOCKS = {
    Q4_1: ("quantize_row_q8_1", np.dtype([("scale", "<f2"), ("sum", "<f2"), ("values", "i1", 32)])),
    Q8_0: ("quantize_row_q8_0", np.dtype([("scale", "<f2"), ("values", "i1", 32)])),
}
OF_TILES = () if IS_ARM else (IQ4_XS, Q5_K, Q6_K)
MANY = 64  # tokens for which tiles pay
F16, IQ4_NL, BF16 = 1, 20, 30
LARGE = 1 << 16  # blocks, not superblocks, that threads take dynamically
ROOM = 1 << 25  # bytes for a graph

Blocks = NDArray[np.void]
Floats = NDArray[np.float32]


class ComputeParams(ctypes.Structure):
    """ggml's ggml_compute_params."""

    _fields_ = (
        ("ith", c_int),
        ("nth", c_int),
        ("wsize", c_size_t),
        ("wdata", c_void_p),
        ("threadpool", c_void_p),
        ("use_ref", c_bool),
    )


class Ggml:
    """The parts of ggml that a product needs."""

    def __init__(self, cpu: ctypes.CDLL) -> None:
        signatures: dict[str, tuple[Any, list[Any]]] = {
            "init": (c_void_p, [InitParams]),
            "free": (None, [c_void_p]),
            "tensor_overhead": (c_size_t, []),
            "new_tensor_3d": (c_void_p, [c_void_p, c_int, c_int64, c_int64, c_int64]),
            "get_data": (c_void_p, [c_void_p]),
            "mul_mat": (c_void_p, [c_void_p, c_void_p, c_void_p]),
            "mul_mat_id": (c_void_p, [c_void_p, c_void_p, c_void_p, c_void_p]),
            "nbytes": (c_size_t, [c_void_p]),
            "quantize_chunk": (c_size_t, [c_int, c_void_p, c_void_p, *(3 * [c_int64]), c_void_p]),
            "new_graph": (c_void_p, [c_void_p]),
            "build_forward_expand": (None, [c_void_p, c_void_p]),
            "graph_compute_with_ctx": (c_int, [c_void_p, c_void_p, c_int]),
        }
        self._functions = functions_of(cpu, signatures)

    def _call(self, name: str, *arguments: object) -> Any:  # noqa: ANN401  (a native handle, or a number)
        return self._functions[name](*arguments)

    def product(self, weights: Blocks, tokens: Floats, threads: int = 1, *, at_end: bool = False) -> Floats:
        """`weights` [layers, rows, blocks] times `tokens` [layers, tokens, columns]: [layers, tokens, rows].

        ``at_end``: unreadable memory follows directly after the weights.
        """
        memory = memory_for(self._call("tensor_overhead") + weights.nbytes) if at_end else None
        held = self._call("init", InitParams(*memory, False) if memory else InitParams(ROOM, None, False))
        context = self._call("init", InitParams(ROOM, None, False))
        try:
            layers, rows, blocks = weights.shape
            kind = next(kind for kind, block in BLOCKS.items() if block == weights.dtype)
            first = self._tensor(held, kind, weights, (blocks * COLUMNS[kind], rows, layers))
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

    def quantized(self, kind: int, weights: Floats, tokens: Floats, experts: NDArray[np.int32] | None = None) -> Floats:
        """Weights [experts, rows, columns], as ``kind``, times tokens [tokens, columns]: [tokens, slots, rows].

        ``experts`` [tokens, slots]: the experts of each token; by default one slot with the first expert.
        """
        context = self._call("init", InitParams(ROOM, None, False))
        try:
            count, columns = tokens.shape
            first = self._call("new_tensor_3d", context, kind, *weights.shape[::-1])
            self._call(
                "quantize_chunk", kind, pointer(weights), self._call("get_data", first), 0, *_rows_of(weights), None
            )
            if experts is None:
                result = self._call("mul_mat", context, first, self._tensor(context, F32, tokens, (columns, count, 1)))
            else:
                given = self._tensor(context, F32, tokens, (columns, 1, count))
                chosen = self._tensor(context, I32, experts, (experts.shape[1], count, 1))
                result = self._call("mul_mat_id", context, first, given, chosen)
            graph = self._call("new_graph", context)
            self._call("build_forward_expand", graph, result)
            assert self._call("graph_compute_with_ctx", context, graph, 2) == 0
            found = np.empty((count, 1 if experts is None else experts.shape[1], weights.shape[1]), np.float32)
            ctypes.memmove(found.ctypes.data, self._call("get_data", result), found.nbytes)
            return found
        finally:
            self._call("free", context)

    def _tensor(self, context: int, kind: int, values: NDArray[Any], shape: tuple[int, ...]) -> int:
        tensor: int = self._call("new_tensor_3d", context, kind, *shape)
        ctypes.memmove(self._call("get_data", tensor), values.ctypes.data, values.nbytes)
        return tensor


def _rows_of(weights: Floats) -> tuple[int, int]:
    return weights.shape[0] * weights.shape[1], weights.shape[2]


def memory_for(size: int) -> tuple[int, int]:
    """Size and address of memory followed by unreadable memory; it is never freed."""
    whole = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, whole + mmap.PAGESIZE)
    place = np.frombuffer(memory, np.uint8).ctypes.data
    KEPT.append(memory)
    assert ctypes.CDLL(None).mprotect(c_void_p(place + whole), mmap.PAGESIZE, 0) == 0
    return size, place + whole - size


KEPT: list[mmap.mmap] = []


@pytest.fixture(scope="module")
def cpu() -> ctypes.CDLL:
    return open_library("ggml_compute_forward_mul_mat_tiled_stock" if IS_ARM else "llamafile_sgemm_stock")


@pytest.fixture(scope="module")
def ggml(cpu: ctypes.CDLL) -> Ggml:
    return Ggml(cpu)


def filled(rng: np.random.Generator, kind: int, shape: tuple[int, int, int], *, extreme: bool) -> Blocks:
    """Blocks of random bytes and scales; ``extreme``: each block has one value, the least or the largest."""
    blocks = np.zeros(shape, BLOCKS[kind])
    names = set(BLOCKS[kind].names or ())
    for name in sorted(names & {"lower", "upper", "upper_scales"}):
        values = blocks[name]
        values[:] = (
            rng.choice([0x7F, 0x80] if kind == Q8_0 else [0x00, 0xFF], (*shape, 1))
            if extreme
            else rng.integers(0, 256, values.shape)
        )
    if "small_scales" in names:
        small = blocks["small_scales"]
        limits = np.iinfo(small.dtype)
        edges = [limits.min, limits.max]
        small[:] = rng.choice(edges, (*shape, 1)) if extreme else rng.integers(limits.min, limits.max + 1, small.shape)
    for name in sorted(names & {"scale", "least"}):
        blocks[name] = rng.normal(0.0, 100.0 if extreme else 0.01, shape)
    return blocks


def some_tokens(rng: np.random.Generator, shape: tuple[int, int, int], *, extreme: bool) -> Floats:
    values = rng.choice([-1.0, 1.0], (*shape[:2], 1)) * np.ones(shape) if extreme else rng.standard_normal(shape)
    return values.astype(np.float32)


def alone(cpu: ctypes.CDLL, kind: int, weights: Blocks, tokens: Floats) -> Floats:
    """llama.cpp's own product of each row and each token."""
    layers, rows, blocks = weights.shape
    if kind in OF_TILES:
        many = np.ones((layers, MANY, tokens.shape[2]), np.float32)
        many[:, : tokens.shape[1]] = tokens
        return np.ascontiguousarray(Ggml(cpu).product(weights, many)[:, : tokens.shape[1]])
    num_columns = blocks * COLUMNS[kind]
    quantize, activations = OF_BLOCKS.get(kind, OF_SUPERBLOCKS)
    quantized = np.zeros((*tokens.shape[:2], blocks), activations)
    found = np.zeros((layers, tokens.shape[1], rows), np.float32)
    for layer in range(layers):
        for token in range(tokens.shape[1]):
            own = quantized[layer, token]
            cpu[quantize](pointer(tokens[layer, token]), pointer(own), c_int64(num_columns))
            for row in range(rows):
                out, one = pointer(found[layer, token, row:]), pointer(weights[layer, row])
                cpu[ALONE[kind]](num_columns, out, c_size_t(0), one, c_size_t(0), pointer(own), c_size_t(0), 1)
    return found


def pointer(values: Blocks | Floats) -> c_void_p:
    return c_void_p(values.ctypes.data)


@settings(max_examples=120, deadline=None)
@given(
    weights_are=st.tuples(st.sampled_from(KINDS), st.booleans()),  # whether they are extreme
    size=st.tuples(st.integers(1, 3), st.integers(1, 75), st.integers(1, 12)),  # layers, rows, blocks
    count=st.integers(1, 50),  # with more, llama.cpp uses its tiles for all types that have them
    threads=st.integers(1, 3),
    seed=st.integers(0, 2**32 - 1),
)
def test_each_token_gets_what_it_gets_alone(
    cpu: ctypes.CDLL, weights_are: tuple[int, bool], size: tuple[int, int, int], count: int, threads: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    kind, extreme = weights_are
    weights = filled(rng, kind, size, extreme=extreme)
    tokens = some_tokens(rng, (size[0], count, size[2] * COLUMNS[kind]), extreme=extreme)
    assert Ggml(cpu).product(weights, tokens, threads).tobytes() == alone(cpu, kind, weights, tokens).tobytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_long_rows_are_taken_one_by_one_with_one_and_two_tokens(cpu: ctypes.CDLL, count: int, kind: int) -> None:
    rng = np.random.default_rng(count)
    weights = filled(rng, kind, (1, 13, 18), extreme=False)
    tokens = some_tokens(rng, (1, count, 18 * COLUMNS[kind]), extreme=False)
    assert Ggml(cpu).product(weights, tokens, 2).tobytes() == alone(cpu, kind, weights, tokens).tobytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 2, 3, 8, 13])
def test_nothing_is_read_behind_the_end(ggml: Ggml, count: int, kind: int) -> None:
    rng = np.random.default_rng(0)
    weights = filled(rng, kind, (1, 16, 3), extreme=False)  # a size that ggml does not pad
    tokens = some_tokens(rng, (1, count, 3 * COLUMNS[kind]), extreme=False)
    found = ggml.product(weights, tokens, at_end=True)  # reading further ends the process
    assert found.tobytes() == ggml.product(weights, tokens).tobytes()


@pytest.mark.skipif(IS_ARM, reason="left to llama.cpp there")
@pytest.mark.parametrize("kind", [F32, F16, BF16, IQ4_NL, Q5_K, Q6_K, IQ4_XS])
def test_a_token_has_the_bits_alone_that_it_has_among_others(ggml: Ggml, kind: int) -> None:
    rng = np.random.default_rng(kind)
    weights, tokens = (rng.standard_normal(shape).astype(np.float32) for shape in ((1, 37, 512), (70, 512)))
    single = np.concatenate([ggml.quantized(kind, weights, tokens[i : i + 1].copy()) for i in range(70)])
    for count in (2, 3, 7, 8, 20, 21, 48, 70):
        assert np.array_equal(ggml.quantized(kind, weights, tokens[:count].copy()), single[:count]), count


@pytest.mark.skipif(IS_ARM, reason="left to llama.cpp there")
@pytest.mark.parametrize("kind", [F32, F16, Q8_0, Q5_K, Q6_K, IQ4_XS])
def test_so_it_has_with_the_experts_that_it_chose(ggml: Ggml, kind: int) -> None:
    rng = np.random.default_rng(kind)
    weights, tokens = (rng.standard_normal(shape).astype(np.float32) for shape in ((3, 37, 512), (70, 512)))
    first = rng.integers(0, 3, 70)
    experts = np.stack((first, (first + 1) % 3), axis=1).astype(np.int32)
    single = [ggml.quantized(kind, weights, tokens[i : i + 1].copy(), experts[i : i + 1].copy()) for i in range(70)]
    for count in (2, 5, 12, 24, 40, 70):
        found = ggml.quantized(kind, weights, tokens[:count].copy(), experts[:count].copy())
        assert np.array_equal(found, np.concatenate(single[:count])), count


@pytest.mark.skipif(IS_ARM, reason="left to llama.cpp there")
@pytest.mark.parametrize("count", [1, 2, 8, 16])
def test_q4_1_is_no_longer_taken_token_by_token(cpu: ctypes.CDLL, count: int) -> None:
    weights, tokens = np.zeros((5, 3), BLOCKS[Q4_1]), np.zeros((count, 3), OF_BLOCKS[Q4_1][1])
    weights["scale"], weights["least"], tokens["values"] = 1.0, 0.5, 1
    weights["lower"], tokens["scale"], tokens["sum"] = 0x31, 1.0, 32.0
    found = np.zeros((count, 5), np.float32)
    sizes = [c_int64(size) for size in (5, count, 3)]
    places = [pointer(weights), c_int64(3), pointer(tokens), c_int64(3), pointer(found), c_int64(5)]
    arguments = (ctypes.byref(ComputeParams(nth=1)), *sizes, *places, Q4_1, Q8_1, F32)
    for name, is_taken in (("llamafile_sgemm_stock", False), ("llamafile_sgemm", True)):
        product = cpu[name]
        product.restype = c_bool
        assert product(*arguments) is is_taken
    assert (found == 3 * 16 * (1 + 3 + 2 * 0.5)).all()


@pytest.mark.skipif(IS_ARM, reason="left to llama.cpp there")
@pytest.mark.parametrize("kind", OF_BLOCKS)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_many_rows_are_taken_in_turns(cpu: ctypes.CDLL, threads: int, kind: int) -> None:
    rng = np.random.default_rng(threads)
    weights = filled(rng, kind, (1, LARGE // 128 + 7, 129), extreme=False)
    tokens = some_tokens(rng, (1, 3, 129 * COLUMNS[kind]), extreme=False)
    assert Ggml(cpu).product(weights, tokens, threads).tobytes() == alone(cpu, kind, weights, tokens).tobytes()


def values_of_iq4_xs(weights: Blocks) -> NDArray[np.float64]:
    """The values [rows, columns] of blocks [rows, blocks]."""
    halves = np.array([0, 4], np.uint8)
    places = (weights["lower"].reshape(-1, 8, 1, 16) >> halves.reshape(1, 1, 2, 1) & 15).reshape(-1, 8, 32)
    low = (weights["small_scales"].reshape(-1, 4, 1) >> halves & 15).reshape(-1, 8)
    high = weights["upper_scales"].reshape(-1, 2, 1) >> np.array([0, 2, 4, 6], np.uint8) & 3
    scales = (low | high.reshape(-1, 8) << 4).astype(np.float64) - 32.0
    values: NDArray[np.float64] = (
        IQ4_VALUES[places] * (scales * weights["scale"].reshape(-1, 1).astype(np.float64))[..., None]
    )
    return values.reshape(len(weights), -1)


def values_of_q4_1(weights: Blocks) -> NDArray[np.float64]:
    """The values [rows, columns] of blocks [rows, blocks]."""
    values = np.concatenate((weights["lower"] & 15, weights["lower"] >> 4), axis=-1).astype(np.float64)
    values *= weights["scale"].astype(np.float64)[..., None]
    values += weights["least"].astype(np.float64)[..., None]
    return values.reshape(len(weights), -1)


def values_of_q5_k(weights: Blocks) -> NDArray[np.float64]:
    """The values [rows, columns] of blocks [rows, blocks]."""
    lower, upper = weights["lower"].reshape(-1, 4, 1, 32), weights["upper"].reshape(-1, 1, 1, 32)
    halves = np.array([0, 4], np.uint8).reshape(1, 1, 2, 1)
    places = np.arange(8, dtype=np.uint8).reshape(1, 4, 2, 1)
    values = ((lower >> halves) & 15 | (upper >> places & 1) << 4).reshape(-1, 8, 32).astype(np.float64)
    first, second, third = np.split(weights["small_scales"].reshape(-1, 12), 3, axis=1)
    scales = np.concatenate((first & 63, third & 15 | first >> 6 << 4), axis=1)
    least = np.concatenate((second & 63, third >> 4 | second >> 6 << 4), axis=1)
    values *= (scales * weights["scale"].reshape(-1, 1).astype(np.float64))[..., None]
    values -= (least * weights["least"].reshape(-1, 1).astype(np.float64))[..., None]
    return values.reshape(len(weights), -1)


def values_of_q6_k(weights: Blocks) -> NDArray[np.float64]:
    """The values [rows, columns] of blocks [rows, blocks]."""
    lower, upper = weights["lower"].reshape(-1, 2, 64), weights["upper"].reshape(-1, 2, 32)
    quarters = [
        (lower[..., 32 * (i % 2) : 32 * (i % 2) + 32] >> 4 * (i // 2)) & 15 | (upper >> 2 * i & 3) << 4
        for i in range(4)
    ]
    values = np.stack(quarters, axis=-2).reshape(-1, 16, 16).astype(np.float64) - 32.0
    values *= (weights["small_scales"].reshape(-1, 16) * weights["scale"].reshape(-1, 1).astype(np.float64))[..., None]
    return values.reshape(len(weights), -1)


def values_of_q8_0(weights: Blocks) -> NDArray[np.float64]:
    """The values [rows, columns] of blocks [rows, blocks]."""
    scales = weights["scale"].astype(np.float64)[..., None]
    values = weights["lower"].view(np.int8).astype(np.float64) * scales
    return values.reshape(len(weights), -1)


@pytest.mark.parametrize(
    ("kind", "values_of"),
    [
        (IQ4_XS, values_of_iq4_xs),
        (Q4_1, values_of_q4_1),
        (Q5_K, values_of_q5_k),
        (Q6_K, values_of_q6_k),
        (Q8_0, values_of_q8_0),
    ],
)
def test_it_is_the_product(ggml: Ggml, kind: int, values_of: Callable[[Blocks], NDArray[np.float64]]) -> None:
    rng = np.random.default_rng(0)
    weights = filled(rng, kind, (1, 6, 2), extreme=False)
    tokens = some_tokens(rng, (1, 5, 2 * COLUMNS[kind]), extreme=False)
    expected = tokens[0].astype(np.float64) @ values_of(weights[0]).T
    found = ggml.product(weights, tokens)[0]
    np.testing.assert_allclose(found, expected, rtol=0.02, atol=0.02 * float(np.abs(expected).max()))
