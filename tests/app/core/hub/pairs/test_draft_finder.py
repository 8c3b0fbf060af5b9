"""Tests drafts for a target: found everywhere, ordered, rejected ones with a reason, never without an explanation."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.domain.models import Drafting, DraftList, DraftOrigin, FileKind, VocabularyMatch
from app.core.hub.client import HubClient
from app.core.hub.file_names import kind_of
from app.core.hub.pairs.catalog import CatalogModel, CatalogPair
from app.core.hub.pairs.draft_finder import find_drafts
from app.core.hub.records import LibraryModel, Origin
from app.core.hub.remote_header import KnownModel, read_local_header
from engine.errors import ModelFileError
from tests.app.core.hub.loopback import Fault, LoopbackHub
from tests.engine.gguf_factory import Kind, tiny_llama
from tests.engine.heads.head_factory import eagle3_for, head_only, qwen35_with_mtp
from tests.engine.heads.head_sessions import KINDS

pytestmark = pytest.mark.usefixtures("warm_helpers")

TARGET = tiny_llama(n_ff=9600).with_metadata(general__basename=(Kind.STRING, "Tiny-2.5"))
DRAFT = tiny_llama(n_ff=32)
STRANGER = DRAFT.with_metadata(tokenizer__ggml__bos_token_id=(Kind.UINT32, 7))


@pytest.fixture(name="target")
def fixture_target(tmp_path: Path) -> KnownModel:
    return read_local_header(TARGET.write(tmp_path / "Tiny-2.5-7B-Q4_0.gguf"))


@pytest.fixture(name="client")
def fixture_client(hub: LoopbackHub) -> Iterator[HubClient]:
    client = HubClient(hub.url)
    yield client
    client.close()


def here(path: Path, kind: FileKind = FileKind.MODEL, *, missing: bool = False) -> LibraryModel:
    return LibraryModel(path.stem, (path,), kind, Origin.IN_PLACE, missing=missing)


def reasons(search: DraftList, match: VocabularyMatch = VocabularyMatch.NO) -> dict[str, str]:
    return {candidate.name: candidate.reason for candidate in search.having(match)}


def unchecked(search: DraftList) -> dict[str, str]:
    return reasons(search, VocabularyMatch.UNCHECKED)


def test_an_empty_machine_is_reported_in_words(target: KnownModel) -> None:
    search = find_drafts(target, ())
    assert search.rows == ()
    assert search.words.startswith("There is no other model on this computer that could draft for Tiny-2.5-7B")
    assert "n-gram mode" in search.words


def test_models_here_are_judged_by_their_headers(target: KnownModel, tmp_path: Path) -> None:
    good, stranger = DRAFT.write(tmp_path / "draft.gguf"), STRANGER.write(tmp_path / "stranger.gguf")
    big = tiny_llama(n_ff=9600, seed=1).write(tmp_path / "big.gguf")
    half = tiny_llama(n_ff=4000).write(tmp_path / "half.gguf")
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF")
    head = eagle3_for(TARGET).write(tmp_path / "eagle3-tiny.gguf")
    other_head = eagle3_for(TARGET, width=96).write(tmp_path / "eagle3-other.gguf")
    assert target.path is not None
    library = [
        here(target.path), here(half), here(good), here(stranger), here(big), here(broken), here(head),
        here(other_head, FileKind.EAGLE),
        here(tmp_path / "gone.gguf", missing=True), here(tmp_path / "mmproj.gguf", FileKind.MMPROJ),
    ]  # fmt: skip
    search = find_drafts(target, library)
    matching = {candidate.name: candidate for candidate in search.matching}
    assert {name: (one.coverage, one.head) for name, one in matching.items()} == {
        "draft": (None, ""), "half": (None, ""), "eagle3-tiny": (None, "EAGLE-3"), "stranger": (1.0, "")
    }  # fmt: skip
    assert [name for name in matching if name != "eagle3-tiny"] == ["draft", "half", "stranger"], "the cheapest first"
    first = matching["draft"]
    assert (first.place, first.path) == (DraftOrigin.HERE, good)
    assert first.cost_share is not None
    assert 0.01 < first.cost_share < 0.1
    assert first.reason == ""
    told = reasons(search)
    assert "too large for this target to make it faster" in told["big"]
    assert told["broken"].startswith("broken.gguf is damaged or not a model")
    assert told["eagle3-other"].endswith("it belongs to another model.")
    assert unchecked(search) == {"gone": "Its file has been moved or deleted."}
    assert told["mmproj"] == "It is the image or sound part of another model."
    assert search.words.startswith("4 of 8 can draft for Tiny-2.5-7B-Q4_0. Could not be checked: 1; see the reasons.")


@pytest.mark.parametrize("kind", [kind for kind, (_, head) in KINDS.items() if head is not None])
def test_heads_of_every_family_are_found_by_their_headers(kind: str, tmp_path: Path) -> None:
    make_target, make_head = KINDS[kind]
    assert make_head is not None
    is_llama = make_target().metadata["general.architecture"][1] == "llama"
    path = (TARGET if is_llama else make_target()).write(tmp_path / "target.gguf")  # large enough for a gain
    name = f"{kind.split(maxsplit=1)[0]}-target.gguf"
    head = make_head().write(tmp_path / name)
    search = find_drafts(read_local_header(path), [here(head, kind_of(name))])
    assert [(one.path, bool(one.head)) for one in search.matching] == [(head, True)], search.rows


def test_a_copy_of_the_target_and_a_second_copy_of_a_draft_are_not_listed(target: KnownModel, tmp_path: Path) -> None:
    (tmp_path / "copies").mkdir()
    assert target.path is not None
    paths = [
        TARGET.write(tmp_path / "copies" / target.path.name), DRAFT.write(tmp_path / "draft.gguf"),
        DRAFT.write(tmp_path / "copies" / "draft.gguf"),
    ]  # fmt: skip
    library = [replace(here(path), size_bytes=path.stat().st_size) for path in paths]
    search = find_drafts(target, library)
    assert [one.path for one in search.rows] == [paths[1]]
    assert search.words.startswith("1 of 1 can draft")


def test_recommended_drafts_of_the_family_come_after_those_here(
    target: KnownModel, tmp_path: Path, hub: LoopbackHub, client: HubClient
) -> None:
    hub.add_file("good/Tiny-2.5-0.1B-GGUF", "Tiny-2.5-0.1B-Q8_0.gguf", DRAFT.to_bytes())
    listed = CatalogModel("good/Tiny-2.5-0.1B-GGUF", "*-q8_0.gguf", "Q8_0", "mit", 10**6)
    foreign = CatalogModel("no/Such-GGUF", "x.gguf", "Q8_0", "mit", 10**6)
    other = CatalogModel("other/Family-GGUF", "x.gguf", "Q8_0", "mit", 10**6)
    catalog = [
        CatalogPair("a", "A", "Tiny-2.5", "tests", listed, listed),
        CatalogPair("b", "B", "Tiny-2.5", "tests", listed, foreign),
        CatalogPair("c", "C", "Other", "tests", foreign, other),
    ]
    seen: list[DraftList] = []
    library = [here(DRAFT.write(tmp_path / "draft.gguf"))]
    search = find_drafts(target, library, catalog, client, on_progress=seen.append)
    assert [(one.name, one.place) for one in search.matching] == [
        ("draft", DraftOrigin.HERE),
        ("Tiny-2.5-0.1B-Q8_0", DraftOrigin.RECOMMENDED),
    ]
    assert [len(one.matching) for one in seen] == [1]
    assert reasons(search) == {"Such-GGUF": "no/Such-GGUF does not exist."}


def test_side_files_of_the_list_are_judged_by_their_headers(
    tmp_path: Path, hub: LoopbackHub, client: HubClient
) -> None:
    whole = qwen35_with_mtp().with_metadata(general__basename=(Kind.STRING, "Tiny-2.5"))
    with_heads = read_local_header(whole.write(tmp_path / "target.gguf"))
    hub.add_file("good/Tiny-2.5-GGUF", "Tiny-2.5-Q8_0.gguf", whole.to_bytes())
    hub.add_file("good/Tiny-2.5-GGUF", "mtp-Tiny-2.5-Q8_0.gguf", head_only(whole).to_bytes())
    listed = CatalogModel("good/Tiny-2.5-GGUF", "mtp-*.gguf", "Q8_0", "mit", 10**6)
    catalog = [CatalogPair("a", "A", "Tiny-2.5", "tests", listed, listed, drafting=Drafting.SIDE_FILE)]
    search = find_drafts(with_heads, (), catalog, client)
    assert [(one.name, one.head, one.place) for one in search.matching] == [
        ("mtp-Tiny-2.5-Q8_0", "MTP", DraftOrigin.RECOMMENDED)
    ]
    assert search.matching[0].cost_share is not None
    assert search.words.startswith("target drafts for itself: it has a next-token layer (MTP).")


def test_it_can_be_cancelled(target: KnownModel, tmp_path: Path) -> None:
    library = [here(DRAFT.write(tmp_path / "draft.gguf"))]
    with pytest.raises(ModelFileError, match="cancelled"):
        find_drafts(target, library, should_stop=lambda: True)


def test_drafts_that_the_hub_no_longer_has_or_cannot_give_are_told(
    target: KnownModel, hub: LoopbackHub, client: HubClient
) -> None:
    hub.add_file("good/Tiny-2.5-0.1B-GGUF", "Tiny-2.5-0.1B-Q8_0.gguf", DRAFT.to_bytes())
    listed = CatalogModel("good/Tiny-2.5-0.1B-GGUF", "*-q2_k.gguf", "Q2_K", "mit", 10**6)
    catalog = [CatalogPair("a", "A", "Tiny-2.5", "tests", listed, listed)]
    told = reasons(find_drafts(target, (), catalog, client))
    assert "The hub no longer has *-q2_k.gguf in good/Tiny-2.5-0.1B-GGUF." in told.values()
    hub.faults.extend([Fault(status=503)] * 20)
    listed = replace(listed, file="*-q8_0.gguf")
    search = find_drafts(target, (), [replace(catalog[0], draft=listed)], client)
    assert "HTTP 503" in unchecked(search)["Tiny-2.5-0.1B-Q8_0"]
    assert not search.having(VocabularyMatch.NO), "nothing is known against it"
    assert search.words.startswith("The n-gram mode needs no draft.")
