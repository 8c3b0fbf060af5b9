"""The set-up's attention is correct, and each query has the same bits as alone, wherever its cells are."""

import ctypes
from ctypes import c_float, c_int, c_int64, c_void_p
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.engine.kernels.ggml_cpu import InitParams, functions_of, open_library

F32, F16, Q8_0 = 0, 1, 8  # type numbers of ggml
MEMORY = 1 << 27  # bytes for a graph
BLOCK_Q8_0 = np.dtype([("scale", "<f2"), ("values", "i1", 32)])
WIDTHS = {F16: (32, 64, 80, 128), Q8_0: (32, 64, 128)}  # of a head
LARGEST = 65504.0  # of f16

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Inputs:
    """The inputs of one operation: queries [heads, tokens, width], keys and values [heads, cells, width], mask."""

    queries: Floats
    keys: Floats
    values: Floats
    mask: Floats  # [tokens, cells], added to the scores; -inf hides a cell
    kind: int = F16
    max_bias: float = 0.0
    cap: float = 0.0
    sinks: Floats | None = None


class Attention:
    """llama.cpp's fused attention as a graph with one operation."""

    def __init__(self, cpu: ctypes.CDLL) -> None:
        signatures: dict[str, tuple[Any, list[Any]]] = {
            "init": (c_void_p, [InitParams]),
            "free": (None, [c_void_p]),
            "new_tensor_3d": (c_void_p, [c_void_p, c_int, c_int64, c_int64, c_int64]),
            "get_data": (c_void_p, [c_void_p]),
            "flash_attn_ext": (c_void_p, [*(5 * [c_void_p]), c_float, c_float, c_float]),
            "flash_attn_ext_add_sinks": (None, [c_void_p, c_void_p]),
            "new_graph": (c_void_p, [c_void_p]),
            "build_forward_expand": (None, [c_void_p, c_void_p]),
            "graph_compute_with_ctx": (c_int, [c_void_p, c_void_p, c_int]),
        }
        self._functions = functions_of(cpu, signatures)

    def _call(self, name: str, *arguments: object) -> Any:  # noqa: ANN401  (a native handle, or a number)
        return self._functions[name](*arguments)

    def rows(self, given: Inputs, threads: int = 1) -> Floats:
        """The result [tokens, heads, width]."""
        context = self._call("init", InitParams(MEMORY, None, False))
        try:
            width, of_values = given.queries.shape[-1], given.values.shape[-1]
            tensors = [self._tensor(context, F32, given.queries, width)]
            tensors += [
                self._tensor(context, given.kind, packed(x, given.kind), x.shape[-1])
                for x in (given.keys, given.values)
            ]
            tensors.append(self._tensor(context, F16, given.mask[None].astype(np.float16), given.mask.shape[-1]))
            result = self._call("flash_attn_ext", context, *tensors, width**-0.5, given.max_bias, given.cap)
            if given.sinks is not None:
                sinks = self._call("new_tensor_3d", context, F32, len(given.sinks), 1, 1)
                ctypes.memmove(self._call("get_data", sinks), given.sinks.ctypes.data, given.sinks.nbytes)
                self._call("flash_attn_ext_add_sinks", result, sinks)
            graph = self._call("new_graph", context)
            self._call("build_forward_expand", graph, result)
            assert self._call("graph_compute_with_ctx", context, graph, threads) == 0
            heads, tokens = given.queries.shape[:2]
            found = np.empty((tokens, heads, of_values), np.float32)
            ctypes.memmove(found.ctypes.data, self._call("get_data", result), found.nbytes)
            return found
        finally:
            self._call("free", context)

    def _tensor(self, context: int, kind: int, values: NDArray[Any], width: int) -> int:
        tensor: int = self._call("new_tensor_3d", context, kind, width, values.shape[1], values.shape[0])
        whole = np.ascontiguousarray(values)
        ctypes.memmove(self._call("get_data", tensor), whole.ctypes.data, whole.nbytes)
        return tensor


def packed(values: Floats, kind: int) -> NDArray[Any]:
    """Values packed as type ``kind``."""
    if kind == F16:
        return values.astype(np.float16)
    blocks = values.reshape(*values.shape[:-1], -1, 32)
    scales = (np.abs(blocks).max(-1) / 127).astype(np.float16)
    made = np.zeros(scales.shape, BLOCK_Q8_0)
    made["scale"] = scales
    divisor = np.where(scales == 0, 1, scales).astype(np.float32)[..., None]
    made["values"] = np.clip(np.rint(blocks / divisor), -127, 127)
    return made


def unpacked(values: Floats, kind: int) -> NDArray[np.float64]:
    """The unpacked values of cells of type ``kind``."""
    made = packed(values, kind)
    if kind == F16:
        return made.astype(np.float64)
    values_of: NDArray[np.float64] = made["scale"][..., None].astype(np.float64) * made["values"]
    return values_of.reshape(values.shape)


def expected(given: Inputs) -> NDArray[np.float64]:
    """The result in f64 [tokens, heads, width]."""
    heads, heads_kv = len(given.queries), len(given.keys)
    keys, values = (np.repeat(unpacked(x, given.kind), heads // heads_kv, 0) for x in (given.keys, given.values))
    scores = np.einsum("htd,hcd->htc", given.queries.astype(np.float64), keys) * given.queries.shape[-1] ** -0.5
    if given.cap:
        scores = given.cap * np.tanh(scores / given.cap)
    power = 2 ** int(np.log2(heads))
    slopes = [2.0 ** (-given.max_bias / power * (h + 1)) for h in range(power)]
    slopes += [2.0 ** (-given.max_bias / 2 / power * (2 * h + 1)) for h in range(heads - power)]
    bias = given.mask.astype(np.float16).astype(np.float64)
    scores = scores + (np.array(slopes)[:, None, None] if given.max_bias else 1.0) * bias
    sinks = np.full(heads, -np.inf) if given.sinks is None else given.sinks.astype(np.float64)
    most = np.maximum(scores.max(-1), sinks[:, None])
    weights = np.exp(scores - most[..., None])
    total = weights.sum(-1) + np.exp(sinks[:, None] - most)
    rows: NDArray[np.float64] = np.einsum("htc,hcd->thd", weights / total[..., None], values)
    return rows


@pytest.fixture(scope="module")
def attention() -> Attention:
    return Attention(open_library("ggml_compute_forward_flash_attn_ext_stock"))


def some_inputs(rng: np.random.Generator, kind: int, heads: tuple[int, int], tokens: int, cells: int) -> Inputs:
    """Tokens at the end of ``cells`` that see all before. ``heads``: number of key heads, and of queries for each."""
    width, of_values = (int(w) for w in rng.choice(WIDTHS[kind], 2))
    before = cells - tokens + np.arange(tokens)[:, None]
    mask = np.where(np.arange(cells) <= before, 0.0, -np.inf)
    strength = float(rng.choice([0.3, 3.0, 30.0]))
    return Inputs(
        (strength * rng.standard_normal((heads[0] * heads[1], tokens, width))).astype(np.float32),
        rng.standard_normal((heads[0], cells, width)).astype(np.float32),
        (rng.standard_normal((heads[0], cells, of_values)) * rng.choice([0.01, 1.0, 1000.0])).astype(np.float32),
        mask.astype(np.float32),
        kind,
    )


KINDS = st.sampled_from([F16, Q8_0])
HEADS = st.sampled_from([(1, 1), (2, 1), (1, 7), (3, 3), (2, 6), (1, 13)])


@settings(max_examples=60, deadline=None)
@given(
    kind=KINDS,
    heads=HEADS,
    size=st.tuples(st.integers(1, 40), st.integers(0, 700)),  # tokens, and cells before them
    extra=st.sampled_from(["none", "alibi", "cap", "sinks"]),
    seed=st.integers(0, 2**31),
)
def test_is_the_attention_of_the_same_numbers_in_double_precision(
    attention: Attention, kind: int, heads: tuple[int, int], size: tuple[int, int], extra: str, seed: int
) -> None:
    tokens, before = size
    rng = np.random.default_rng(seed)
    given = some_inputs(rng, kind, heads, tokens, before + tokens)
    if extra == "alibi":
        distance = np.abs(np.arange(before + tokens) - (before + np.arange(tokens)[:, None]))
        given = replace(
            given, max_bias=8.0, mask=np.where(np.isinf(given.mask), given.mask, -distance).astype(np.float32)
        )
    elif extra == "cap":
        given = replace(given, cap=30.0)
    elif extra == "sinks":
        given = replace(given, sinks=rng.standard_normal(heads[0] * heads[1]).astype(np.float32))
    found, wanted = attention.rows(given, 1 + seed % 3), expected(given)
    scores = float(np.abs(given.queries).max()) * 15  # effect of rounded scores on the weights
    assert np.abs(found - wanted).max() <= (2e-5 + 3e-7 * scores) * np.abs(given.values).max()


@settings(max_examples=60, deadline=None)
@given(kind=KINDS, heads=HEADS, tokens=st.integers(1, 70), before=st.integers(0, 1200), seed=st.integers(0, 2**31))
def test_a_row_has_the_bits_that_it_has_alone(
    attention: Attention, kind: int, heads: tuple[int, int], tokens: int, before: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    given = some_inputs(rng, kind, heads, tokens, before + tokens)
    together = [attention.rows(given, threads) for threads in (1, 2, 3)]
    assert np.array_equal(together[0], together[1])
    assert np.array_equal(together[0], together[2])
    for token in sorted({0, tokens // 2, tokens - 1}):
        alone = replace(given, queries=given.queries[:, token : token + 1], mask=given.mask[token : token + 1])
        assert np.array_equal(attention.rows(alone, 1 + token % 3)[0], together[0][token])


@settings(max_examples=60, deadline=None)
@given(
    kind=KINDS,
    heads=HEADS,
    size=st.tuples(st.integers(1, 9), st.integers(0, 400), st.integers(1, 400)),  # tokens, cells before, other cells
    spoilt=st.booleans(),  # whether the other sequences have infinite values
    seed=st.integers(0, 2**31),
)
def test_neither_place_nor_company_of_its_cells_changes_a_bit(
    attention: Attention, kind: int, heads: tuple[int, int], size: tuple[int, int, int], spoilt: bool, seed: int
) -> None:
    tokens, before, others = size
    rng = np.random.default_rng(seed)
    given = some_inputs(rng, kind, heads, tokens, before + tokens)
    cells = before + tokens
    places = rng.permutation(cells + others)[:cells]

    def spread(values: Floats) -> Floats:
        fill = np.inf if spoilt and kind == F16 else 50.0 * float(np.abs(values).max())
        wide = np.full((len(values), cells + others, values.shape[-1]), min(fill, LARGEST) if not spoilt else fill)
        wide[:, places] = values
        return wide.astype(np.float32)

    mask = np.full((tokens, cells + others), -np.inf, np.float32)
    mask[:, places] = given.mask
    scattered = replace(given, keys=spread(given.keys), values=spread(given.values), mask=mask)
    assert np.array_equal(attention.rows(given), attention.rows(scattered, 2))


def test_a_row_that_sees_nothing_is_zero(attention: Attention) -> None:
    given = some_inputs(np.random.default_rng(0), F16, (2, 2), 2, 40)
    mask = given.mask.copy()
    mask[0] = -np.inf
    found = attention.rows(replace(given, mask=mask))
    assert not found[0].any()
    assert np.array_equal(found[1], attention.rows(given)[1])


@pytest.mark.parametrize("threads", [1, 2])
def test_what_is_no_number_shows_in_the_rows_that_see_it(attention: Attention, threads: int) -> None:
    given = some_inputs(np.random.default_rng(0), F16, (2, 3), 5, 90)
    keys = given.keys.copy()
    keys[1, 87] = np.nan  # the third of the five tokens is the first that sees it
    found, plain = attention.rows(replace(given, keys=keys), threads), attention.rows(given)
    assert np.isnan(attention.rows(replace(given, keys=np.full_like(keys, np.nan)), threads)).all()
    assert np.isnan(found[2:, 3:]).all()
    assert np.array_equal(found[:, :3], plain[:, :3])
    assert np.array_equal(found[:2], plain[:2])
