"""`paceline run --engine URL`: one prompt for a remote server. Only the prompt is sent, nothing is stored."""

import argparse
import os
import sys
import threading
from pathlib import Path

from app.cli.interrupts import stop_on_interrupt
from app.cli.output import INTERRUPTED, notify, option_errors
from app.cli.run import RUN_ERRORS, check_thinking, make_request, show_events
from app.core.domain.engines import RemoteModel
from app.core.remote.answer import RemoteAnswer
from app.core.remote.client import RemoteClient, check_encrypted, normal_url, server_key_store
from app.core.remote.detection import ReasoningMode, detect, reasoning_modes
from app.core.remote.errors import ModelNotOfferedError
from app.core.remote.fitting import FittingAnswer
from engine.records import ChatRequest, Finished, Mode, ThinkingOption
from engine.sentences import i18n

LOCAL_OPTIONS = ("draft", "trace", "image", "mmproj", "mcp", "tools", "allow")  # options of the local engine


def command(options: argparse.Namespace) -> int:
    """Answer the prompt of the options; returns the exit code (see `app.cli.parser.main`)."""
    with stop_on_interrupt() as interrupted, option_errors(*RUN_ERRORS):
        finished = _ask(options, interrupted)
    if finished is not None and finished.stats.decisions and not options.json:
        print("; ".join(finished.stats.decisions), file=sys.stderr)
    return INTERRUPTED if interrupted.is_set() else 0


def _ask(options: argparse.Namespace, interrupted: threading.Event) -> Finished | None:
    options.engine = normal_url(options.engine)
    check_encrypted(options.engine, allowed=options.allow_http)
    _check(options)
    options.mode = Mode.OFF.value  # the server decides how it drafts
    request = make_request(options)
    client = RemoteClient(options.engine, _key(options), allows_plain=options.allow_http)

    def end() -> None:
        interrupted.wait()
        client.abort()  # a server may be silent for minutes

    threading.Thread(target=end, name="interrupt", daemon=True).start()
    facts = detect(client)
    model = _chosen_model(facts.models, options.model, client.host)
    notify(f"{model.name} on {client.host}: {facts.title}. The prompt is sent to this server.")
    modes = reasoning_modes(client, facts.kind, model.name) if request.thinking else ()
    check_thinking(request, model.name, [mode.option.name for mode in modes])
    fields = next((mode.fields for mode in modes if mode.option.name == request.thinking), {})
    way = ReasoningMode(ThinkingOption(request.thinking), fields)

    def answering(asked: ChatRequest) -> RemoteAnswer:
        return RemoteAnswer(client, asked, model.name, facts.kind, model.n_ctx, way)

    answer = FittingAnswer(answering, request, model.n_ctx)
    return show_events(answer.events(interrupted.is_set), as_json=options.json)


def _check(options: argparse.Namespace) -> None:
    """Refuse options of the local engine.

    Raises:
        ValueError: such an option was given.
    """
    for name in LOCAL_OPTIONS:
        if getattr(options, name) or (name == "tools" and options.tools is not None):
            raise ValueError(f"--{name} works with local models only: leave it out, or leave out --engine.")
    if options.model and Path(options.model).suffix.lower() == ".gguf" and Path(options.model).exists():
        raise ValueError("With --engine, --model is the name of one of the server's models, not a file.")


def _key(options: argparse.Namespace) -> str:
    if options.key_env is None:
        return server_key_store(options.engine).find()
    key = os.environ.get(options.key_env, "").strip()
    if not key:
        raise ValueError(f"The environment variable {options.key_env} has no key.")
    return key


def _chosen_model(models: tuple[RemoteModel, ...], name: str | None, host: str) -> RemoteModel:
    """The model of this name, or the only one.

    Raises:
        ModelNotOfferedError: the server does not have it, or has several models and no name was given.
    """
    if name is None and len(models) == 1:
        return models[0]
    for model in models:
        if model.name == name:
            return model
    offered = ", ".join(model.name for model in models[:20])
    if name is None:
        raise ModelNotOfferedError(
            i18n("{host} offers several models.", host=host), f"Name one with --model: {offered}."
        )
    raise ModelNotOfferedError(i18n("{host} does not offer the model.", host=host), f"It has: {offered}.")
