"""The failures of hub, downloads and library: what happened, why, and what to do."""

from app.core.domain.errors import AppError


class HubError(AppError):
    title = "The hub could not be contacted"


class HubOfflineError(HubError):
    title = "Offline mode is on"
    default_advice = "Unset HF_HUB_OFFLINE to reach the hub; models on this computer work without it."


class HubUnreachableError(HubError):
    """There is no connection, or it broke: a retry may help."""

    title = "The server cannot be reached"
    default_advice = "Check the network and the proxy; downloads continue where they stopped."


class HubBusyError(HubError):
    """Too many requests, or the server is out of order. ``retry_after_s``: when to retry, if the server says so."""

    title = "The server is busy"
    default_advice = "Try again in a few minutes."

    def __init__(self, message: str, advice: str | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message, advice)
        self.retry_after_s = retry_after_s


class HubAccessError(HubError):
    """Access needs a token or the publisher's consent."""

    title = "This repository is gated"
    default_advice = "Accept its terms on its hub page, and give Paceline an access token (or set HF_TOKEN)."


class HubNotFoundError(HubError):
    title = "Not found on the hub"
    default_advice = "Check the spelling; it may also have been renamed, removed or made private."


class HubRangeError(HubError):
    title = "The file has changed on the server"
    default_advice = "Start the download again."


class HubAnswerError(HubError):
    title = "The server's answer could not be understood"
    default_advice = "Try again later; a proxy or a mirror may have answered in its place."


class HubBytesError(HubAnswerError):
    """The server sent other bytes than requested: another range or size, or compressed. Starting over may help."""

    title = "Wrong data was downloaded"
    default_advice = "A proxy or a mirror may be changing the file. Try another network."


class LinkRefusedError(HubError):
    """The address is forbidden or has no usable file: a retry does not help."""

    title = "This link cannot be used"
    default_advice = "Check the link."


class DownloadError(AppError):
    title = "The download could not be completed"


class DiskFullError(DownloadError):
    title = "There is not enough space"
    default_advice = "Free some space and resume; the part already downloaded is kept."


class ChecksumError(DownloadError):
    """The bytes do not match the hub's checksum."""

    title = "The file arrived damaged"
    default_advice = "Try again; if it happens again, a proxy or a mirror may be changing the file."


class PackageError(DownloadError):
    title = "The package could not be downloaded"
    default_advice = "Check the network and how pip is configured."


class DownloadBusyError(DownloadError):
    """Another process is downloading this file."""

    title = "This file is already being downloaded"
    default_advice = "Wait for the other Paceline, or stop its download."


class LibraryError(AppError):
    title = "The library could not do this"
    default_advice = "Check the name and the folder's permissions."


class UnsafeNameError(LibraryError):
    """A name would lead out of the library folder."""

    title = "This name is not allowed"
    default_advice = "Nothing was written. Report the repository to the hub: such names are only used for attacks."


class TokenStoreError(AppError):
    title = "The token cannot be stored"
    default_advice = "Set the environment variable HF_TOKEN instead. Paceline does not write tokens to files."
