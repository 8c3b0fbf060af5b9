"""Converts HTTP status and headers of an answer into an error or a file's location.

The codes are those of the hub's header X-Error-Code
(https://huggingface.co/docs/huggingface_hub/package_reference/utilities).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from app.core.hub.errors import (
    HubAccessError,
    HubAnswerError,
    HubBusyError,
    HubError,
    HubNotFoundError,
    HubRangeError,
    HubUnreachableError,
)
from app.core.hub.records import RemoteLocation
from engine.sentences import said

MAX_SIZE_BYTES = 1 << 46
MAX_WAIT_S = 3600.0
_ETAG_CHARS = 200


def status_error(status: int, headers: Mapping[str, str], what: str, *, own: bool, had_token: bool) -> HubError | None:
    """The error for a status; None for a success. ``own``: the hub itself answered, not a storage server."""
    code = headers.get("X-Error-Code", "")
    error: HubError | None
    if status in (200, 206) or 300 <= status < 400:
        error = None
    elif status == 416:
        error = HubRangeError(said("The hub no longer has these bytes of {what}.", what=what))
    elif not own and status in (401, 403, 404, 410):
        error = HubUnreachableError(said("The link to {what} has expired.", what=what))
    elif status in (401, 403):
        error = _no_access(status, code, what, had_token=had_token)
    elif status in (404, 410):
        error = _absent_error(code, what)
    elif status == 429:
        error = HubBusyError(
            said("The hub accepts no more requests for now: {what} has to wait.", what=what), None, _wait_s(headers)
        )
    elif status == 408 or status >= 500:
        error = HubBusyError(said("The hub is not working (HTTP {status}).", status=status), None, _wait_s(headers))
    else:
        error = HubAnswerError(said("The hub answered {what} with HTTP {status}.", what=what, status=status))
    return error


def _absent_error(code: str, what: str) -> HubError:
    if code == "RevisionNotFound":
        return HubNotFoundError(said("{what} has no such revision.", what=what))
    return HubNotFoundError(said("{what} does not exist.", what=what))


def _no_access(status: int, code: str, what: str, *, had_token: bool) -> HubError:
    if code == "RepoNotFound":
        return HubNotFoundError(said("{what} does not exist, or is private.", what=what))
    if code == "GatedRepo":
        if had_token:
            reason = said(
                "{what} is shared only with those who accepted its terms, and this account has no access.",
                what=what,
            )
        else:
            reason = said(
                "{what} is shared only with those who accepted its terms, and no access token is set.", what=what
            )
        return HubAccessError(reason)
    if had_token:
        return HubAccessError(
            said("The hub does not accept the access token for {what} (HTTP {status}).", what=what, status=status)
        )
    return HubAccessError(
        said("The hub requires an access token for {what} (HTTP {status}).", what=what, status=status)
    )


def location_of(
    headers: Mapping[str, str], repo_id: str, path: str, url: str, pinned: Callable[[str, str, str], str]
) -> RemoteLocation:
    """Read the answer to a HEAD request. ``pinned`` makes the address of a file in a commit.

    Raises:
        HubAnswerError: the answer has no size or no ETag.
    """
    what = f"{repo_id}/{path}"
    linked = "X-Linked-Size" in headers
    size = headers.get("X-Linked-Size" if linked else "Content-Length", "")
    etag = (headers.get("X-Linked-Etag") or headers.get("ETag", "")).removeprefix("W/").strip('"')
    if not size.isascii() or not size.isdecimal() or len(size) > 18 or int(size) > MAX_SIZE_BYTES:
        raise HubAnswerError(said("The hub does not say how big {what} is.", what=what))
    if not etag or len(etag) > _ETAG_CHARS or not etag.isascii() or not etag.isprintable():
        raise HubAnswerError(said("The hub does not give a checksum for {what}.", what=what))
    commit = headers.get("X-Repo-Commit", "").lower()
    if len(commit) != 40 or not set(commit) <= set("0123456789abcdef"):
        commit = ""
    address = pinned(repo_id, path, commit) if commit and not linked else url
    return RemoteLocation(repo_id, path, address, etag, int(size), commit)


def _wait_s(headers: Mapping[str, str]) -> float | None:
    text = headers.get("Retry-After", "")
    return min(float(text), MAX_WAIT_S) if text.isascii() and text.isdecimal() and len(text) < 9 else None
