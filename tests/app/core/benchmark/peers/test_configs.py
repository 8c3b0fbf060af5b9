"""Tests the peers' configurations: the server options of each name, and invalid names."""

from dataclasses import replace

import pytest

from app.core.benchmark.peers.llama_server import (
    ServerDrafter,
    default_configs,
    drafter_of,
    offered_kinds,
    server_arguments,
)
from engine.records import EngineReady
from tests.app.fakes import info

DRAFTS = ("draft-simple", "draft-eagle3", "draft-mtp")
KINDS = (*DRAFTS, "ngram-simple", "ngram-map-k4v", "ngram-mod", "ngram-cache")
DRAFT = ServerDrafter(path="d.gguf")
HELP = """
--spec-draft-n-max N                    number of tokens to draft
--spec-type none,draft-simple,draft-eagle3,draft-mtp,ngram-simple,ngram-map-k4v,ngram-mod,ngram-cache
                                        comma-separated list of types
"""


def test_the_kinds_are_those_of_the_help() -> None:
    assert offered_kinds(HELP) == KINDS
    with pytest.raises(ValueError, match="does not know --spec-type"):
        offered_kinds("usage: server [options]")


def test_all_are_measured_and_none_that_needs_what_is_not_there() -> None:
    ngrams = KINDS[len(DRAFTS) :]
    drafts = ("draft-1", "draft-3", "draft-5", "draft-7")
    tuned = ("ngram-simple:4:16", "ngram-mod:6:16")
    both = "draft-3+ngram-simple:4:16"
    assert default_configs(KINDS, has_draft=True) == ("plain", *drafts, *ngrams, *tuned, both)
    assert default_configs(KINDS, has_draft=False) == ("plain", *ngrams, *tuned)
    assert default_configs(("ngram-mod",), has_draft=True) == ("plain", *drafts, "ngram-mod", "ngram-mod:6:16")
    for config in default_configs(KINDS, has_draft=True):
        server_arguments(config, DRAFT, KINDS)


@pytest.mark.parametrize(
    ("config", "arguments"),
    [
        ("plain", ""),
        ("draft-5", "--spec-type draft-simple --spec-draft-model d.gguf --spec-draft-n-max 5"),
        ("ngram-cache", "--spec-type ngram-cache"),
        (
            "ngram-map-k4v:4:16",
            "--spec-type ngram-map-k4v --spec-ngram-map-k4v-size-n 4 --spec-ngram-map-k4v-size-m 16",
        ),
        (
            "ngram-mod:6:16",
            "--spec-type ngram-mod --spec-ngram-mod-n-match 6 --spec-ngram-mod-n-max 16 --spec-ngram-mod-n-min 1",
        ),
        (
            "draft-3+ngram-simple",
            "--spec-type draft-simple,ngram-simple --spec-draft-model d.gguf --spec-draft-n-max 3",
        ),
    ],
)
def test_a_name_becomes_options(config: str, arguments: str) -> None:
    assert server_arguments(config, DRAFT, KINDS) == arguments.split()


@pytest.mark.parametrize("config", ["fast", "draft-", "ngram-magic", "ngram-cache:2:3", "draft-3+", ""])
def test_a_name_without_meaning_is_refused(config: str) -> None:
    with pytest.raises(ValueError, match=r"ngram-cache|none of plain"):
        server_arguments(config, DRAFT, KINDS)


def test_what_drafts_here_drafts_there() -> None:
    target = info("t.gguf")
    head_file = replace(info("h.gguf"), head_method="EAGLE-3")
    for ready, drafter, arguments in (
        (EngineReady(target), None, ""),
        (EngineReady(target, info("d.gguf")), DRAFT, "draft-simple --spec-draft-model d.gguf"),
        (
            EngineReady(target, head_file),
            ServerDrafter("draft-eagle3", "h.gguf"),
            "draft-eagle3 --spec-draft-model h.gguf",
        ),
        (
            EngineReady(target, replace(head_file, head_method="MTP")),
            ServerDrafter("draft-mtp", "h.gguf"),
            "draft-mtp --spec-draft-model h.gguf",
        ),
        (EngineReady(target, own_head=replace(target, head_method="MTP")), ServerDrafter("draft-mtp"), "draft-mtp"),
    ):
        assert drafter_of(ready) == drafter
        if drafter is not None:
            told = ["--spec-type", *arguments.split(), "--spec-draft-n-max", "3"]
            assert server_arguments("draft-3", drafter, KINDS) == told
