"""Tests headers and checks from the hub: requests, failures, results."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from app.core.domain.models import RepoFile, RepoModel
from app.core.hub import remote_header
from app.core.hub.client import HubClient
from app.core.hub.errors import HubAnswerError, HubError, HubUnreachableError
from app.core.hub.file_names import group_models
from app.core.hub.pairs.assessment import LoadPlan, assess_pair, free_memory_at, pair_plan
from app.core.hub.records import RemoteLocation
from app.core.hub.remote_header import KnownModel, read_local_header, read_remote_header
from engine.errors import ModelFileError, ModelHeaderError
from engine.fit.table import FreeMemory
from engine.records import FitLevel
from tests.app.core.hub.loopback import Fault, LoopbackHub
from tests.engine.geometries import GEOMETRIES
from tests.engine.gguf.test_ranges import STRANGE
from tests.engine.gguf_factory import GgufFile, Kind, tiny_llama
from tests.shared_files import shared_file

GB = 10**9
REPO = "tiny/pair-GGUF"
GOOD = tiny_llama()


@dataclass
class FarStream:
    """A range of a remote file."""

    data: bytes
    start: int
    etag: str = '"one"'

    def chunks(self) -> Iterator[bytes]:
        yield from (self.data[i : i + 65536] for i in range(0, len(self.data), 65536))


@dataclass
class FarHub:
    """A hub with one file that begins with ``data``."""

    data: bytes
    size: int
    sent: int = 0
    paths: list[str] = field(default_factory=list)

    def locate(self, repo_id: str, path: str, revision: str = "main") -> RemoteLocation:
        self.paths.append(path)
        return RemoteLocation(repo_id, path, "https://hub.example/file", "e", self.size)

    @contextmanager
    def open(
        self, location: RemoteLocation, start: int = 0, end: int | None = None, if_range: str = ""
    ) -> Iterator[FarStream]:
        assert location.size_bytes == self.size
        assert not if_range
        assert end is not None
        self.sent += end - start
        yield FarStream(self.data[start:end].ljust(end - start, b"\0"), start)


def one_file(name: str = "m.gguf", size_bytes: int | None = None) -> RepoModel:
    (model,) = group_models([RepoFile(name, size_bytes)])
    return model


def on_hub(hub: LoopbackHub, file: GgufFile | bytes, name: str = "m.gguf") -> KnownModel:
    hub.add_file(REPO, name, file if isinstance(file, bytes) else file.to_bytes())
    client = HubClient(hub.url)
    try:
        return read_remote_header(client, REPO, one_file(name))
    finally:
        client.close()


def test_a_remote_header_is_the_local_one(hub: LoopbackHub, tmp_path: Path) -> None:
    remote, local = on_hub(hub, GOOD), read_local_header(GOOD.write(tmp_path / "m.gguf"))
    assert remote.header == local.header
    assert (remote.path, local.path) == (None, tmp_path / "m.gguf")
    assert remote.size_bytes == local.size_bytes == (tmp_path / "m.gguf").stat().st_size
    assert hub.sent(REPO, "m.gguf") == remote.num_fetched


@pytest.mark.parametrize(
    "fault",
    [Fault(cut_after=1000), Fault(reset_after=1000), Fault(ignore_range=True), Fault(unannounced=True)],
    ids=["cut", "reset", "range ignored", "no length"],
)
def test_faults_on_the_way_do_not_show(hub: LoopbackHub, fault: Fault) -> None:
    hub.faults.extend([fault, fault])
    assert on_hub(hub, GOOD).header.architecture == "llama"


def test_a_broken_connection_is_reported_after_some_attempts(hub: LoopbackHub) -> None:
    hub.faults.extend([Fault(cut_after=0)] * 3)
    with pytest.raises(HubUnreachableError):
        on_hub(hub, GOOD)
    assert len([seen for seen in hub.requests if seen.method == "GET"]) == 3


@pytest.mark.parametrize("name", ["qwen2", "llama-bpe"])
def test_a_30_gb_target_in_parts_costs_its_first_parts_header_only(name: str) -> None:
    data = shared_file(f"vocabs/ggml-vocab-{name}.gguf").read_bytes()
    parts = [RepoFile(f"m-{number:05d}-of-00003.gguf", 10 * GB) for number in (1, 2, 3)]
    (model,) = group_models(parts)
    hub = FarHub(data, 10 * GB)
    known = read_remote_header(hub, REPO, model)
    assert hub.paths == ["m-00001-of-00003.gguf"]
    assert known.size_bytes == 30 * GB
    assert known.num_fetched == hub.sent <= 12 * 2**20
    assert 29 * GB < known.weights_bytes < 30 * GB


def test_a_server_without_ranges_is_not_read_to_the_end(monkeypatch: pytest.MonkeyPatch, hub: LoopbackHub) -> None:
    monkeypatch.setattr(remote_header, "MAX_FETCHED_BYTES", 1_200_000)
    hub.honours_range = False
    words = ["w" * 1000] * 700
    file = GOOD.with_metadata(general__tags=(Kind.ARRAY, (Kind.STRING, words)))
    with pytest.raises(HubAnswerError, match="parts of files"):
        on_hub(hub, file)


def test_a_file_that_changes_under_the_reader_is_refused() -> None:
    hub = FarHub(GOOD.with_metadata(general__tags=(Kind.ARRAY, (Kind.STRING, ["w" * 1000] * 700))).header(), GB)
    plain = hub.open

    @contextmanager
    def changing(
        location: RemoteLocation, start: int = 0, end: int | None = None, if_range: str = ""
    ) -> Iterator[FarStream]:
        with plain(location, start, end, if_range) as stream:
            yield replace(stream, etag=f'"{start}"')

    hub.open = changing  # type: ignore[method-assign]
    with pytest.raises(HubAnswerError, match="changed while its header"):
        read_remote_header(hub, REPO, one_file())


def test_it_can_be_cancelled() -> None:
    hub = FarHub(GOOD.header(), GB)
    with pytest.raises(ModelHeaderError, match="cancelled"):
        read_remote_header(hub, REPO, one_file(), should_stop=lambda: True)
    assert hub.sent == 0


SIDE_FILES = {
    "mmproj": (GOOD.with_metadata(general__type=(Kind.STRING, "mmproj")), "a projector, the image or sound part"),
    "clip": (GOOD.with_metadata(general__architecture=(Kind.STRING, "clip")), "a projector, the image or sound part"),
    "eagle": (GOOD.with_metadata(general__architecture=(Kind.STRING, "eagle3")), "a draft head"),
    "dflash": (GOOD.with_metadata(general__architecture=(Kind.STRING, "dflash")), "a draft head"),
    "mtp": (
        replace(
            GOOD,
            tensors=tuple(
                replace(tensor, name=f"blk.2.nextn.{number}")
                for number, tensor in enumerate(GOOD.tensors)
            ),
        ),
        "the next-token heads",
    ),
    "lora": (GOOD.with_metadata(general__type=(Kind.STRING, "adapter")), "an adapter"),
    "imatrix": (GOOD.with_metadata(general__type=(Kind.STRING, "imatrix")), "a table for quantizing"),
}  # fmt: skip


@pytest.mark.parametrize(("file", "words"), SIDE_FILES.values(), ids=SIDE_FILES)
def test_side_files_are_refused_for_what_they_are(hub: LoopbackHub, file: GgufFile, words: str) -> None:
    with pytest.raises(ModelFileError, match=f"m is {words}.* does not write text"):
        on_hub(hub, file)


def test_a_pair_is_proved_before_it_is_here(hub: LoopbackHub, tmp_path: Path) -> None:
    target = on_hub(hub, GOOD, "target.gguf")
    draft = on_hub(hub, tiny_llama(seed=2, n_ff=32), "draft.gguf")
    proof = assess_pair(target, draft, LoadPlan(), free_memory_at(tmp_path / "not" / "yet"))
    assert proof.match is not None
    assert proof.match.matches
    assert proof.fit.verdict is FitLevel.FITS
    assert proof.fit.disk_bytes == target.size_bytes + draft.size_bytes
    stranger = on_hub(hub, GOOD.with_metadata(tokenizer__ggml__bos_token_id=(Kind.UINT32, 7)), "stranger.gguf")
    other = assess_pair(target, stranger, LoadPlan(), FreeMemory(1000))
    assert other.match is not None
    assert other.match.matches, "as a draft with another vocabulary"
    assert other.match.coverage == 1.0
    assert other.fit.verdict is FitLevel.TOO_LARGE


def test_the_context_is_no_longer_than_the_model_was_trained_for(tmp_path: Path) -> None:
    known = read_local_header(GOOD.write(tmp_path / "m.gguf"))
    plan = pair_plan(known, known, LoadPlan(n_ctx=8192))
    assert plan.target.setup.n_ctx == 256
    assert plan.draft is not None
    assert plan.draft.download_bytes == 0


def test_the_cost_of_a_token(tmp_path: Path) -> None:
    def known(name: str) -> KnownModel:
        return read_local_header(GEOMETRIES[name].write(tmp_path / f"{name}.gguf"))

    dense = known("Llama 3.1 8B")
    embedding = dense.header.tensors[0].num_bytes
    assert dense.bytes_per_token == dense.weights_bytes - embedding
    small = known("Qwen2.5 0.5B")  # its embedding is also its output layer
    assert small.bytes_per_token == small.weights_bytes
    mixture = known("Qwen3 30B-A3B")
    assert mixture.bytes_per_token < mixture.weights_bytes / 8


def outcome(hub: FarHub) -> str:
    try:
        read_remote_header(hub, REPO, one_file())
    except (ModelFileError, HubError) as error:
        return error.message
    return "read"


def test_500_strange_headers_from_a_hub_are_sentences() -> None:
    dice = random.Random(4)  # noqa: S311  (reproducible, not secret)
    good, outcomes = GOOD.to_bytes(), []
    for number in range(500):
        data = STRANGE[number % len(STRANGE)](dice, good)
        hub = FarHub(data, max(1, dice.choice((len(data), 2 * len(data)))))
        outcomes.append(outcome(hub))
        assert hub.sent <= hub.size
    assert 20 < outcomes.count("read") < 200
    sentences = [words for words in outcomes if words != "read"]
    assert all(words.startswith("m ") and words.endswith(".") and words.isprintable() for words in sentences)
