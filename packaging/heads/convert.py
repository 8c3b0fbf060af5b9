"""Converts published heads to GGUF: FasterDecoding/Medusa, and Hydra's heads of the kind "mlp".

Reads ``medusa_lm_head`` or ``hydra_lm_head`` as .safetensors, or as .pt with PyTorch's weights-only loader, which runs
no code of the file. Heads without an output matrix use the target's.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter
from gguf.quants import quantize

sys.path.insert(0, str(Path(__file__).parents[2]))
from engine.gguf.header import read_header
from engine.gguf.medusa import TOKENS, tokenizer_sha256

if TYPE_CHECKING:
    from numpy.typing import NDArray

TYPES = {name: GGMLQuantizationType[name] for name in ("Q4_0", "Q8_0", "F16", "F32")}
MOST_HEADER_BYTES = 64 * 2**20
_KINDS = {"F32": np.float32, "F16": np.float16, "BF16": np.uint16}
_MEDUSA = re.compile(r"(?:medusa_head\.)?(\d+)\.(\d+)\.(linear\.)?(weight|bias)")
_HYDRA = re.compile(r"(?:hydra_head\.)?hydra_mlp\.(\d+)\.(\d+)\.(linear|res_connection)\.(weight|bias)")
_HYDRA_OUTPUT = re.compile(r"(?:hydra_head\.)?hydra_lm_head\.(\d+)\.(weight|bias)")
Weights = dict[str, "NDArray[np.float32]"]


def read_safetensors(path: Path) -> Weights:
    """All tensors of a file, as float32.

    Raises:
        ValueError: the file is damaged or has another format.
    """
    data = np.memmap(path, np.uint8, "r")
    size = int.from_bytes(data[:8].tobytes(), "little") if len(data) >= 8 else 0
    if not 0 < size <= min(MOST_HEADER_BYTES, len(data) - 8):
        raise ValueError(f"{path.name} is no safetensors file, or is cut")
    found = {}
    for name, entry in json.loads(data[8 : 8 + size].tobytes()).items():
        if name == "__metadata__":
            continue
        kind, (begin, end), shape = entry["dtype"], entry["data_offsets"], tuple(entry["shape"])
        if kind not in _KINDS:
            raise ValueError(f"{path.name} has the tensor {name} of the type {kind}; known are {', '.join(_KINDS)}")
        raw = data[8 + size + begin : 8 + size + end]
        if not 0 <= begin <= end or raw.nbytes != int(np.prod(shape)) * np.dtype(_KINDS[kind]).itemsize:
            raise ValueError(f"the tensor {name} of {path.name} is not whole: the file is cut or damaged")
        values = np.frombuffer(raw.tobytes(), _KINDS[kind])
        wide = (values.astype(np.uint32) << 16).view(np.float32) if kind == "BF16" else values.astype(np.float32)
        found[name] = wide.reshape(shape)
    return found


def read_pt(path: Path) -> Weights:
    """All tensors of a file that PyTorch wrote, as float32.

    Raises:
        ValueError: the file has more than weights, which could run code when opened; or PyTorch is missing.
    """
    try:
        import torch  # noqa: PLC0415  (.safetensors files need none)
    except ImportError as error:
        raise ValueError(f"{path.name} is read by PyTorch, which is not installed: pip install torch") from error
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise ValueError(f"{path.name} holds more than weights, or is damaged: it was not opened") from error
    if not isinstance(state, dict) or not all(isinstance(one, torch.Tensor) for one in state.values()):
        raise ValueError(f"{path.name} is no plain list of weights")
    return {str(name): one.float().numpy() for name, one in state.items()}


def renamed(weights: Weights) -> tuple[str, dict[str, NDArray[np.float32]]]:
    """Return the kind of the heads, and the tensors by this project's names.

    Raises:
        ValueError: the layout is neither Medusa's nor Hydra's.
    """
    is_hydra = any(_HYDRA.fullmatch(name) for name in weights)
    found = {}
    for name, values in weights.items():
        if is_hydra and (match := _HYDRA.fullmatch(name)):
            place = f"block.{match[2]}" if match[3] == "linear" else "skip"
            found[f"head.{match[1]}.{place}.{match[4]}"] = values
        elif is_hydra and (match := _HYDRA_OUTPUT.fullmatch(name)):
            found[f"head.{match[1]}.output.{match[2]}"] = values
        elif not is_hydra and (match := _MEDUSA.fullmatch(name)):
            place = f"block.{match[2]}" if match[3] else "output"
            found[f"head.{match[1]}.{place}.{match[4]}"] = values
        else:
            raise ValueError(f"the tensor {name} belongs to no layout that is known (Medusa, Hydra of the kind mlp)")
    return "hydra" if is_hydra else "medusa", found


def write_heads(weights: Weights, path: Path, target: Path, matrix_type: str, num_tokens: int | None) -> None:
    """Write the GGUF described in docs/heads.md; matrices have a type of `TYPES`, vectors are float32.

    With ``num_tokens`` only the lowest ids are proposed, which are the most common in most vocabularies.

    Raises:
        OSError: the disk is full.
        ModelFileError: the target cannot be read.
        ValueError: the layout is neither Medusa's nor Hydra's.
    """
    kind, tensors = renamed(weights)
    numbers = [
        tuple(map(int, match.groups())) for name in tensors if (match := re.match(r"head\.(\d+)\.block\.(\d+)", name))
    ]
    if not numbers:
        raise ValueError("there are no heads in it")
    heads, blocks = (max(one) + 1 for one in zip(*numbers, strict=True))
    part, header = path.with_suffix(".part"), read_header(target)
    name = str(header.metadata.get("general.basename") or header.metadata.get("general.name") or "its target")
    writer = GGUFWriter(part, "medusa")
    writer.add_name(f"{kind.capitalize()} heads for {name}")
    writer.add_string("medusa.kind", kind)
    writer.add_string("medusa.target_name", name)
    writer.add_string("medusa.tokenizer_sha256", tokenizer_sha256(target, header))
    writer.add_uint32("medusa.head_count", heads)
    writer.add_uint32("medusa.block_count", blocks)
    writer.add_uint32("medusa.embedding_length", len(tensors["head.0.block.0.weight"]))
    writer.add_uint32("medusa.vocab_size", header.arrays[TOKENS].length)
    for tensor, whole in tensors.items():
        values = whole[:num_tokens] if ".output." in tensor else whole
        matrix = TYPES[matrix_type if values.ndim > 1 else "F32"]
        writer.add_tensor(tensor, quantize(np.ascontiguousarray(values, np.float32), matrix), raw_dtype=matrix)
    if num_tokens is not None:
        writer.add_tensor("vocab_map", np.arange(num_tokens, dtype=np.int32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    part.replace(path)


def main() -> None:
    """Convert the files of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heads", type=Path, help=".safetensors or .pt")
    parser.add_argument("target", type=Path, help="GGUF of the model that they were made for")
    parser.add_argument("out", type=Path)
    parser.add_argument("--type", choices=sorted(TYPES), default="Q8_0", help="of the matrices")
    parser.add_argument("--tokens", type=int, help="propose only so many tokens, of the lowest ids")
    chosen = parser.parse_args()
    try:
        weights = read_safetensors(chosen.heads) if chosen.heads.suffix == ".safetensors" else read_pt(chosen.heads)
        write_heads(weights, chosen.out, chosen.target, chosen.type, chosen.tokens)
    except (OSError, ValueError) as error:
        sys.exit(f"{error}.")
    print(f"{chosen.out}: {chosen.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
