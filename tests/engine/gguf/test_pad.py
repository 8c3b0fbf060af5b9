"""Padding with zero neurons: the same words, more work, nothing left behind when it fails."""

from __future__ import annotations

import errno
import shutil
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import gguf
import numpy as np
import pytest

from engine.errors import ToolError
from engine.gguf import pad
from engine.gguf.pad import NAME_SUFFIX, make_padded
from engine.llama.context import ContextParams, LlamaContext
from engine.llama.model import LlamaModel
from tests.engine.gguf_factory import F16, F32, Q4_0, Kind, tiny_llama

ROOT = Path(__file__).resolve().parents[3]
STORIES = ROOT.parent / "shared" / "models" / "stories260K-f16.gguf"
BUILT_IN = ROOT / "assets" / "models" / "paceline-tiny-target.gguf"
Q8_0 = 8


class Greedy(NamedTuple):
    """What a model says: the ids and all logits on the way."""

    ids: list[int]
    logits: np.ndarray


def greedy(path: Path, prompt: str = "Once upon a time", num_tokens: int = 64) -> Greedy:
    with LlamaModel(path) as model, LlamaContext(model, ContextParams(n_ctx=128, threads=1)) as context:
        ids, rows = [], []
        given = model.vocab.tokenize(prompt, special=True, add_bos=True)
        for _ in range(num_tokens):
            rows.append(context.forward(given, 1)[0].copy())
            ids.append(int(rows[-1].argmax()))
            given = ids[-1:]
    return Greedy(ids, np.array(rows))


def assert_same_words(source: Path, padded: Path, prompt: str = "Once upon a time") -> None:
    before, after = greedy(source, prompt), greedy(padded, prompt)
    assert len(set(before.ids)) > 3
    assert after.ids == before.ids
    # Longer rows are summed in other groups: up to 0.007 where the old length was no multiple of the group (F16), up to
    # 0.04 where a processor has tiles for longer rows only.
    np.testing.assert_allclose(after.logits, before.logits, atol=6e-2, rtol=0)


@pytest.mark.parametrize("kind", [Q4_0, F16, F32, Q8_0])
def test_a_random_llama_says_the_same(tmp_path: Path, kind: int) -> None:
    source = tiny_llama(feed_forward_kind=kind, seed=3).write(tmp_path / "source.gguf")
    padded = make_padded(source, tmp_path / "padded.gguf", target_params=3_000_000)
    assert_same_words(source, padded)
    num_params = sum(int(tensor.n_elements) for tensor in gguf.GGUFReader(padded).tensors)
    assert 2_800_000 < num_params <= 3_000_000


@pytest.mark.skipif(not STORIES.exists(), reason="the shared models are not on this machine")
def test_stories_say_the_same(tmp_path: Path) -> None:
    assert_same_words(STORIES, make_padded(STORIES, tmp_path / "padded.gguf", target_params=5_000_000))


@pytest.mark.skipif(not BUILT_IN.exists(), reason="the built-in pair has not been trained yet")
def test_the_built_in_target_says_the_same(tmp_path: Path) -> None:
    chat = "<|im_start|>user\nWrite a short story about a fox.<|im_end|>\n<|im_start|>assistant\n"
    assert_same_words(BUILT_IN, make_padded(BUILT_IN, tmp_path / "padded.gguf", target_params=60_000_000), chat)


def test_only_the_feed_forward_layers_and_two_entries_change(tmp_path: Path) -> None:
    source = tiny_llama().write(tmp_path / "source.gguf")
    padded = make_padded(source, tmp_path / "padded.gguf", target_params=2_000_000)
    old, new = gguf.GGUFReader(source), gguf.GGUFReader(padded)
    changed = {k for k, f in old.fields.items() if f.contents() != new.fields[k].contents()}
    assert changed == {"general.name", "llama.feed_forward_length"}
    assert old.fields.keys() == new.fields.keys()
    assert new.fields["general.name"].contents() == "tiny" + NAME_SUFFIX
    for before, after in zip(old.tensors, new.tensors, strict=True):
        assert (before.name, before.tensor_type) == (after.name, after.tensor_type)
        rows, columns = before.data.shape if before.data.ndim == 2 else (1, before.data.size)
        grown = after.data.reshape(-1, after.data.shape[-1])
        assert np.array_equal(grown[:rows, :columns], before.data.reshape(rows, columns))
        assert not grown[rows:].any()
        assert not grown[:, columns:].any()
        assert ("ffn_" in before.name and "norm" not in before.name) == (before.data.size != after.data.size)


def test_quantizing_is_done_only_when_asked(tmp_path: Path) -> None:
    source = tiny_llama(feed_forward_kind=F16).write(tmp_path / "source.gguf")
    padded = make_padded(source, tmp_path / "padded.gguf", target_params=2_000_000, quantize=True)
    kinds = {t.name.split(".")[-2]: t.tensor_type.name for t in gguf.GGUFReader(padded).tensors}
    assert (kinds["ffn_up"], kinds["ffn_down"], kinds["attn_q"]) == ("Q4_0", "Q4_0", "F16")
    assert len(greedy(padded).ids) == 64


def test_progress_runs_to_one(tmp_path: Path) -> None:
    source = tiny_llama().write(tmp_path / "source.gguf")
    seen: list[float] = []
    make_padded(source, tmp_path / "padded.gguf", progress=seen.append, target_params=20_000_000)
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1.0)
    assert len(seen) > 10


def test_cancelling_leaves_what_was_there(tmp_path: Path) -> None:
    source = tiny_llama().write(tmp_path / "source.gguf")
    destination = tmp_path / "out" / "padded.gguf"
    destination.parent.mkdir()
    destination.write_bytes(b"older")
    answers = iter([False] * 5)
    with pytest.raises(ToolError, match="cancelled"):
        make_padded(source, destination, should_stop=lambda: next(answers, True), target_params=20_000_000)
    assert [path.name for path in destination.parent.iterdir()] == ["padded.gguf"]
    assert destination.read_bytes() == b"older"


def test_no_room_is_reported_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tiny_llama().write(tmp_path / "source.gguf")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9 - 1000, 1000))
    with pytest.raises(ToolError, match=r"needs \d+ MB, but only 0 MB are free"):
        make_padded(source, tmp_path / "padded.gguf", target_params=20_000_000)


def test_a_disk_that_fills_up_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    source = tiny_llama().write(tmp_path / "source.gguf")
    monkeypatch.setattr(pad.os, "fsync", full)
    with pytest.raises(ToolError, match=r"could not be written: No space left on device\."):
        make_padded(source, tmp_path / "padded.gguf", target_params=2_000_000)
    assert [path.name for path in tmp_path.iterdir()] == ["source.gguf"]


def test_what_cannot_be_padded_is_refused(tmp_path: Path) -> None:
    not_llama = tiny_llama().with_metadata(general__architecture=(Kind.STRING, "gpt2")).write(tmp_path / "a.gguf")
    mismatch = tiny_llama().with_metadata(llama__feed_forward_length=(Kind.UINT32, 64)).write(tmp_path / "b.gguf")
    broken = tmp_path / "c.gguf"
    broken.write_bytes(b"GGUF")
    for path, reason in ((not_llama, "architecture"), (mismatch, "cannot be padded"), (broken, "could not be read")):
        with pytest.raises(ToolError, match=reason):
            make_padded(path, tmp_path / "padded.gguf", target_params=2_000_000)
    with pytest.raises(ToolError, match="nothing to pad"):
        make_padded(tiny_llama().write(tmp_path / "d.gguf"), tmp_path / "padded.gguf", target_params=1000)


def test_the_command_line_tells_failures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tiny_llama().write(tmp_path / "source.gguf")
    assert pad.main([str(source), str(tmp_path / "padded.gguf"), "--params", "2000000"]) == 0
    assert pad.main([str(source), str(tmp_path / "padded.gguf"), "--params", "1000"]) == 1
    assert "nothing to pad" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    source = tiny_llama().write(tmp_path / "source.gguf")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ToolError, match=r"padded\.gguf could not be written: "):
        make_padded(source, tmp_path / "file" / "padded.gguf", target_params=3_000_000)


def test_a_model_whose_layers_differ_cannot_be_padded(tmp_path: Path) -> None:
    lengths = (Kind.ARRAY, (Kind.UINT32, [96, 96]))
    source = tiny_llama().with_metadata(llama__feed_forward_length=lengths).write(tmp_path / "source.gguf")
    with pytest.raises(ToolError, match="no plain feed-forward layers of one size"):
        make_padded(source, tmp_path / "padded.gguf", target_params=3_000_000)


def test_an_alignment_of_its_own_is_kept(tmp_path: Path) -> None:
    aligned = replace(tiny_llama(seed=3), alignment=128).with_metadata(general__alignment=(Kind.UINT32, 128))
    source = aligned.write(tmp_path / "source.gguf")
    padded = make_padded(source, tmp_path / "padded.gguf", target_params=3_000_000)
    assert gguf.GGUFReader(padded).data_offset % 128 == 0
    assert_same_words(source, padded)
