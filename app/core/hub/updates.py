"""Looks up the newest release of Paceline, only when the user requests it.

The request contains the version of Paceline and nothing else. Nothing is downloaded or installed.
"""

import json
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import app
from app.core.domain.errors import AppError
from app.core.hub.client import TIMEOUT_S, http_client, http_library, small_body
from engine.sentences import i18n

# GitHub's API (https://docs.github.com/en/rest/releases/releases#get-the-latest-release) omits drafts and previews.
RELEASES = "https://api.github.com/repos/paceline/paceline/releases/latest"
PAGES = "https://github.com/"
MAX_BYTES = 1 << 20
MAX_NOTES_CHARS = 4000


class UpdatesError(AppError):
    title = "Could not check for updates"
    default_advice = "Check the network and the proxy, then try again."


@dataclass(frozen=True, slots=True)
class Release:
    """The newest release. ``page``: its web page; may be empty.

    ``is_newer``: it is newer than the running version.
    """

    version: str
    is_newer: bool
    notes: str = ""
    page: str = ""


def newest_release(address: str = RELEASES, current: str = "", timeout_s: float = TIMEOUT_S) -> Release:
    """Request the newest release. ``current``: the version to compare with, by default the running one.

    Raises:
        UpdatesError: the answer is missing or invalid.
    """
    library = http_library()
    headers = {"User-Agent": f"paceline/{app.__version__}", "Accept": "application/vnd.github+json"}
    try:
        with closing(http_client(timeout_s)) as client, client.stream("GET", address, headers=headers) as answer:
            status, body = answer.status_code, small_body(answer, MAX_BYTES)
            if len(body) > MAX_BYTES:
                raise UpdatesError("The answer of the releases page is far too long.")
    except library.TimeoutException as error:
        raise UpdatesError("The releases page did not answer in time.") from error
    except (library.HTTPError, library.InvalidURL, OSError, ValueError, ImportError) as error:
        raise UpdatesError("The releases page cannot be reached.") from error
    if status == 404:
        raise UpdatesError("No version was released yet.", "Try again later.")
    if status in (403, 429):
        raise UpdatesError("The releases page got too many requests from this network.", "Try again in an hour.")
    if status != 200:
        raise UpdatesError(i18n("The releases page answered with HTTP {status}.", status=status))
    return release_of(body, current or app.__version__)


def release_of(body: bytes, current: str) -> Release:
    """Read an answer of GitHub's API.

    Raises:
        UpdatesError: the answer has no version.
    """
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415  (huggingface-hub brings it)

    try:
        facts: Any = json.loads(body)
        version = Version(facts["tag_name"])
    except (ValueError, RecursionError, KeyError, TypeError, InvalidVersion) as error:
        raise UpdatesError("The releases page names no version.", "Try again later.") from error
    notes, page = facts.get("body"), facts.get("html_url")
    text = notes[:MAX_NOTES_CHARS] if isinstance(notes, str) else ""
    shown = "".join(char for char in text if char.isprintable() or char == "\n")
    good = isinstance(page, str) and page.startswith(PAGES) and page.isprintable() and len(page) < 500
    return Release(str(version), version > Version(current), shown.strip(), page if good else "")
