"""Every failure of hub, downloads and library that a person can meet: what happened, why, and what to do."""

from __future__ import annotations

from app.core.domain.errors import AppError


class HubError(AppError):
    """The hub could not answer."""

    title = "The hub could not be contacted"


class HubOfflineError(HubError):
    """Offline mode is on."""

    title = "Offline mode is on"
    default_advice = "Unset HF_HUB_OFFLINE to reach the hub; models on this computer work without it."


class HubUnreachableError(HubError):
    """No connection, or it broke: worth another attempt."""

    title = "The hub cannot be reached"
    default_advice = "Check the network and the proxy; downloads continue where they stopped."


class HubBusyError(HubError):
    """Too many requests, or the hub is out of order: worth another attempt after ``retry_after_s``, where it said."""

    title = "The hub is busy"
    default_advice = "Try again in a few minutes."

    def __init__(self, message: str, advice: str | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message, advice)
        self.retry_after_s = retry_after_s


class HubAccessError(HubError):
    """A token, or the publisher's consent, is needed."""

    title = "This repository is gated"
    default_advice = "Accept its terms on its hub page, and give Paceline an access token (or set HF_TOKEN)."


class HubNotFoundError(HubError):
    """No such repository or file."""

    title = "Not found on the hub"
    default_advice = "Check the spelling; it may also have been renamed, removed or made private."


class HubRangeError(HubError):
    """The file has no such bytes."""

    title = "The file has changed on the hub"
    default_advice = "Start the download again."


class HubAnswerError(HubError):
    """The answer makes no sense."""

    title = "The hub's answer could not be understood"
    default_advice = "Try again later; a proxy or a mirror may have answered in its place."


class HubBytesError(HubAnswerError):
    """Other bytes than asked for: from elsewhere in the file, another number, or compressed. Worth one new start."""

    title = "Other bytes came than were asked for"
    default_advice = "A proxy or a mirror in between may be changing what comes. Try another network."


class LinkRefusedError(HubError):
    """An address that may not be used, or leads to nothing that could be: another attempt is no use."""

    title = "This link cannot be used"
    default_advice = "Check the link."


class LinkUnreachableError(HubUnreachableError):
    """No connection to a link's server, or it broke."""

    title = "The server of the link cannot be reached"
    default_advice = "Check the link, the network and the proxy; a download that began can go on later."


class LinkBusyError(HubBusyError):
    """A link's server is out of order."""

    title = "The server of the link is busy"


class LinkAnswerError(HubAnswerError):
    """The answer of a link's server makes no sense."""

    title = "The server's answer could not be understood"
    default_advice = "Try again later, or look for another place that has the file."


class LinkBytesError(LinkAnswerError, HubBytesError):
    """Other bytes came from a link's server than were asked for."""

    title = HubBytesError.title
    default_advice = "Look for another place that has the file, or download it with your browser and open it."


class DownloadError(AppError):
    """A download could not be completed."""

    title = "The download could not be completed"


class DiskFullError(DownloadError):
    """No space; what is here is kept."""

    title = "There is not enough space"
    default_advice = "Free some space and resume; the part already downloaded is kept."


class ChecksumError(DownloadError):
    """The bytes are not those that the hub promised."""

    title = "The file arrived damaged"
    default_advice = "Try again; if it happens again, a proxy or a mirror may be changing the file."


class PackageError(DownloadError):
    """A package with a model in it could not be had."""

    title = "The package could not be downloaded"
    default_advice = "Check the network and how pip is configured."


class DownloadBusyError(DownloadError):
    """Another Paceline is fetching this file."""

    title = "This file is already being downloaded"
    default_advice = "Wait for the other Paceline, or stop its download."


class LibraryError(AppError):
    """A model could not be added, found or removed."""

    title = "The library could not do this"
    default_advice = "Check the name and the folder's permissions."


class UnsafeNameError(LibraryError):
    """A name that would lead out of the library folder."""

    title = "This name is not allowed"
    default_advice = "Nothing was written. Report the repository to the hub: such names are only used for attacks."


class TokenStoreError(AppError):
    """The system keyring could not be used."""

    title = "The token cannot be stored"
    default_advice = "Set the environment variable HF_TOKEN instead; Paceline writes no token into a file."
