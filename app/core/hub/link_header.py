"""Checks the file behind a link before the download by its header; only the first bytes are fetched."""

from __future__ import annotations

from collections.abc import Callable

from app.core.domain.models import DownloadRequest
from app.core.hub.links import LinkSource
from app.core.hub.remote_header import KnownModel, read_located_header


def judge_link(
    request: DownloadRequest, should_stop: Callable[[], bool] = lambda: False
) -> tuple[KnownModel, tuple[str, ...]]:
    """Read the header of a link's model; returns it with the contacted hosts, in order.

    Raises:
        HubError: the link cannot be used, or its server is unreachable.
        ModelFileError: the file is no text model or is damaged, or the check was cancelled.
    """
    source = LinkSource(request.url)
    try:
        located = source.look(request.repo_id, request.model.files[0].path)
        return read_located_header(source, located.location, request.model, should_stop), located.hosts
    finally:
        source.close()
