"""The recommended pairs are well-formed, plausible, and match the hub's current data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import app
from app.core.domain.models import Drafting
from app.core.hub.client import HubClient
from app.core.hub.file_names import kind_of, quantization_of
from app.core.hub.pairs.catalog import (
    CatalogError,
    CatalogModel,
    CatalogPair,
    EntryStatus,
    MachineClass,
    check,
    read_catalog,
)
from tests.app.core.hub.loopback import Fault, LoopbackHub

CATALOG = Path(app.__file__).parents[1] / "assets" / "catalog.toml"
PAIRS = read_catalog(CATALOG)
PAIR = CatalogPair(
    "tiny", "Tiny", "Tiny", MachineClass.LAPTOP, "tests",
    CatalogModel("tiny/target-GGUF", "target-Q4_K_M.gguf", "Q4_K_M", "mit", 1000),
    CatalogModel("tiny/draft-GGUF", "*-Q8_0.gguf", "Q8_0", "mit", 100),
)  # fmt: skip


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.key)
def test_an_entry_is_plausible(pair: CatalogPair) -> None:
    assert not pair.verified, "true only for what a live hub and a load have confirmed"
    assert pair.family.lower() in pair.target.repo.lower()
    assert kind_of(pair.target.file).runs_alone
    for model in pair.models:
        assert quantization_of(model.file) in (model.quantization, "")
    if pair.draft is not None:
        assert pair.draft.size_bytes < 0.3 * pair.target.size_bytes
        assert kind_of(pair.draft.file).runs_alone is (pair.drafting is Drafting.DRAFT_MODEL)
    if pair.speedup is not None:
        assert 0.5 < pair.speedup.low <= pair.speedup.high < 3.0


def fill(hub: LoopbackHub, target_bytes: int = 1000, licence: str = "mit", draft: str = "draft-Q8_0.gguf") -> None:
    hub.add_file(PAIR.target.repo, PAIR.target.file, bytes(target_bytes))
    hub.add_file(PAIR.target.repo, "mmproj-target-Q4_K_M.gguf", bytes(10))
    hub.add_file(PAIR.draft.repo, draft, bytes(100))
    for repo in (PAIR.target.repo, PAIR.draft.repo):
        hub.describe(repo, tags=[f"license:{licence}"])


@pytest.fixture(name="client")
def fixture_client(hub: LoopbackHub) -> Iterator[HubClient]:
    client = HubClient(hub.url)
    yield client
    client.close()


def test_what_is_as_listed(hub: LoopbackHub, client: HubClient) -> None:
    fill(hub)
    result = check(PAIR, client)
    assert result.status is EntryStatus.THERE
    assert result.target is not None
    assert result.target.files[0].path == "target-Q4_K_M.gguf"
    assert result.draft is not None


@pytest.mark.parametrize(
    ("changes", "status", "words"),
    [
        ({"target_bytes": 2000}, EntryStatus.CHANGED, "not 0.0 GB as listed"),
        ({"licence": "other"}, EntryStatus.CHANGED, "is now other, not mit as listed"),
        ({"draft": "draft-Q2_K.gguf"}, EntryStatus.GONE, "tiny/draft-GGUF no longer holds *-Q8_0.gguf."),
    ],
)
def test_what_changed_is_reported(
    hub: LoopbackHub, client: HubClient, changes: dict[str, object], status: EntryStatus, words: str
) -> None:
    fill(hub, **changes)  # type: ignore[arg-type]
    result = check(PAIR, client)
    assert result.status is status
    assert words in result.sentence


def test_what_is_gone_gated_or_cannot_be_asked_is_told_apart(hub: LoopbackHub, client: HubClient) -> None:
    fill(hub)
    result = check(replace(PAIR, draft=replace(PAIR.draft, repo="tiny/gone-GGUF")), client)
    assert (result.status, result.sentence) == (EntryStatus.GONE, "tiny/gone-GGUF is no longer on the hub.")
    hub.refusals.append(Fault(status=401))
    assert check(PAIR, client).status is EntryStatus.GATED
    hub.refusals.extend([Fault(status=503)] * 2)
    assert check(PAIR, client).status is EntryStatus.UNKNOWN
    hub.describe(PAIR.target.repo, gated="manual")
    result = check(PAIR, client)
    assert result.status is EntryStatus.GATED
    assert "accept its terms" in result.sentence
    assert result.target is not None


def test_shards_fit_the_pattern_of_the_whole(hub: LoopbackHub, client: HubClient) -> None:
    fill(hub)
    hub.add_file("tiny/big-GGUF", "big-Q4_K_M-00001-of-00002.gguf", bytes(500))
    hub.add_file("tiny/big-GGUF", "big-Q4_K_M-00002-of-00002.gguf", bytes(500))
    target = replace(PAIR.target, repo="tiny/big-GGUF", file="big-Q4_K_M.gguf")
    result = check(replace(PAIR, target=target), client)
    assert result.target is not None
    assert len(result.target.files) == 2


@pytest.mark.parametrize("drafting", [Drafting.HEADS_INSIDE, Drafting.TEXT])
def test_an_entry_of_one_file_asks_for_one(hub: LoopbackHub, client: HubClient, drafting: Drafting) -> None:
    fill(hub)
    result = check(replace(PAIR, draft=None, drafting=drafting), client)
    assert (result.status, result.sentence) == (EntryStatus.THERE, "The hub has the model as listed here.")
    assert result.draft is None
    assert not any("draft-GGUF" in seen.path for seen in hub.requests)


def test_a_head_is_found_only_where_one_is_listed(hub: LoopbackHub, client: HubClient) -> None:
    fill(hub)
    hub.add_file(PAIR.target.repo, "mtp-target-Q8_0.gguf", bytes(100))
    head = CatalogModel(PAIR.target.repo, "*-Q8_0.gguf", "Q8_0", "mit", 100)
    found = check(replace(PAIR, draft=head, drafting=Drafting.SIDE_FILE), client)
    assert found.status is EntryStatus.THERE
    assert found.draft is not None
    assert found.draft.name == "mtp-target-Q8_0"
    assert check(replace(PAIR, draft=head), client).status is EntryStatus.GONE


GOOD_TEXT = CATALOG.read_text("utf-8")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("format = 2", "format = 1"),
        ('machine = "laptop"', 'machine = "fridge"'),
        ('repo = "bartowski/', 'repo = "../'),
        ('file = "Qwen', 'file = "../Qwen'),
        ("size_bytes = 530_000_000", "size_bytes = -1"),
        ("size_bytes = 530_000_000", 'size_bytes = "many"'),
        ("verified = false", "verified = 1"),
        ('key = "qwen3.5-9b"', 'key = "qwen3-8b"'),
        ('key = "qwen3.5-9b"', ""),
        ('drafting = "draft model"', 'drafting = "magic"'),
        ('drafting = "draft model"', 'drafting = "text"'),
        ('drafting = "heads inside"', 'drafting = "side file"'),
        ("low = 1.71", "low = -1.0"),
        ('source = "https:', 'source = "file:'),
        ("[[pair]]", "[[pair"),
        ('family = "', 'family = ""\n# "'),
    ],
)
def test_a_malformed_catalog_is_refused(tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "catalog.toml"
    assert old in GOOD_TEXT
    path.write_text(GOOD_TEXT.replace(old, new, 1), "utf-8")
    with pytest.raises(CatalogError, match=r"catalog\.toml"):
        read_catalog(path)
