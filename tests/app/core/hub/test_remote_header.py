"""Tests headers and checks from the hub: requests, failures, results."""

from __future__ import annotations

import functools
import random
import struct
import tracemalloc
from collections.abc import Callable, Iterator
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
from engine.gguf.header import parse_header, read_header, write_stub
from engine.sandbox.probe import judge_pairs
from tests.app.core.hub.loopback import Fault, LoopbackHub
from tests.engine.damaged_files import random_damage
from tests.engine.geometries import GEOMETRIES
from tests.engine.gguf_factory import GgufFile, Kind, entry, string, tiny_llama
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


# ---- 500 strange headers -----------------------------------------------------------------------------------------


@functools.cache
def places_of_lengths(good: bytes) -> list[int]:
    """The offsets of small 8-byte numbers."""
    return [i for i in range(4, len(good) - 8) if good[i + 2 : i + 8] == bytes(6) and good[i : i + 2] != bytes(2)]


def strange_lengths(dice: random.Random, good: bytes) -> bytes:
    """Replace one of the header's 8-byte lengths or counts."""
    data = bytearray(good)
    number = dice.choice((0, 1, 2**16, 2**24, 2**31, 2**32, 2**63, 2**64 - 1, dice.randrange(2**40)))
    struct.pack_into("<Q", data, dice.choice(places_of_lengths(good)), number)
    return bytes(data)


def strange_counts(dice: random.Random, good: bytes) -> bytes:
    """Replace the number of tensors or of entries."""
    data = bytearray(good)
    number = dice.choice((0, 1, 5, 65536, 2**24, 2**40, 2**64 - 1, dice.randrange(100)))
    struct.pack_into("<Q", data, dice.choice((8, 16)), number)
    return bytes(data)


def strange_entries(dice: random.Random, good: bytes) -> bytes:
    """Add an entry: nested lists, endless texts, unknown types, invalid text."""
    extra = dice.choice(
        (
            struct.pack("<IIQ", Kind.ARRAY, Kind.ARRAY, dice.choice((1, 2**20))) * dice.choice((1, 2, 500)),
            struct.pack("<IIQ", Kind.ARRAY, dice.randrange(20), dice.randrange(2**24)),
            struct.pack("<IQ", Kind.STRING, dice.choice((2**24, 2**32, 100))),
            entry(Kind.STRING, bytes(dice.randrange(256) for _ in range(300))),
            struct.pack("<I", dice.randrange(13, 2**32)),
            entry(Kind.ARRAY, (Kind.UINT8, [7] * 4096)),
        )
    )
    key = dice.choice((b"x", b"\xff\xfe", b"llama.block_count", b"general.alignment", b"split.count", b"k" * 70_000))
    data = bytearray(good[:24] + string(key) + extra + good[24:])
    struct.pack_into("<Q", data, 16, struct.unpack_from("<Q", good, 16)[0] + 1)
    return bytes(data)


def strange_bytes(dice: random.Random, good: bytes) -> bytes:
    """Change bytes anywhere, or truncate the file."""
    ((_, data),) = random_damage(good, 1, dice.randrange(2**32))
    header_end = parse_header(lambda offset, n: good[offset : offset + n], len(good)).data_offset
    changed = bytearray(data if dice.random() < 0.5 else good)
    for _ in range(dice.choice((1, 4, 16))):
        changed[dice.randrange(min(header_end, len(changed)))] = dice.randrange(256)
    return bytes(changed)


STRANGE: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    strange_lengths,
    strange_counts,
    strange_entries,
    strange_bytes,
)


def test_500_strange_headers_are_sentences_or_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_header, "MAX_FETCHED_BYTES", limit := 2**21)
    dice = random.Random(20261120)  # noqa: S311  (reproducible, not secret)
    good = tiny_llama(seed=3).to_bytes()
    stubs, refused = [], []
    tracemalloc.start()
    for number in range(500):
        data = STRANGE[number % len(STRANGE)](dice, good)
        hub = FarHub(data, max(1, dice.choice((len(data), 2 * len(data), 30 * GB))))
        try:
            known = read_remote_header(hub, REPO, one_file())
        except (ModelFileError, HubError) as error:
            refused.append(error.message)
        else:
            stubs.append(write_stub(known.header, known.read_at, tmp_path / f"{number}.gguf"))
        assert hub.sent <= min(hub.size, limit + CHUNK)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 * 2**20
    assert len(refused) > 300
    assert all(
        words.startswith("m ") and words.endswith(".") and words.isprintable() and len(words) < 400 for words in refused
    )
    assert len(stubs) > 20
    sound = GgufFile(tiny_llama().metadata).write(tmp_path / "sound.gguf")
    for verdict in judge_pairs(sound, stubs[:20]):  # accepted files are tried in the child: sentences there, too
        assert verdict.matches != bool(verdict.reason)
