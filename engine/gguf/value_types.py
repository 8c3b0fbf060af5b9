"""Constants of the GGUF format: types of metadata values, and block sizes of tensor types.

Source: ggml's docs/gguf.md and the tables of ggml.h as of October 2026.
"""

from enum import IntEnum
from typing import NamedTuple


class ValueType(IntEnum):
    """Types of metadata values."""

    UINT8 = 0
    INT8 = 1
    UINT16 = 2
    INT16 = 3
    UINT32 = 4
    INT32 = 5
    FLOAT32 = 6
    BOOL = 7
    STRING = 8
    ARRAY = 9
    UINT64 = 10
    INT64 = 11
    FLOAT64 = 12


# The letters of `struct` for values of fixed size, little endian.
FORMATS = {
    ValueType.UINT8: "B",
    ValueType.INT8: "b",
    ValueType.UINT16: "H",
    ValueType.INT16: "h",
    ValueType.UINT32: "I",
    ValueType.INT32: "i",
    ValueType.FLOAT32: "f",
    ValueType.BOOL: "B",
    ValueType.UINT64: "Q",
    ValueType.INT64: "q",
    ValueType.FLOAT64: "d",
}


class BlockSize(NamedTuple):
    """A tensor's type, whose blocks of ``num_bytes`` store ``num_values`` values."""

    name: str
    num_values: int
    num_bytes: int


BLOCK_SIZES = {
    0: BlockSize("F32", 1, 4),
    1: BlockSize("F16", 1, 2),
    2: BlockSize("Q4_0", 32, 18),
    3: BlockSize("Q4_1", 32, 20),
    6: BlockSize("Q5_0", 32, 22),
    7: BlockSize("Q5_1", 32, 24),
    8: BlockSize("Q8_0", 32, 34),
    9: BlockSize("Q8_1", 32, 40),
    10: BlockSize("Q2_K", 256, 84),
    11: BlockSize("Q3_K", 256, 110),
    12: BlockSize("Q4_K", 256, 144),
    13: BlockSize("Q5_K", 256, 176),
    14: BlockSize("Q6_K", 256, 210),
    15: BlockSize("Q8_K", 256, 292),
    16: BlockSize("IQ2_XXS", 256, 66),
    17: BlockSize("IQ2_XS", 256, 74),
    18: BlockSize("IQ3_XXS", 256, 98),
    19: BlockSize("IQ1_S", 256, 50),
    20: BlockSize("IQ4_NL", 32, 18),
    21: BlockSize("IQ3_S", 256, 110),
    22: BlockSize("IQ2_S", 256, 82),
    23: BlockSize("IQ4_XS", 256, 136),
    24: BlockSize("I8", 1, 1),
    25: BlockSize("I16", 1, 2),
    26: BlockSize("I32", 1, 4),
    27: BlockSize("I64", 1, 8),
    28: BlockSize("F64", 1, 8),
    29: BlockSize("IQ1_M", 256, 56),
    30: BlockSize("BF16", 1, 2),
    34: BlockSize("TQ1_0", 256, 54),
    35: BlockSize("TQ2_0", 256, 66),
    39: BlockSize("MXFP4", 32, 17),
    40: BlockSize("NVFP4", 64, 36),
    41: BlockSize("Q1_0", 128, 18),
}
