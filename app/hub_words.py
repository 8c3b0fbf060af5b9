"""What became of downloads and files of the library, as one sentence. Knows no widget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ui.formatting import size
from ui.language import translate

if TYPE_CHECKING:
    from ui.hub_records import DownloadRow


def arrived(rows: Sequence[DownloadRow]) -> str:
    """Which downloads are complete."""
    names = ", ".join(row.name for row in rows)
    return translate("HubController", "Downloaded and checked: {names}.").format(names=names)


def freed(num_bytes: int) -> str:
    """What taking a model off the list has freed, in bytes."""
    return (
        translate("HubController", "{size} of disk space are free again.").format(size=size(num_bytes))
        if num_bytes
        else translate("HubController", "Taken off the list.")
    )
