"""Write a checkpoint as a GGUF that llama.cpp loads: weights, vocabulary, chat template, licence.

The target's feed-forward matrices become Q4_0, other matrices Q8_0 (or F16 or F32 on request), norms F32.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from bpe import CHAT_TEMPLATE, CONTROL, Tokenizer
from gguf import GGMLQuantizationType, GGUFWriter, LlamaFileType, TokenType
from gguf.quants import quantize
from network import Network
from training import load_network

TYPES = {kind.name: kind for kind in (GGMLQuantizationType.Q4_0, GGMLQuantizationType.Q8_0)} | {
    kind.name: kind for kind in (GGMLQuantizationType.F16, GGMLQuantizationType.F32)
}
DESCRIPTION = {
    "target": (
        "The tiny target model of Paceline's built-in pair. "
        "It shows the mechanics of speculative decoding and knows little else."
    ),
    "draft": "The draft model of Paceline's built-in pair, distilled from its target.",
}


@dataclass(frozen=True)
class Kinds:
    """How matrices are stored: feed-forward ones, and all others."""

    feed_forward: GGMLQuantizationType
    other: GGMLQuantizationType

    @property
    def file_type(self) -> LlamaFileType:
        """The nearest name GGUF has for the mixture."""
        named = {"Q4_0": "MOSTLY_Q4_0", "Q8_0": "MOSTLY_Q8_0", "F16": "MOSTLY_F16", "F32": "ALL_F32"}
        return LlamaFileType[named[self.feed_forward.name]]


def add_metadata(writer: GGUFWriter, network: Network, role: str, kinds: Kinds) -> None:
    """General facts and hyper-parameters."""
    shape = network.shape
    writer.add_name(f"Paceline tiny {role}")
    writer.add_basename("paceline-tiny")
    writer.add_description(DESCRIPTION[role])
    writer.add_author("The Paceline contributors")
    writer.add_license("mit")
    writer.add_languages(["en"])
    writer.add_file_type(kinds.file_type)
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.num_layers)
    writer.add_feed_forward_length(shape.ffn_width)
    writer.add_head_count(shape.num_heads)
    writer.add_head_count_kv(shape.num_heads)
    writer.add_rope_dimension_count(shape.head_width)
    writer.add_rope_freq_base(shape.rope_base)
    writer.add_layer_norm_rms_eps(shape.norm_eps)
    writer.add_vocab_size(shape.vocab_size)


def add_vocabulary(writer: GGUFWriter, tokenizer: Tokenizer) -> None:
    """Byte-level BPE under llama.cpp's "qwen2" pre-tokenizer, and the chat template."""
    tokens = tokenizer.tokens()
    kinds = [TokenType.CONTROL if token in CONTROL else TokenType.NORMAL for token in tokens]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges(tokenizer.merges())
    writer.add_bos_token_id(tokenizer.bos)
    writer.add_eos_token_id(tokenizer.im_end)
    writer.add_eot_token_id(tokenizer.im_end)
    writer.add_pad_token_id(tokenizer.bos)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(False)
    writer.add_chat_template(CHAT_TEMPLATE)


def tensor_name(name: str) -> str:
    """PyTorch's name to GGUF's."""
    return name.replace("blocks.", "blk.")


def write_gguf(path: Path, network: Network, tokenizer: Tokenizer, role: str, kinds: Kinds) -> None:
    """Write `network` whole or not at all."""
    part = path.with_suffix(".part")
    writer = GGUFWriter(part, "llama")
    add_metadata(writer, network, role, kinds)
    add_vocabulary(writer, tokenizer)
    for name, parameter in network.named_parameters():
        values = parameter.detach().float().numpy().astype(np.float32)
        kind = GGMLQuantizationType.F32
        if values.ndim == 2:
            kind = kinds.feed_forward if ".ffn_" in name else kinds.other
        writer.add_tensor(tensor_name(name), quantize(values, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    part.replace(path)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--role", choices=sorted(DESCRIPTION), required=True)
    parser.add_argument("--ffn", choices=sorted(TYPES), default="Q4_0", help="type of the feed-forward matrices")
    parser.add_argument("--other", choices=sorted(TYPES), default="Q8_0", help="type of all other matrices")
    options = parser.parse_args()
    network, _ = load_network(options.checkpoint)
    kinds = Kinds(TYPES[options.ffn], TYPES[options.other])
    write_gguf(options.out, network, Tokenizer.load(options.tokenizer), options.role, kinds)
    print(f"{options.out}: {network.num_parameters():,} parameters, {options.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
