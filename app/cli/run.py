"""`paceline run`: streams one answer to one prompt; metrics go to stderr, or everything as JSON to stdout.

Nothing is stored.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from app.cli.interrupts import stop_on_interrupt
from app.cli.layers import apply_layers, missing_drafter
from app.cli.models.names import resolve_names
from app.cli.output import (
    INTERRUPTED,
    fail,
    metrics_line,
    notify,
    option_errors,
    print_json,
    print_notices,
    run_as_dict,
)
from app.cli.terminal_stream import Style, print_styled
from app.cli.tool_run import answer_with_tools, start_tools
from app.core.attachments.reading import MAX_CHARS, read_attachment
from app.core.domain.attachments import Attachment
from app.core.domain.devices import device_names, parse_placement
from app.core.domain.errors import AppError
from app.core.domain.framing import with_attachments
from app.core.domain.projects import cited_passages
from app.core.domain.settings.layers import SAMPLING_KEYS
from app.core.domain.template_variables import read_variables
from app.core.domain.text_decoding import utf_text
from app.core.paths import builtin_draft, builtin_target, find_paths
from app.core.projects.projects import Projects
from app.core.storage.pictures import is_picture
from engine.errors import SettingError, SideFileError
from engine.gguf.header import read_header
from engine.gguf.model_kind import missing_metadata_notices
from engine.grammar.constraint import check_grammar
from engine.grammar.json_schema import schema_grammar
from engine.llama.aborts import report_aborts
from engine.pacing.draft_length import choose_draft_length
from engine.pictures.side_file import find_side_file
from engine.records import (
    CacheType,
    ChatRequest,
    EngineReady,
    Event,
    Finished,
    FlashAttention,
    LoadRequest,
    Message,
    Mode,
    Problem,
    SamplingParams,
    TextChunk,
)
from engine.sandbox.picture import read_picture_file
from engine.sentences import i18n
from engine.session.session import Session
from engine.session.worker import probing_session

MAX_PROMPT_CHARS = MAX_CHARS  # the limit of an attachment
MAX_PROMPT_BYTES = 4 * (MAX_CHARS + 1)  # MAX_CHARS characters of UTF-8 and a byte order mark
_HEAD_BYTES = 64  # the bytes by which a picture is recognized
RUN_ERRORS = ("This cannot be run", "See paceline run --help.")
MEASURE_S = 0.7  # short and rough: an exact measurement takes longer than one answer gains
# With one of these options `run` answers once, even if it has no prompt.
_ONE_ANSWER = (
    "prompt", "prompt_file", "attach", "project", "image", "json", "raw", "mcp", "allow", "json_schema", "grammar",
)  # fmt: skip


def command(options: argparse.Namespace) -> int:
    """Answer the prompt, or chat if none is given and stdin is a terminal; returns the exit code (see `main`)."""
    asks = any(getattr(options, name) for name in _ONE_ANSWER) or options.tools is not None
    if not asks and sys.stdin.isatty() and sys.stdout.isatty():
        from app.cli.chat import command as chat  # noqa: PLC0415  (it is made of this module)

        return chat(options)
    with ExitStack() as stack:
        with option_errors(*RUN_ERRORS):
            if options.project and not options.model:
                options.model = Projects(find_paths().projects_file).find(options.project).model_path or None
            resolve_names(options)
            request = make_request(options)
            if options.image and options.mmproj is None:
                options.mmproj = str(_side_file(Path(options.model or builtin_target())))
            tools = start_tools(options)
        if tools is not None:
            stack.callback(tools.provider.close)
        session = open_session(as_json=options.json)
        stack.callback(session.close)
        ready = load_for(session, options, request)
        if ready is None:
            return 1
        if tools is not None:
            return answer_with_tools(session, request, ready.target, tools, as_json=options.json)
        with stop_on_interrupt() as interrupted:
            finished = show_events(session.generate(request, interrupted.is_set), as_json=options.json)
        if finished is not None and not options.json and finished.stats.mode is not request.mode:  # say why
            print("; ".join(finished.stats.decisions), file=sys.stderr)
        return INTERRUPTED if interrupted.is_set() else 0


def load_for(session: Session, options: argparse.Namespace, request: ChatRequest) -> EngineReady | None:
    """Load the models, print the notices about them, and measure what pacing needs.

    None if the draft or the vision file of the options cannot be used; the notices say why.

    Raises:
        EngineError: loading failed.
        SettingError: the model does not have the reasoning mode of the request.
    """
    ready = load_models(session, load_request(options))
    target = Path(ready.target.path)
    print_notices(ready, *(() if options.raw else missing_metadata_notices(read_header(target), target.name)))
    if (options.draft and ready.draft is None) or (options.image and not ready.target.has_vision):
        return None
    check_thinking(request, ready.target.name, [option.name for option in ready.target.thinking])
    if request.mode is not Mode.OFF and request.depth is None:
        session.measure(MEASURE_S)
    return ready


def open_session(*, as_json: bool = False) -> Session:
    """Make a session that checks new files in a child process first.

    An abort inside llama.cpp is reported like any other failure.
    """

    def report_crash(reason: str) -> None:
        message = i18n("llama.cpp failed and ended the program ({reason}).", reason=reason[:300])
        advice = "Choose another file of this model, or a newer version of Paceline; the same text may end it again."
        fail(Problem("The engine ended unexpectedly", message, advice), as_json=as_json)

    report_aborts(report_crash)
    return probing_session(find_paths().cache, builtin_target(), keeps_chats=False)


def load_request(options: argparse.Namespace) -> LoadRequest:
    """The load request for the files of the options, or for the built-in pair.

    Raises:
        SettingError: a device option is invalid.
    """
    target, draft = options.model, options.draft
    if target is None:
        target, draft = str(builtin_target()), draft or str(builtin_draft())
    try:
        placement = parse_placement(options.device, options.split_mode, options.tensor_split, options.n_cpu_moe)
        draft_devices = device_names(options.draft_device)
    except ValueError as error:
        raise SettingError(str(error)) from error
    return LoadRequest(
        target,
        draft,
        options.ctx,
        options.threads,
        options.gpu_layers,
        cache_type=CacheType(options.cache_type),
        flash_attention=FlashAttention(options.flash_attention),
        draft_threads=options.draft_threads,
        draft_gpu_layers=options.draft_gpu_layers,
        draft_cache_type=CacheType(options.draft_cache_type),
        placement=placement,
        draft_devices=draft_devices,
        mmproj=getattr(options, "mmproj", None),  # some commands lack the option
        parallel=getattr(options, "parallel", 1),  # the server alone has the option
    )


def _side_file(target: Path) -> Path:
    found = find_side_file(target)
    if found is None:
        raise SideFileError(
            i18n("There is no matching side file (mmproj) beside {name}, so it cannot see pictures.", name=target.name),
            "Name it with --mmproj, or leave out the picture.",
        )
    return found


def make_request(options: argparse.Namespace) -> ChatRequest:
    """Make the chat request from the options; defaults come from the preset and the model.

    Raises:
        SettingError: no preset has this name.
        PictureError: a picture cannot be read.
        ValueError: the prompt is empty, or a value is outside its range.
        OSError: the prompt file cannot be read.
        AttachmentError: a file cannot be attached.
        GrammarError: the schema or grammar for the answer is invalid.
    """
    parts = (
        ("attach", "Files"),
        ("project", "Passages of a project"),
        ("image", "Pictures"),
        ("system", "Instructions"),
    )
    for name, what in parts:
        if options.raw and getattr(options, name):
            raise ValueError(f"{what} belong to a chat: leave out --{name} or --raw.")
    apply_layers(options)
    seen = [name for name in options.attach if _is_picture(Path(name))]
    options.attach = [name for name in options.attach if name not in seen]
    options.image = [*options.image, *seen]
    text = _prompt_text(options)
    request = decoding_defaults(options)
    system = (Message("system", options.system),) if options.system else ()
    pictures = tuple((0, read_picture_file(Path(name))) for name in options.image)
    return replace(
        request,
        messages=() if options.raw else (*system, Message("user", text, pictures=pictures)),
        raw_prompt=text if options.raw else None,
        stop=tuple(options.stop),
        ignore_eos=options.ignore_eos,
        grammar=_grammar(options),
    )


def _grammar(options: argparse.Namespace) -> str:
    """The grammar of the answer; empty if the options name none. Raises the errors of `make_request`."""
    if options.grammar or not options.json_schema:
        return check_grammar(_read_limited(options.grammar)) if options.grammar else ""
    try:
        found = schema_grammar(json.loads(_read_limited(options.json_schema)))
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{options.json_schema} is not JSON: {error}.") from error
    for warning in found.warnings:
        notify(warning)
    return found.text


def decoding_defaults(options: argparse.Namespace) -> ChatRequest:
    """The decoding options as a request without a prompt, once `apply_layers` has filled them.

    Raises:
        ValueError: a value is outside its range, or the mode needs a draft that is missing.
    """
    mode, variables = Mode(options.mode), options.template_variables or []
    if missing := missing_drafter(mode, options.model, options.draft):
        raise ValueError(f"The {mode.value} mode needs {missing}")
    choose_draft_length(mode, options.depth, can_pace=True)
    return ChatRequest(
        mode=mode,
        depth=options.depth,
        sampling=SamplingParams(**{name: getattr(options, name) for name in (*SAMPLING_KEYS, "seed")}),
        max_tokens=options.max_tokens,
        thinking=options.thinking or "",
        # Options give a list, the model's settings a text.
        template_variables=read_variables(variables if isinstance(variables, str) else ", ".join(variables)),
    )


def check_thinking(request: ChatRequest, model: str, names: Sequence[str]) -> None:
    """Check that the reasoning mode of the request is one of those that the model supports.

    Raises:
        SettingError: it is not.
    """
    if not request.thinking or request.thinking in names:
        return
    if not names:
        raise SettingError(i18n("{name} has no reasoning modes.", name=model), "Leave out --thinking.")
    raise SettingError(
        i18n("{name} does not support this reasoning mode: {how}.", name=model, how=request.thinking),
        i18n("Choose one of: {names}.", names=", ".join(names)),
    )


def _prompt_text(options: argparse.Namespace) -> str:
    """The prompt with its files and passages before it."""
    has_files = options.attach or options.image
    text = options.prompt or ""
    if options.prompt_file:
        text = _read_limited(options.prompt_file)
    elif options.prompt is None and not has_files and not sys.stdin.isatty():
        text = _read_limited("-")
    if not text.strip() and not has_files:
        raise ValueError("There is no prompt: give one with --prompt, --prompt-file or on standard input.")
    attached: list[Attachment] = []
    for name in options.attach:
        attachment, notice = read_attachment(Path(name))
        attached.append(attachment)
        if notice:
            notify(notice)
    if options.project:
        from app.core.projects.search import passages_for  # noqa: PLC0415  (few ask a project)

        found = passages_for(find_paths(), options.project, text)
        cited = [f"[{one.number}] {one.place}" for one in cited_passages(found.text)]
        notify("\n".join(cited) or "Nothing in the files of this project fits the question.")
        attached.append(found)
    return with_attachments(text, attached)


def _read_limited(name: str) -> str:
    """Read a file, or standard input (``-``), up to a limit, since a pipe may be endless.

    Raises:
        AppError: the text is longer than any context.
        UnicodeDecodeError: the text is no UTF-8 and has no byte order mark of UTF-16 or UTF-32.
        OSError: the file cannot be read.
    """
    if name == "-":
        raw = sys.stdin.buffer.read(MAX_PROMPT_BYTES + 1)
    else:
        with Path(name).open("rb") as file:
            raw = file.read(MAX_PROMPT_BYTES + 1)
    is_too_long = len(raw) > MAX_PROMPT_BYTES
    text = "" if is_too_long else utf_text(raw)
    if is_too_long or len(text) > MAX_PROMPT_CHARS:
        message = f"The text has more than {MAX_PROMPT_CHARS:,} characters, which no context holds."
        raise AppError(message, "Give the part that matters.")
    return text


def _is_picture(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return path.is_file() and is_picture(file.read(_HEAD_BYTES))
    except (OSError, ValueError):  # reading it as text will report the error
        return False


def load_models(session: Session, request: LoadRequest) -> EngineReady:
    """Load the models. Ctrl+C only sets an event at first, since llama.cpp's callbacks cannot raise.

    Raises:
        EngineError: the models cannot be loaded.
        KeyboardInterrupt: after Ctrl+C.
    """
    with stop_on_interrupt() as interrupted:
        session.is_load_cancelled = interrupted.is_set
        ready = session.load(request, lambda _path, _fraction: not interrupted.is_set())
    if interrupted.is_set():
        raise KeyboardInterrupt
    return ready


def show_events(events: Iterator[Event], *, as_json: bool, texts: list[str] | None = None) -> Finished | None:
    """Print an answer as it streams, then its metrics; returns its last event. ``texts`` collects the text chunks."""
    texts = [] if texts is None else texts
    finished = None
    for event in events:
        if isinstance(event, TextChunk):
            texts += [event.reasoning_start_tag, event.text] if not texts else [event.text]
            if not as_json:
                print(event.text, end="", flush=True)
        elif isinstance(event, Finished):
            finished = event
            if as_json:
                print_json(run_as_dict("".join(texts[1:]), event))
            else:
                print()
                print_styled(metrics_line(event.stats, event.reason), Style.FAINT)
    return finished
