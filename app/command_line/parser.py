"""What `paceline` understands: options in, the right command called. Knows no engine."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

import app
from engine.records import Mode, SamplingParams

DESCRIPTION = "Chat with local language models, with exact speculative decoding. Without a command: open the window."


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0 when done, 1 with one sentence on stderr, 2 for wrong options."""
    words = list(sys.argv[1:] if argv is None else argv)
    options = make_parser().parse_args(words)
    # Imported only when called: the window must not wait for what the terminal needs, nor the other way round.
    module = importlib.import_module(f"app.command_line.{options.module}")
    return int(module.command(options))


def make_parser() -> argparse.ArgumentParser:
    """Make the parser with all commands."""
    parser = argparse.ArgumentParser(prog="paceline", description=DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"paceline {app.__version__}")
    parser.set_defaults(module="window")
    commands = parser.add_subparsers(title="commands", metavar="")
    _add_run(commands.add_parser("run", help="answer one prompt in the terminal"))
    _add_check(commands.add_parser("check", help="say whether a draft can serve a target, and why"))
    shown = commands.add_parser("demo", help="one question to the built-in pair in each mode, with the figures")
    shown.add_argument("--light", action="store_true", help="the small target as it is, not padded to real weight")
    shown.set_defaults(module="demo")
    return parser


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(module="run")
    models = parser.add_argument_group("models")
    models.add_argument("--model", metavar="T.gguf", help="the target; without it the built-in pair")
    models.add_argument("--draft", metavar="D.gguf", help="a draft model for it")
    models.add_argument("--ctx", type=int, metavar="N", help="context in tokens")
    models.add_argument("--threads", type=int, metavar="N", help="threads for the target")
    models.add_argument("--gpu-layers", type=_layers, metavar="N|all", help="layers on the GPU; default all that fit")
    prompt = parser.add_argument_group("prompt")
    source = prompt.add_mutually_exclusive_group()
    source.add_argument("--prompt", metavar="TEXT")
    source.add_argument("--prompt-file", metavar="F|-", help="a text file, or - for standard input")
    prompt.add_argument("--system", metavar="S", help="a system prompt")
    prompt.add_argument("--raw", action="store_true", help="no chat template; control tokens are parsed")
    _add_decoding(parser.add_argument_group("decoding"))
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout instead of text")


def _add_decoding(group: argparse._ArgumentGroup) -> None:
    default = SamplingParams()
    modes = [mode.value for mode in Mode]
    group.add_argument("--mode", choices=modes, help="default: draft where there is one, else off")
    group.add_argument("--depth", type=int, metavar="K", help="tokens proposed per pass; default automatic")
    group.add_argument("--max-tokens", type=int, metavar="N")
    group.add_argument("--temperature", type=float, default=default.temperature, metavar="T")
    group.add_argument("--top-k", type=int, default=default.top_k, metavar="K")
    group.add_argument("--top-p", type=float, default=default.top_p, metavar="P")
    group.add_argument("--min-p", type=float, default=default.min_p, metavar="P")
    group.add_argument("--repeat-penalty", type=float, default=default.repeat_penalty, metavar="X")
    group.add_argument("--frequency-penalty", type=float, default=default.frequency_penalty, metavar="X")
    group.add_argument("--presence-penalty", type=float, default=default.presence_penalty, metavar="X")
    group.add_argument("--seed", type=int, metavar="N", help="repeats an answer at a fixed mode and depth")
    group.add_argument("--stop", action="append", default=[], metavar="TEXT", help="end at this text; repeatable")
    group.add_argument("--ignore-eos", action="store_true", help="go on where the model would end")


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(module="check")
    parser.add_argument("target", metavar="T.gguf")
    parser.add_argument("draft", metavar="D.gguf")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def _layers(text: str) -> int | None:
    """Read ``N`` or ``all``; None means all that fit."""
    if text == "all":
        return None
    if not text.isdecimal():
        raise argparse.ArgumentTypeError("must be a number or all")
    return int(text)
