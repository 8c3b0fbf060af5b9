"""The options of the commands that neither answer nor measure: check, heads, stats, devices."""

from __future__ import annotations

import argparse
import math

_MOST_HEADS, _LEAST_VOCABULARY = 8, 64


def add_check(parser: argparse.ArgumentParser) -> None:
    """Those of `paceline check`."""
    parser.set_defaults(module="check")
    parser.add_argument("target", metavar="T.gguf")
    parser.add_argument(
        "draft", metavar="D.gguf", nargs="?", help="without it: whether the target can be used, and drafts for itself"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def add_heads(parser: argparse.ArgumentParser) -> None:
    """Those of `paceline heads`."""
    parser.set_defaults(module="heads")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    train = commands.add_parser("train", help="train Hydra heads for a model; the same command again goes on")
    train.add_argument("model", metavar="T.gguf", help="the target: a GGUF file, or a model of the library")
    what = "exports of chats, JSON, text, or folders of these; best are the model's own answers"
    train.add_argument("--chats", nargs="+", required=True, metavar="FILE|DIR", help=what)
    train.add_argument(
        "--out", required=True, metavar="H.gguf", help="the heads; OUT.training beside it keeps the state"
    )
    train.add_argument(
        "--minutes", type=_minutes, default=20.0, metavar="M", help="of training, all starts together; 20"
    )
    train.add_argument("--heads", type=_heads, default=3, metavar="N", help=f"1 to {_MOST_HEADS}; default 3")
    kept = "the commonest tokens of the texts, which alone are proposed; default 2048"
    train.add_argument("--vocabulary", type=_vocabulary, default=2048, metavar="N", help=kept)
    train.add_argument(
        "--every", type=_minutes, default=2.0, metavar="M", help="minutes between points of the curve; 2"
    )
    check = "held-out questions answered plain and with the heads at the end, in turn; default 6, 0 for none"
    train.add_argument("--check", type=_check, default=6, metavar="N", help=check)
    train.add_argument("--json", action="store_true", help="one JSON object on stdout")


def add_stats(parser: argparse.ArgumentParser) -> None:
    """Those of `paceline stats`."""
    parser.set_defaults(module="stats")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--conversation", type=int, metavar="ID", help="only this chat; default: the lifetime totals")
    what.add_argument("--answers", action="store_true", help="every answer of every chat, for --json and --csv")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="one JSON object on stdout")
    how.add_argument("--csv", metavar="FILE", help="write a table for spreadsheets")


def add_devices(parser: argparse.ArgumentParser) -> None:
    """Those of `paceline devices`."""
    parser.set_defaults(module="devices")
    parser.add_argument("servers", nargs="*", metavar="rpc:HOST:PORT", help="ask these RPC servers of llama.cpp, too")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def _minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = 0.0
    if not 0.0 < minutes < math.inf:
        raise argparse.ArgumentTypeError("must be a number above 0")
    return minutes


def _heads(text: str) -> int:
    return _whole(text, 1, _MOST_HEADS)


def _vocabulary(text: str) -> int:
    return _whole(text, _LEAST_VOCABULARY, 2**22)


def _check(text: str) -> int:
    return _whole(text, 0, 1000)


def _whole(text: str, least: int, most: int) -> int:
    if not text.isdecimal() or not least <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"must be a number from {least:,} to {most:,}")
    return int(text)
