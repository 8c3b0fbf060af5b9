"""Compares the memory estimate with the memory that llama.cpp reports."""

import logging
import re
from pathlib import Path

import pytest

from engine.errors import NotEnoughMemoryError
from engine.fit.fit import FitReport, all_parts_bytes, estimate
from engine.gguf.header import read_header
from engine.llama.context import ContextParams, LlamaContext
from engine.llama.model import LlamaModel
from engine.records import FitLevel
from tests.engine.gguf_factory import Kind, tiny_llama

MODELS = sorted((Path(__file__).resolve().parents[4] / "shared" / "models").glob("*.gguf"))
LOG = "engine.llama.library"
MIB = 2**20


@pytest.fixture(name="tiny")
def fixture_tiny(tmp_path: Path) -> Path:
    return tiny_llama().write(tmp_path / "tiny.gguf")


def told_mib(caplog: pytest.LogCaptureFixture, pattern: str) -> float:
    """The sum of the sizes in llama.cpp's log lines that match ``pattern``."""
    return sum(float(size) for size in re.findall(pattern + r" += +([\d.]+) MiB", caplog.text))


@pytest.mark.parametrize("n_ctx", [256, 2048])
@pytest.mark.parametrize("path", [None, "wide", *MODELS], ids=lambda path: getattr(path, "stem", str(path)))
def test_the_estimate_is_what_llama_cpp_takes(
    tmp_path: Path, tiny: Path, caplog: pytest.LogCaptureFixture, path: Path | str | None, n_ctx: int
) -> None:
    caplog.set_level(logging.DEBUG, LOG)
    file = tiny if path is None else Path(path)
    if path == "wide":
        file = tiny_llama(n_ff=51_200).write(tmp_path / "wide.gguf")
    with LlamaModel(file) as model, LlamaContext(model, ContextParams(n_ctx, 1)) as context:
        context.forward([1] * 200, 1)
    report = estimate([file], n_ctx)
    assert report.weights_bytes / MIB == pytest.approx(told_mib(caplog, "print_info: file size"), abs=0.01)
    assert report.cache_bytes / MIB == pytest.approx(told_mib(caplog, "(?:KV|RS) buffer size"), abs=0.01)
    compute_mib = told_mib(caplog, "compute buffer size")
    assert 0.2 < compute_mib <= report.compute_bytes / MIB < 2 * compute_mib + 40


def test_all_parts_of_a_model_count(tmp_path: Path) -> None:
    part = tiny_llama().with_metadata(split__count=(Kind.UINT16, 3), split__no=(Kind.UINT16, 0))
    first = part.write(tmp_path / "m-00001-of-00003.gguf")
    for number in (2, 3):
        (tmp_path / f"m-{number:05d}-of-00003.gguf").write_bytes(bytes(10**6))
    (tmp_path / "n-00002-of-00003.gguf").write_bytes(bytes(10**7))
    header = read_header(first)
    whole = all_parts_bytes(first, header)
    assert whole == first.stat().st_size + 2 * 10**6 - header.data_offset
    assert estimate([first], 256).weights_bytes - header.weights_bytes == pytest.approx(2 * 10**6, abs=100)
    assert all_parts_bytes(tmp_path / "m.gguf", header) is None


def test_a_draft_is_added(tiny: Path) -> None:
    one, both = estimate([tiny], 1000), estimate([tiny, tiny], 1000)
    assert both.needed_bytes == 2 * one.needed_bytes
    assert one.available_bytes > 10 * MIB, "this machine's free memory"


@pytest.mark.parametrize(
    ("available", "verdict"),
    [(1000, FitLevel.FITS), (110, FitLevel.TIGHT), (100, FitLevel.TIGHT), (99, FitLevel.TOO_LARGE)],
)
def test_the_verdict(available: int, verdict: FitLevel) -> None:
    assert FitReport(50, 30, 20, available).verdict is verdict


def test_what_does_not_fit_is_refused_with_its_figures(tiny: Path) -> None:
    estimate([tiny], 1000, 10**9).check()
    with pytest.raises(NotEnoughMemoryError) as caught:
        estimate([tiny], 10**9, 8 * 10**9).check()
    assert re.search(r"about [\d,.]+ GB \(\d+ MB of weights and 256\.0 GB for the context\)", caught.value.message)
    assert "8.0 GB are free." in caught.value.message
