"""Tests headers and checks from the hub: requests, failures, results."""

from __future__ import annotations

import struct
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from app.core.domain.models import RepoFile, RepoModel
from app.core.hub import remote_header
from app.core.hub.client import HubClient
from app.core.hub.errors import HubError, HubUnreachableError
from app.core.hub.file_names import group_models
from app.core.hub.pairs.assessment import check_draft
from app.core.hub.records import RemoteLocation
from app.core.hub.remote_header import MAX_FETCHED_BYTES, KnownModel, read_local_header, read_remote_header
from engine.errors import ModelFileError, ModelHeaderError
from engine.gguf.header import read_header, write_stub
from engine.sandbox.probe import judge_pairs
from tests.app.core.hub.loopback import Fault, LoopbackHub
from tests.engine.damaged_files import random_damage
from tests.engine.geometries import GEOMETRIES
from tests.engine.gguf_factory import GgufFile, Kind, string, tiny_llama
from tests.shared_files import shared_file

GB = 10**9
REPO = "tiny/pair-GGUF"
GOOD = tiny_llama()
CHUNK = 65536


@dataclass
class FarHub:
    """A hub with one file: ``data``, then zeros up to ``size``."""

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
    ) -> Iterator[FarHub]:
        assert (location.size_bytes, start, if_range) == (self.size, 0, "")
        assert end == min(self.size, remote_header.MAX_FETCHED_BYTES)
        yield self

    def chunks(self) -> Iterator[bytes]:
        while chunk := self.data[self.sent : self.sent + CHUNK] or bytes(min(CHUNK, self.size - self.sent)):
            self.sent += len(chunk)
            yield chunk


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
    assert hub.requests[-1].headers["range"] == f"bytes=0-{remote.size_bytes - 1}"


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
    assert known.header.data_offset <= hub.sent <= 12 * 2**20
    assert 29 * GB < known.weights_bytes < 30 * GB


def test_only_the_header_is_read(tmp_path: Path) -> None:
    path = GEOMETRIES["Llama 3.1 70B"].write(tmp_path / "m.gguf")
    with path.open("rb") as file:
        hub = FarHub(file.read(8 * 2**20), path.stat().st_size)
    known = read_remote_header(hub, REPO, one_file())
    assert known.header.weights_bytes > 30 * GB
    assert known.header.data_offset <= hub.sent <= known.header.data_offset + 2**20


def test_a_server_may_have_less_than_it_said() -> None:
    hub = FarHub(GOOD.to_bytes()[:1000], 10**6)
    hub.chunks = lambda: iter([hub.data])  # type: ignore[method-assign]
    with pytest.raises(ModelHeaderError, match="it ends after 1,000 of 1,000,000 bytes"):
        read_remote_header(hub, REPO, one_file())


def test_a_header_without_end_is_given_up() -> None:
    endless = replace(GOOD, tensors=(), extra_entries=string("x") + struct.pack("<IIQ", Kind.ARRAY, Kind.STRING, 2**24))
    file = replace(endless, num_entries=len(endless.metadata) + 1)
    hub = FarHub(file.header(), 30 * GB)
    with pytest.raises(ModelHeaderError, match="longer than 32 MB"):
        read_remote_header(hub, REPO, one_file())
    assert hub.sent <= MAX_FETCHED_BYTES + CHUNK


def test_a_stub_of_a_part_says_nothing_of_parts(tmp_path: Path) -> None:
    part = GOOD.with_metadata(split__count=(Kind.UINT16, 7), split__no=(Kind.UINT16, 0)).to_bytes()
    known = read_remote_header(FarHub(part, len(part)), REPO, one_file("m-00001-of-00007.gguf"))
    stub = write_stub(known.header, known.read_at, tmp_path / "stub.gguf")
    again = read_header(stub)
    assert not again.tensors
    entries = known.header.metadata.items()
    assert again.metadata == {key: value for key, value in entries if not key.startswith("split.")}
    assert judge_pairs(stub, [stub])[0].matches


def test_it_can_be_cancelled() -> None:
    hub = FarHub(GOOD.header(), GB)
    with pytest.raises(ModelHeaderError, match="cancelled"):
        read_remote_header(hub, REPO, one_file(), should_stop=lambda: True)
    assert hub.sent == 0
    stops = iter([False, True])
    with pytest.raises(ModelHeaderError, match="cancelled"):
        read_remote_header(hub, REPO, one_file(), should_stop=lambda: next(stops))


def test_a_side_file_is_refused_for_what_it_is(hub: LoopbackHub) -> None:
    with pytest.raises(ModelFileError, match=r"m is a projector, the image or sound part.* does not write text"):
        on_hub(hub, GOOD.with_metadata(general__type=(Kind.STRING, "mmproj")))


def test_a_draft_is_checked_before_it_is_here(hub: LoopbackHub) -> None:
    target = on_hub(hub, GOOD, "target.gguf")
    assert check_draft(target, on_hub(hub, tiny_llama(seed=2, n_ff=32), "draft.gguf")).coverage is None
    stranger = on_hub(hub, GOOD.with_metadata(tokenizer__ggml__bos_token_id=(Kind.UINT32, 7)), "stranger.gguf")
    other = check_draft(target, stranger)
    assert other.matches, "as a draft with another vocabulary"
    assert other.coverage == 1.0


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


# ---- damaged headers ---------------------------------------------------------------------------------------------


def test_300_damaged_headers_are_sentences_or_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_header, "MAX_FETCHED_BYTES", limit := 2**21)
    stubs, refused = [], []
    tracemalloc.start()
    for name, data in random_damage(tiny_llama(seed=3).to_bytes(), 300, seed=20261120):
        for size in (len(data), 30 * GB):
            hub = FarHub(data, size)
            try:
                known = read_remote_header(hub, REPO, one_file())
            except (ModelFileError, HubError) as error:
                refused.append(error.message)
            else:
                stubs.append(write_stub(known.header, known.read_at, tmp_path / f"{name}-{size}.gguf"))
            assert hub.sent <= min(hub.size, limit + CHUNK)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 * 2**20
    assert len(refused) > 100
    assert all(
        words.startswith("m ") and words.endswith(".") and words.isprintable() and len(words) < 400 for words in refused
    )
    assert len(stubs) > 100
    sound = GgufFile(tiny_llama().metadata).write(tmp_path / "sound.gguf")
    for verdict in judge_pairs(sound, stubs[:20]):  # accepted files are tried in the child: sentences there, too
        assert verdict.matches != bool(verdict.reason)
