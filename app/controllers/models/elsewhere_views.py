"""What the window shows of models from elsewhere: other apps' folders, a folder that is looked through, a link."""

from __future__ import annotations

from app.controllers.models.views import guess_fit
from app.domain.models import DownloadRequest, LinkView, ScanView
from app.hub.library.folder_scan import FolderScan
from app.hub.library.ollama import Skipped
from app.hub.remote_header import KnownModel
from engine.gguf.title import model_title
from ui.text.formatting import parameters
from ui.text.language import translate
from ui.text.problem_words import in_language


def skipped_words(model: Skipped) -> str:
    """A model that cannot be offered, with the reason."""
    return translate("LibraryPage", "{name}: {reason}").format(name=model.name, reason=in_language(model.reason))


def scan_view(scan: FolderScan, *, is_running: bool) -> ScanView:
    """How far a scan is."""
    found, unreadable = len(scan.offers), scan.num_unreadable
    return ScanView(str(scan.folder), is_running, scan.num_files, found, unreadable, scan.is_complete)


def link_view(request: DownloadRequest, known: KnownModel, hosts: tuple[str, ...], free_bytes: int) -> LinkView:
    """What a link leads to."""
    header = known.header
    facts = [header.architecture, request.model.quantization]
    if header.num_params:
        facts.insert(1, parameters(header.num_params))
    return LinkView(
        url=request.url,
        name=model_title(header.metadata, request.model.name, header.num_params),
        facts=" · ".join(fact for fact in facts if fact),
        size_bytes=known.size_bytes,
        num_parts=known.num_parts,
        hosts=hosts,
        fit=guess_fit(known.size_bytes if known.num_parts == 1 else None, free_bytes),
    )
