"""Check an export against PyTorch: the same tokens for odd strings, the same logits for the same ids.

Needs both PyTorch and llama-cpp-python. Prints one JSON object.
"""

# ruff: noqa: S311  (seeded, repeatable draws are the point here)

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from random import Random

import torch
from bpe import BOS, IM_END, IM_START, Tokenizer
from export import TYPES, Kinds, write_gguf
from model_file import ModelFile
from training import load_network

STRINGS = (
    "Hello world", "12345 and 3.14", "  leading\n\n\ntabs\t\t x", "naïve café Ünïcödé 日本語 текст 🎉👩‍👩‍👧",
    "don't I'LL we've SHE'S 's 'S 'RE ſ's", "def f(x):\n    return x**2  # c\r\n", "a  b   c    \n  d", "|---|---|",
    "\x01\x7f", f"{IM_START}user\nhi{IM_END}\n", "½ ² Ⅷ ٣", "e\u0301 \u200b\ufeff", "...!!??--", "", " ", "\n",
    "x\n\n y\n\n\n", '"quoted" (paren) [b] {c}', f"{BOS}{BOS} text <|im_start <|im_end|", "ǅ ŉ ß ẞ ﬁ",
)  # fmt: skip
RANGES = ((32, 127), (32, 127), (9, 14), (160, 0x2FFF), (0x4E00, 0x9FFF), (0x1F600, 0x1F64F))


def odd_strings(count: int) -> list[str]:
    """Fixed strings and random ones of many scripts, white space and signs."""
    rng = Random(0)
    made = ["".join(chr(rng.randrange(*rng.choice(RANGES))) for _ in range(rng.randrange(1, 40))) for _ in range(count)]
    return [*STRINGS, *made]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("tokenizer", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    tokenizer = Tokenizer.load(options.tokenizer)
    network, _ = load_network(options.checkpoint)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "float.gguf"
        write_gguf(path, network, tokenizer, "target", Kinds(TYPES["F32"], TYPES["F32"]))
        model = ModelFile(path, context=network.shape.context)
    strings = odd_strings(2000)
    wrong = [text for text in strings if tokenizer.encode(text) != model.tokenize(text, add_bos=False)]
    ids = [tokenizer.bos, *tokenizer.encode(" ".join(strings[:40]))][: network.shape.context]
    with torch.no_grad():
        ours = network(torch.tensor([ids]))[0].numpy()
    theirs = model.logits(ids, len(ids))
    result = {
        "strings": len(strings),
        "token_mismatches": wrong,
        "positions": len(ids),
        "largest_difference": float(abs(ours - theirs).max()),
        "largest_logit": float(abs(ours).max()),
        "same_first_choice": float((ours.argmax(axis=1) == theirs.argmax(axis=1)).mean()),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
