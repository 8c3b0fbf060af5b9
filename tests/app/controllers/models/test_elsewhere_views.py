"""What the window is told of models from elsewhere."""

from __future__ import annotations

from pathlib import Path

from app.controllers.models.elsewhere_views import link_view, scan_view, skipped_words
from app.domain.models import FitLevel
from app.hub.library.folder_scan import FolderScan
from app.hub.library.ollama import Skipped
from app.hub.links import request_of
from app.hub.remote_header import read_local_header
from app.paths import builtin_target


def test_a_scan_is_counted_and_what_is_skipped_has_its_reason() -> None:
    view = scan_view(FolderScan(Path("/data"), num_files=3, num_unreadable=1), is_running=True)
    assert (view.folder, view.num_files, view.num_found, view.num_unreadable) == ("/data", 3, 0, 1)
    assert skipped_words(Skipped("bad:1b", "Its manifest is damaged.")) == "bad:1b: Its manifest is damaged."


def test_a_link_is_judged_by_its_header_and_by_the_memory() -> None:
    known = read_local_header(builtin_target())
    request = request_of("https://h.example/tiny-Q8_0.gguf")
    view = link_view(request, known, ("h.example",), 10**12)
    assert view.facts.startswith("llama · ")
    assert view.facts.endswith(" · Q8_0")
    assert (view.fit, view.size_bytes) == (FitLevel.FITS, builtin_target().stat().st_size)
    assert link_view(request, known, ("h.example",), 10).fit is FitLevel.TOO_LARGE
