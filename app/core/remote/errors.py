"""The failures of remote servers: what happened, why, and what to do."""

from __future__ import annotations

from app.core.domain.errors import AppError


class RemoteError(AppError):
    title = "The engine could not answer"
    default_advice = "Try again; if it happens again, look at the engine's own log."


class EngineAddressError(RemoteError):
    title = "This address cannot be used"
    default_advice = "Give an address such as https://gpu.example.org:8000."


class PlainAddressError(EngineAddressError):
    """The user did not confirm that messages are sent unencrypted."""

    title = "This address is not encrypted"
    default_advice = "Use https, or an SSH tunnel, or confirm that you trust the network in between."


class EngineUnreachableError(RemoteError):
    title = "The engine cannot be reached"
    default_advice = "Check that it runs, its address, and the network."


class EngineSlowError(RemoteError):
    title = "The engine did not answer in time"
    default_advice = "It may be loading a model or have too much to do. Try again later."


class KeyRefusedError(RemoteError):
    """The server wants a key, or another one."""

    title = "The engine refused the key"
    default_advice = "Enter its key again; the engine's operator has it."


class ModelGoneError(RemoteError):
    title = "The engine does not have this model"
    default_advice = "Choose another model of this engine, or ask again what it has."


class RemotePromptError(RemoteError):
    """The conversation is too long for the server.

    It has ``num_tokens`` of at most ``n_ctx``; 0 if the server did not say.
    """

    title = "The conversation is too long for the engine"
    default_advice = (
        "Have the oldest messages left out (in the settings of the chat), shorten the message, or have the engine "
        "started with a larger context."
    )
    num_tokens = 0
    n_ctx = 0


class EngineBusyError(RemoteError):
    title = "The engine is busy"
    default_advice = "Try again in a minute."


class AnswerCutError(RemoteError):
    title = "The answer was cut off"
    default_advice = "What came is kept. Continue the answer, or ask for it again."


class EngineRefusedError(RemoteError):
    title = "The engine refused the request"
    default_advice = "Change the message or the settings of sampling."


class EngineAnswerError(RemoteError):
    title = "The engine's answer could not be understood"
    default_advice = "Check that the address is that of an OpenAI-compatible server."


class EngineStoreError(RemoteError):
    title = "The list of engines was not saved"
    default_advice = "Check the free space and the folder's permissions."
