"""The recommended pairs are well-formed, plausible, and match the hub's current data."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import app
from app.core.domain.models import Drafting
from app.core.hub.client import HubClient
from app.core.hub.file_names import check_repo_id, kind_of, quantization_of, safe_parts
from app.core.hub.pairs.catalog import (
    CatalogError,
    CatalogModel,
    CatalogPair,
    check,
    read_catalog,
)
from tests.app.core.hub.loopback import Fault, LoopbackHub

CATALOG = Path(app.__file__).parents[1] / "assets" / "catalog.toml"
PAIRS = read_catalog(CATALOG)
PAIR = CatalogPair(
    "tiny", "Tiny", "Tiny", "tests",
    CatalogModel("tiny/target-GGUF", "target-Q4_K_M.gguf", "Q4_K_M", "mit", 1000),
    CatalogModel("tiny/draft-GGUF", "*-Q8_0.gguf", "Q8_0", "mit", 100),
)  # fmt: skip


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.key)
def test_an_entry_is_plausible(pair: CatalogPair) -> None:
    assert pair.verified is False, "true only for what a live hub and a load have confirmed"
    assert pair.thinks in (False, True)
    assert all(text.strip() for text in (pair.key, pair.name, pair.family, pair.good_for))
    assert (pair.drafting in (Drafting.DRAFT_MODEL, Drafting.SIDE_FILE)) is (pair.draft is not None)
    assert pair.family.lower() in pair.target.repo.lower()
    assert kind_of(pair.target.file).runs_alone
    for model in pair.models:
        assert quantization_of(model.file) in (model.quantization, "")
        assert check_repo_id(model.repo)
        assert safe_parts(model.file.replace("*", "x"))
        assert model.licence
        assert model.size_bytes > 0
    if pair.draft is not None:
        assert pair.draft.size_bytes < 0.3 * pair.target.size_bytes
        assert kind_of(pair.draft.file).runs_alone is (pair.drafting is Drafting.DRAFT_MODEL)


def test_keys_are_unique() -> None:
    assert len({pair.key for pair in PAIRS}) == len(PAIRS)


def fill(hub: LoopbackHub, draft: str = "draft-Q8_0.gguf") -> None:
    hub.add_file(PAIR.target.repo, PAIR.target.file, bytes(1000))
    hub.add_file(PAIR.target.repo, "mmproj-target-Q4_K_M.gguf", bytes(10))
    hub.add_file(PAIR.draft.repo, draft, bytes(100))


@pytest.fixture(name="client")
def fixture_client(hub: LoopbackHub) -> Iterator[HubClient]:
    client = HubClient(hub.url)
    yield client
    client.close()


def test_what_is_as_listed(hub: LoopbackHub, client: HubClient) -> None:
    fill(hub)
    result = check(PAIR, client)
    assert (result.sentence, result.is_answered) == ("", True)
    assert result.target is not None
    assert result.target.files[0].path == "target-Q4_K_M.gguf"
    assert result.draft is not None


def test_what_is_gone_or_cannot_be_asked_is_told_apart(hub: LoopbackHub, client: HubClient) -> None:
    fill(hub, draft="draft-Q2_K.gguf")
    result = check(PAIR, client)
    assert (result.is_answered, result.draft) == (True, None)
    assert result.sentence == "tiny/draft-GGUF no longer holds *-Q8_0.gguf."
    result = check(replace(PAIR, draft=replace(PAIR.draft, repo="tiny/gone-GGUF")), client)
    assert (result.is_answered, result.sentence) == (True, "tiny/gone-GGUF is no longer on the hub.")
    hub.refusals.extend([Fault(status=503)] * 2)
    assert not check(PAIR, client).is_answered


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
    assert result.draft is None
    assert not any("draft-GGUF" in seen.path for seen in hub.requests)


def test_a_head_is_found_only_where_one_is_listed(hub: LoopbackHub, client: HubClient) -> None:
    fill(hub)
    hub.add_file(PAIR.target.repo, "mtp-target-Q8_0.gguf", bytes(100))
    head = CatalogModel(PAIR.target.repo, "*-Q8_0.gguf", "Q8_0", "mit", 100)
    found = check(replace(PAIR, draft=head, drafting=Drafting.SIDE_FILE), client)
    assert found.draft is not None
    assert found.draft.name == "mtp-target-Q8_0"
    assert check(replace(PAIR, draft=head), client).draft is None


GOOD_TEXT = CATALOG.read_text("utf-8")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('key = "qwen3.5-9b"', ""),
        ('drafting = "draft model"', 'drafting = "magic"'),
        ("[[pair]]", "[[pair"),
        ('family = "', 'families = "'),
    ],
)
def test_a_malformed_catalog_is_refused(tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "catalog.toml"
    assert old in GOOD_TEXT
    path.write_text(GOOD_TEXT.replace(old, new, 1), "utf-8")
    with pytest.raises(CatalogError, match=r"catalog\.toml"):
        read_catalog(path)
