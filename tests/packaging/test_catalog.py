"""Checks the catalog with a hub: files, sizes, and headers that show whether an entry drafts as listed."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.core.domain.models import Drafting
from app.core.hub.client import HubClient
from app.core.hub.pairs.catalog import CatalogModel, CatalogPair
from tests.app.core.hub.conftest import hub
from tests.app.core.hub.loopback import Fault, LoopbackHub
from tests.engine.gguf_factory import GgufFile, Kind, tiny_llama
from tests.engine.heads.head_factory import eagle3_for, head_only, qwen35_with_mtp, stripped
from tests.scripts import load_script

__all__ = ["hub"]

script = load_script("catalog.py")
verify = script.verify
TARGET_REPO, DRAFT_REPO = "tiny/target-GGUF", "tiny/draft-GGUF"
LLAMA, WITH_HEADS = tiny_llama(n_ff=9600), qwen35_with_mtp()


@pytest.fixture(name="client")
def fixture_client(hub: LoopbackHub) -> Iterator[HubClient]:
    client = HubClient(hub.url)
    yield client
    client.close()


def listed(
    hub: LoopbackHub, drafting: Drafting, target: GgufFile, draft: GgufFile | None = None, draft_name: str = "draft"
) -> CatalogPair:
    """A catalog entry for files on the hub."""

    def put(repo: str, name: str, file: GgufFile) -> CatalogModel:
        data = file.to_bytes()
        hub.add_file(repo, name, data)
        hub.describe(repo, tags=["license:mit"])
        return CatalogModel(repo, name, "Q8_0", "mit", len(data))

    first = put(TARGET_REPO, "target-Q8_0.gguf", target)
    second = put(DRAFT_REPO, f"{draft_name}-Q8_0.gguf", draft) if draft is not None else None
    return CatalogPair("tiny", "Tiny", "Tiny", "tests", first, second, drafting)


def test_a_pair_that_is_as_listed_is_confirmed(hub: LoopbackHub, client: HubClient) -> None:
    found = verify(listed(hub, Drafting.DRAFT_MODEL, LLAMA, tiny_llama(n_ff=32)), client)
    assert found.is_confirmed
    assert found.sentence == ""
    assert [file.path for file in found.files] == ["target-Q8_0.gguf", "draft-Q8_0.gguf"]
    assert found.files[0].size_bytes == len(LLAMA.to_bytes())
    assert len(found.files[0].sha256) == 64


def test_only_headers_are_fetched(hub: LoopbackHub, client: HubClient) -> None:
    target = tiny_llama(n_ff=200_000)
    found = verify(listed(hub, Drafting.TEXT, target), client)
    assert found.is_confirmed
    assert hub.bytes_sent[f"{TARGET_REPO}/target-Q8_0.gguf"] < 0.5 * len(target.to_bytes())


def test_heads_inside_are_looked_for_in_the_header(hub: LoopbackHub, client: HubClient) -> None:
    found = verify(listed(hub, Drafting.HEADS_INSIDE, WITH_HEADS), client)
    assert found.is_confirmed


@pytest.mark.parametrize("file", [LLAMA, stripped(WITH_HEADS)], ids=["without", "left out"])
def test_heads_that_are_not_inside_are_reported(hub: LoopbackHub, client: HubClient, file: GgufFile) -> None:
    found = verify(listed(hub, Drafting.HEADS_INSIDE, file), client)
    assert changed(found) == (True, False, False)
    assert "target-Q8_0 has no next-token layers (MTP), though the list says so." in found.sentence


@pytest.mark.parametrize(
    ("target", "head", "name"),
    [(WITH_HEADS, head_only(WITH_HEADS), "mtp-target"), (tiny_llama(), eagle3_for(), "eagle3-target")],
)
def test_a_side_file_belongs_to_its_target(
    hub: LoopbackHub, client: HubClient, target: GgufFile, head: GgufFile, name: str
) -> None:
    found = verify(listed(hub, Drafting.SIDE_FILE, target, head, name), client)
    assert found.is_confirmed, found.sentence


@pytest.mark.parametrize(
    ("drafting", "draft", "name", "words"),
    [
        (Drafting.SIDE_FILE, tiny_llama(n_ff=32), "mtp-target", "mtp-target-Q8_0 is not a head, though the list says"),
        (Drafting.SIDE_FILE, eagle3_for(width=96), "eagle3-target", "96"),
        (Drafting.DRAFT_MODEL, eagle3_for(), "draft", "draft-Q8_0 is a head, not a draft model as listed."),
        (
            Drafting.DRAFT_MODEL,
            tiny_llama(n_ff=32).with_metadata(tokenizer__ggml__eos_token_id=(Kind.UINT32, 9)),
            "draft",
            "draft-Q8_0 has another vocabulary than its target.",
        ),
    ],
    ids=["no head", "of another width", "a head", "another vocabulary"],
)
def test_a_draft_that_is_not_as_listed_is_reported(
    hub: LoopbackHub, client: HubClient, drafting: Drafting, draft: GgufFile, name: str, words: str
) -> None:
    found = verify(listed(hub, drafting, tiny_llama(), draft, name), client)
    assert changed(found) == (True, False, False)
    assert words in found.sentence


def changed(found: Any) -> tuple[bool, bool | None, bool]:  # noqa: ANN401 (of a script)
    return found.is_as_listed, found.drafts_as_listed, found.is_confirmed


def test_a_half_that_is_gone_leaves_the_verdict_open(hub: LoopbackHub, client: HubClient) -> None:
    pair = listed(hub, Drafting.DRAFT_MODEL, LLAMA, tiny_llama(n_ff=32))
    assert pair.draft is not None
    found = verify(replace(pair, draft=replace(pair.draft, file="none-Q8_0.gguf")), client)
    assert changed(found) == (False, None, False)
    assert [file.path for file in found.files] == ["target-Q8_0.gguf"]


def test_a_file_that_is_no_model_and_a_hub_that_fails_are_reported(hub: LoopbackHub, client: HubClient) -> None:
    pair = listed(hub, Drafting.TEXT, LLAMA)
    hub.add_file(TARGET_REPO, "target-Q8_0.gguf", bytes(pair.target.size_bytes))
    found = verify(pair, client)
    assert changed(found) == (True, None, False)
    assert "target-Q8_0 is damaged or not a model" in found.sentence
    hub.refusals.extend([Fault(status=503)] * 20)
    assert changed(verify(pair, client)) == (False, None, False)


def test_what_was_found_is_printed_and_written(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pair, out = listed(hub, Drafting.HEADS_INSIDE, WITH_HEADS), tmp_path / "found.json"
    gone = replace(pair, key="gone", target=replace(pair.target, file="none-Q8_0.gguf"))
    monkeypatch.setattr(script, "read_catalog", lambda _path: (pair, gone))
    assert script.main(["tiny", "--json", str(out)]) == 0
    assert capsys.readouterr().out == "tiny: ok.\n\n1 of 1 confirmed.\n"
    written = json.loads(out.read_text("utf-8"))
    assert written["hub"] == hub.url
    assert [(one["key"], len(one["files"])) for one in written["entries"]] == [("tiny", 1)]
    assert script.main([]) == 1
    assert capsys.readouterr().out.endswith("1 of 2 confirmed.\n")
    with pytest.raises(SystemExit):
        script.main(["no-such"])
    assert "no entry no-such; there are tiny, gone" in capsys.readouterr().err
