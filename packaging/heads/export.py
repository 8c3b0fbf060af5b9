"""Write the head of a checkpoint as a GGUF that llama.cpp loads beside its target.

Vocabulary and rotary base are the target's; token embeddings are not written, the target lends them. `d2t` holds the
ids of the reduced vocabulary.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import torch
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter, LlamaFileType
from gguf.quants import quantize
from head import NUM_ROWS, Head
from train import load_head

sys.path.insert(0, str(Path(__file__).parents[2]))
from engine.gguf.header import read_header
from engine.gguf.medusa_writer import name_of

ARCHITECTURE = "eagle3"
COPIED = "tokenizer.ggml."  # keys of the target that the head repeats, so that both are seen to have one vocabulary
TYPES = {kind.name: kind for kind in (GGMLQuantizationType.Q8_0, GGMLQuantizationType.Q4_1, GGMLQuantizationType.F32)}
FILE_TYPES = {"Q8_0": LlamaFileType.MOSTLY_Q8_0, "Q4_1": LlamaFileType.MOSTLY_Q4_1, "F32": LlamaFileType.ALL_F32}


def add_metadata(writer: GGUFWriter, head: Head, layers: list[int], target_name: str, kind: str) -> None:
    """General facts and hyper-parameters."""
    shape = head.shape
    writer.add_name(f"EAGLE-3 head for {target_name}")
    writer.add_description(f"Drafts for {target_name}: a head that reads its layers. It cannot answer alone.")
    writer.add_author("The Paceline contributors")
    writer.add_license("apache-2.0")
    writer.add_languages(["en"])
    writer.add_file_type(FILE_TYPES[kind])
    writer.add_embedding_length(shape.width)
    writer.add_block_count(1)
    writer.add_feed_forward_length(shape.ffn_width)
    writer.add_head_count(shape.num_heads)
    writer.add_head_count_kv(shape.num_heads)
    writer.add_rope_dimension_count(shape.head_width)
    writer.add_rope_freq_base(shape.rope_base)
    writer.add_layer_norm_rms_eps(shape.norm_eps)
    writer.add_array(f"{ARCHITECTURE}.target_layers", layers)
    writer.add_uint32(f"{ARCHITECTURE}.target_hidden_size", head.fc.weight.shape[1] // NUM_ROWS)


def copy_vocabulary(writer: GGUFWriter, reader: GGUFReader) -> int:
    """The target's vocabulary and context; how many tokens there are."""
    for key, found in reader.fields.items():
        if key.startswith(COPIED):
            kinds = [found.types[0]] if len(found.types) == 1 else [found.types[0], found.types[-1]]
            writer.add_key_value(key, found.contents(), kinds[0], *kinds[1:])
    writer.add_context_length(reader.fields["llama.context_length"].contents())
    count = len(reader.fields[f"{COPIED}tokens"].contents())
    writer.add_vocab_size(count)
    return count


def weights(head: Head) -> dict[str, np.ndarray]:
    """All tensors by their names in the file; what rows were divided by is folded into `fc`."""
    found = {}
    for name, parameter in head.named_parameters():
        values = parameter.detach().float()
        if name == "fc.weight":
            values = values / head.spread
        plain = name.removesuffix(".weight")
        place = "" if plain in {"fc", "output", "output_norm"} else "blk.0."
        found[f"{place}{plain}.weight"] = values.numpy().astype(np.float32)
    return found


def write_gguf(path: Path, checkpoint: Path, target: Path, layers: list[int], kinds: tuple[str, str]) -> None:
    """Write the head whole or not at all; ``kinds`` are the types of the layer's matrices and of the output matrix."""
    head, state = load_head(checkpoint)
    reader = GGUFReader(target)
    part = path.with_suffix(".part")
    writer = GGUFWriter(part, ARCHITECTURE)
    add_metadata(writer, head, layers, name_of(read_header(target)), kinds[0])
    copy_vocabulary(writer, reader)
    for name, values in weights(head).items():
        kind = TYPES[kinds[1] if name == "output.weight" else kinds[0]] if values.ndim > 1 else TYPES["F32"]
        writer.add_tensor(name, quantize(values, kind), raw_dtype=kind)
    writer.add_tensor("d2t", state["kept"].to(torch.int64).numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    part.replace(path)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--layers", type=int, nargs=NUM_ROWS, default=(8, 20, 29), help="as `answer.py` was told")
    parser.add_argument("--layer-type", choices=sorted(TYPES), default="Q8_0", help="of the layer's matrices")
    parser.add_argument("--output-type", choices=sorted(TYPES), default="Q8_0", help="of the output matrix")
    chosen = parser.parse_args()
    kinds = (chosen.layer_type, chosen.output_type)
    write_gguf(chosen.out, chosen.checkpoint, chosen.target, list(chosen.layers), kinds)
    print(f"{chosen.out}: {chosen.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
