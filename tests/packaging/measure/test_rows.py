"""The model of random weights with a large vocabulary: it loads, runs, and every figure is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.llama.model import LlamaModel
from tests.scripts import load_script
from tests.shared_files import shared_file


def test_the_model_runs_and_the_report_is_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = load_script("measure/rows.py")
    vocab = shared_file("vocabs/ggml-vocab-gpt-2.gguf")
    path = rows.make_model(vocab, tmp_path / "model.gguf", spread=3.0)
    with LlamaModel(path) as model:
        assert model.vocab.n_vocab == 50257
        rows.rows_report(model, repeat=2, threads=1)
    rows.answers_report(path, tokens=4, threads=1)
    report = capsys.readouterr().out
    assert report.count("us a row") == 4
    assert report.count("plain answer at T") == 2
