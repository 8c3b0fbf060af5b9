"""The failures of remote servers: what happened, why, and what to do."""

from app.core.domain.errors import AppError


class RemoteError(AppError):
    title = "The remote server could not answer"
    default_advice = "Try again. If it happens again, look at the server's own log."


class ServerAddressError(RemoteError):
    title = "This address cannot be used"
    default_advice = "Give an address such as https://gpu.example.org:8000."


class UnencryptedAddressError(ServerAddressError):
    """The user did not allow unencrypted connections."""

    title = "This address is not encrypted"
    default_advice = "Use https, or an SSH tunnel, or confirm that you trust the network in between."


class ServerUnreachableError(RemoteError):
    title = "The remote server cannot be reached"
    default_advice = "Check that it is running, its address and the network."


class ServerTimeoutError(RemoteError):
    title = "The remote server did not answer in time"
    default_advice = "It may be loading a model or have too much to do. Try again later."


class KeyRejectedError(RemoteError):
    """The server requires a key, or rejected the key."""

    title = "The remote server refused the key"
    default_advice = "Enter the key again. The server's operator can give it to you."


class ModelNotOfferedError(RemoteError):
    title = "The remote server does not have this model"
    default_advice = "Choose another model of this server, or refresh its list."


class ContextExceededError(RemoteError):
    title = "The conversation is too long for the remote server"
    default_advice = (
        "Leave out the oldest messages (in the chat's settings), shorten the message, or start the server with "
        "a larger context."
    )


class ServerBusyError(RemoteError):
    title = "The remote server is busy"
    default_advice = "Try again in a minute."


class ConnectionLostError(RemoteError):
    title = "The answer was cut off"
    default_advice = "The text so far is kept. Continue the answer, or ask for it again."


class RequestRejectedError(RemoteError):
    title = "The remote server refused the request"
    default_advice = "Change the message or the sampling settings."


class InvalidResponseError(RemoteError):
    title = "The remote server's answer could not be understood"
    default_advice = "Check that the address is that of an OpenAI-compatible server."


class ServerListError(RemoteError):
    title = "The list of remote servers was not saved"
    default_advice = "Check the free space and the folder's permissions."
