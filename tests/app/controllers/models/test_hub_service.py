"""Tests what the service of the Models panel knows about local models."""

from pathlib import Path
from typing import cast

from app.controllers.models.hub_service import HubService
from app.core.hub.client import HubClient
from app.core.hub.downloads.download_queue import DownloadQueue
from app.core.hub.library.library import Library
from tests.engine.gguf_factory import tiny_llama
from tests.engine.vision_factory import write_pair
from ui.models.library_page import facts


def test_models_that_see_are_named_with_their_side_file(tmp_path: Path) -> None:
    """Only they: a projector without its model is none, and a deleted one is not named any more."""
    for name in ("seeing", "blind", "library"):
        (tmp_path / name).mkdir()
    pair = write_pair(tmp_path / "seeing", "llava")
    blind = tiny_llama().write(tmp_path / "blind" / "blind.gguf")
    library = Library(tmp_path / "library", tmp_path / "library.json")
    for path in (pair.model, blind):
        library.add(path)
    service = HubService(cast("HubClient", None), library, cast("DownloadQueue", None))
    seeing, other = sorted(service.library_views("", "", offers=False).rows, key=lambda row: not row.side_file)
    assert f"sees pictures with {pair.side.name}" in facts(seeing)
    assert "sees" not in facts(other)
    pair.side.unlink()
    assert not any(row.side_file for row in service.library_views("", "", offers=False).rows)
