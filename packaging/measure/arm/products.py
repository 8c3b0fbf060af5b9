"""Counts what llama.cpp's products cost on ARM, with and without ours, where there is no ARM: under qemu's emulation.

    python packaging/measure/arm/products.py LLAMA.CPP BUILD [--kinds q4_K,iq4_xs] [--machines dot,i8mm]

LLAMA.CPP is its source (vendor/llama.cpp of llama-cpp-python), BUILD a folder to build in. Wants g++-aarch64-linux-gnu,
qemu-user, CMake and Ninja. Counted are instructions for a row of 2048 columns, of the product alone: what 128 rows more
take. A count is no time: it says nothing of memory. Each token's bits are compared with those that it gets alone.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
LAUNCHER = HERE.parents[2] / "engine" / "kernels" / "few_tokens.sh"
MACHINES = {"dot": ("armv8.2-a+fp16+dotprod", "cortex-a76"), "i8mm": ("armv8.6-a+fp16+dotprod+i8mm", "max")}
KINDS = "q4_0,q4_K,q5_K,q6_K,q8_0,q4_1,iq4_xs"
TOKENS = (1, 2, 3, 4, 5, 6, 7, 8, 16)
ROWS = (64, 192)
COMPILER = "aarch64-linux-gnu-g++"


@dataclass(frozen=True)
class Program:
    """A built product.cpp, the processor to emulate, and the plugin that counts."""

    file: Path
    processor: str
    plugin: Path

    def run(self, kind: str, tokens: int, rows: int, repeats: int) -> tuple[list[int], bytes]:
        """The instructions of the whole program (all, on vectors, loads and stores), and what it computed."""
        emulator = ["qemu-aarch64", "-cpu", self.processor, "-plugin", str(self.plugin), str(self.file)]
        done = subprocess.run([*emulator, kind, *map(str, (tokens, rows, repeats))], capture_output=True, check=True)
        counts = re.search(rb"executed (\d+) (\d+) (\d+)", done.stderr)
        assert counts is not None, done.stderr
        return [int(count) for count in counts.groups()], done.stdout

    def per_row(self, kind: str, tokens: int) -> list[float]:
        """The instructions of one row of weights with ``tokens`` tokens."""
        takes = {}
        for rows in ROWS:
            once, twice = (self.run(kind, tokens, rows, repeats)[0] for repeats in (1, 2))
            takes[rows] = [second - first for first, second in zip(once, twice, strict=True)]
        first, last = (takes[rows] for rows in ROWS)
        return [(more - less) / (ROWS[1] - ROWS[0]) for less, more in zip(first, last, strict=True)]

    def is_as_alone(self, kind: str, tokens: int) -> bool:
        """Whether a pass gives its first tokens the bits of passes of one and of three, which llama.cpp takes alone."""
        alone, three, some = (self.run(kind, count, ROWS[0], 1)[1] for count in (1, 3, tokens))
        return some.startswith(alone) and some[: len(three)] == three[: len(some)]


def run(*words: str | Path) -> None:
    """Run a command, whose words to the world go to stderr."""
    subprocess.run(words, stdout=sys.stderr, check=True)


def build(source: Path, folder: Path, machine: str, is_ours: bool, plugin: Path) -> Program:
    """Compile ggml for a machine, as it is or with our products, and product.cpp with it."""
    architecture, processor = MACHINES[machine]
    folder = folder / f"{machine}-{'ours' if is_ours else 'stock'}"
    options = {
        "CMAKE_SYSTEM_NAME": "Linux", "CMAKE_SYSTEM_PROCESSOR": "aarch64", "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_C_COMPILER": COMPILER.replace("g++", "gcc"), "CMAKE_CXX_COMPILER": COMPILER,
        "BUILD_SHARED_LIBS": "OFF", "GGML_NATIVE": "OFF", "GGML_CPU_ARM_ARCH": architecture, "GGML_OPENMP": "OFF",
        "LLAMA_BUILD_COMMON": "OFF", "LLAMA_BUILD_TESTS": "OFF", "LLAMA_BUILD_EXAMPLES": "OFF",
        "LLAMA_BUILD_SERVER": "OFF", "LLAMA_BUILD_TOOLS": "OFF",
    }  # fmt: skip
    if is_ours:
        options["CMAKE_CXX_COMPILER_LAUNCHER"] = str(LAUNCHER)
    words = [f"-D{name}={value}" for name, value in options.items()]
    run("cmake", "-S", source, "-B", folder, "-G", "Ninja", *words)
    run("cmake", "--build", folder, "--target", "ggml")
    libraries = [folder / "ggml" / "src" / f"lib{name}.a" for name in ("ggml", "ggml-cpu", "ggml-base")]
    product = ("-I", source / "ggml" / "include", HERE / "product.cpp", "-o", folder / "product")
    run(COMPILER, "-static", "-O1", *product, *libraries, "-lpthread", "-ldl", "-lm")
    return Program(folder / "product", processor, plugin)


def main() -> None:
    """Build, count, compare, and print a line for each machine, build and kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("build", type=Path)
    parser.add_argument("--kinds", default=KINDS)
    parser.add_argument("--machines", default=",".join(MACHINES))
    options = parser.parse_args()
    options.build.mkdir(parents=True, exist_ok=True)
    plugin = options.build / "count.so"
    run("cc", "-O2", "-fPIC", "-shared", "-o", plugin, HERE / "count.c")
    for machine in options.machines.split(","):
        for is_ours in (False, True):
            program = build(options.source.resolve(), options.build.resolve(), machine, is_ours, plugin.resolve())
            for kind in options.kinds.split(","):
                counts = {tokens: program.per_row(kind, tokens) for tokens in TOKENS}
                alone = counts[1][0]
                cells = [f"{tokens}: {count:.0f} ({count / alone:.2f})" for tokens, (count, *_) in counts.items()]
                other = ",".join(str(tokens) for tokens in TOKENS if not program.is_as_alone(kind, tokens))
                bits = f"other bits with {other}" if other else "same bits"
                print(machine, "ours" if is_ours else "llama.cpp", kind, *cells, bits, sep="  ", flush=True)


if __name__ == "__main__":
    main()
