"""Unusable heads give a sentence and a target that answers, never a crash."""

from functools import partial
from pathlib import Path

import pytest

from engine.errors import (
    DecodeError,
    DraftRefusedError,
    EngineError,
    ModelFileError,
    ModelLoadError,
    NotEnoughMemoryError,
)
from engine.gguf.header import read_header
from engine.heads.compatibility import check_head_file
from engine.heads.loading import LoadedHead
from engine.llama import hidden_rows
from engine.llama.head_context import HeadContext
from engine.loading.loading import LoadOptions
from engine.records import LoadRequest, Mode, Source
from engine.sandbox.probe import probe, probe_head
from engine.session import drafter_choice
from engine.session.session import Session
from tests.engine.answers import answer
from tests.engine.gguf_factory import GgufFile, Kind, tiny_llama
from tests.engine.heads.head_factory import eagle3_for, head_only, qwen35_with_mtp, stripped, tiny_hy_v3
from tests.engine.heads.head_sessions import load, longer
from tests.engine.hybrid_factory import tiny_qwen35

pytestmark = pytest.mark.usefixtures("warm_helpers")


def refused(folder: Path, target: GgufFile, head: GgufFile) -> str:
    """Why a head is not used; checks that the target still answers."""
    session, ready = load(folder, target, head)
    assert ready.draft is None
    assert len(answer(session, Mode.HEAD).token_ids) == 64
    session.close()
    (notice,) = [one for one in ready.notices if ready.unavailable[Mode.DRAFT] in one]
    assert notice
    return ready.unavailable[Mode.DRAFT]


def test_a_head_of_another_model_is_refused(tmp_path: Path) -> None:
    assert "states of 128 numbers, and the target's have 64" in refused(tmp_path, tiny_llama(), eagle3_for(width=128))
    assert "reads layer 9" in refused(tmp_path, tiny_llama(), eagle3_for(layers=(0, 1, 9)))
    assert "three layers" in refused(tmp_path, tiny_llama(), eagle3_for(layers=(0, 1)))
    other = eagle3_for()
    tokens = list(other.metadata["tokenizer.ggml.tokens"][1][1])
    tokens[260] = "z"
    other = other.with_metadata(tokenizer__ggml__tokens=(Kind.ARRAY, (Kind.STRING, tokens)))
    assert "another vocabulary" in refused(tmp_path, tiny_llama(), other)
    assert "architecture qwen35, and the target is llama" in refused(
        tmp_path, tiny_llama(), head_only(qwen35_with_mtp())
    )
    wider = head_only(qwen35_with_mtp()).with_metadata(qwen35__embedding_length=(Kind.UINT32, 128))
    assert "states of 128 numbers, and the target's have 64" in _reason_by_headers(tmp_path, tiny_qwen35(), wider)


def _reason_by_headers(folder: Path, target: GgufFile, head: GgufFile) -> str:
    files = [read_header(one.write(folder / f"{i}.gguf")) for i, one in enumerate((target, head))]
    with pytest.raises(DraftRefusedError) as raised:
        check_head_file(files[0], files[1])
    return raised.value.message


def test_a_target_whose_heads_were_left_out_says_so(tmp_path: Path) -> None:
    session, ready = load(tmp_path, stripped(tiny_hy_v3(num_layers=1)))
    reason = ready.unavailable[Mode.HEAD]
    assert ready.own_head is None
    assert reason.startswith("target.gguf says that it has next-token layers (MTP), but they are not in the file")
    assert f"without drafting: {reason}" in answer(session, Mode.HEAD).stats.decisions
    session.close()


def test_a_head_without_its_target_is_no_model(tmp_path: Path) -> None:
    for number, head in enumerate((eagle3_for(), head_only(qwen35_with_mtp()))):
        path = head.write(tmp_path / f"head{number}.gguf")
        with pytest.raises(ModelFileError, match=r"head\d\.gguf is .* of another model, and does not") as raised:
            probe(path)
        assert raised.value.advice == "Open that model, and choose this file as its draft."


def test_a_head_that_crashes_llama_cpp_leaves_the_target_plain(tmp_path: Path) -> None:
    """For Qwen3.5 llama.cpp supports one next-token layer, and ends the process if there are more."""
    path = qwen35_with_mtp(num_layers=3).write(tmp_path / "three.gguf")
    session = Session(inspect_head=partial(probe_head, cache_dir=tmp_path / "cache"))
    ready = session.load(LoadRequest(str(path), n_ctx=512))
    assert ready.own_head is None
    assert "crashed when it opened three.gguf" in ready.unavailable[Mode.HEAD]
    assert len(answer(session, Mode.AUTO).token_ids) == 64
    session.close()


def test_without_the_functions_of_llama_cpp_the_method_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = hidden_rows.function
    for lacking, target, head in (
        ("llama_set_embeddings_nextn", qwen35_with_mtp(), None),
        ("llama_get_embeddings_layer_inp", longer(tiny_llama), eagle3_for()),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(
                hidden_rows, "function", lambda name, lacking=lacking: None if name == lacking else find(name)
            )
            session, ready = load(tmp_path, target, head)
            reason = ready.unavailable[Mode.HEAD if head is None else Mode.DRAFT]
            assert f"This build of llama.cpp has no {lacking}" in reason
            assert len(answer(session, Mode.AUTO).token_ids) == 64
            session.close()


def test_heads_that_do_not_fit_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fit = drafter_choice.fit_context

    def without_room(paths: list[str], options: LoadOptions) -> LoadOptions:
        if options.heads:
            raise NotEnoughMemoryError("It needs about 9 GB; 1 GB are free.")
        return fit(paths, options)

    monkeypatch.setattr(drafter_choice, "fit_context", without_room)
    session, ready = load(tmp_path, qwen35_with_mtp())
    assert (ready.own_head, ready.unavailable[Mode.HEAD]) == (None, "It needs about 9 GB; 1 GB are free.")
    assert ready.has_heads
    assert len(answer(session, Mode.AUTO).token_ids) == 64
    session.close()


@pytest.mark.parametrize("is_cancelled", [True, False])
def test_refused_heads_end_only_a_cancelled_load(tmp_path: Path, is_cancelled: bool) -> None:
    def refuse(*_: object) -> None:
        raise ModelLoadError("The look at it was ended.")

    session = Session(inspect_head=refuse)
    session.is_load_cancelled = lambda: is_cancelled
    request = LoadRequest(str(qwen35_with_mtp().write(tmp_path / "own.gguf")), n_ctx=512)
    if is_cancelled:
        with pytest.raises(ModelLoadError, match="was ended"):
            session.load(request)
        assert not session.is_loaded
    else:
        assert "cannot be used: The look at it was ended." in session.load(request).unavailable[Mode.HEAD]
    session.close()


def test_a_draft_model_takes_the_place_of_the_heads_and_gives_it_back(tmp_path: Path) -> None:
    session, ready = load(tmp_path, qwen35_with_mtp())
    assert ready.unavailable == {Mode.DRAFT: "A head drafts for this model; choose a draft model to use this mode."}
    draft = str(tiny_qwen35(noise=0.1).write(tmp_path / "draft.gguf"))
    ready = session.set_draft(draft)
    assert (ready.own_head, ready.unavailable.keys()) == (None, {Mode.HEAD})
    assert answer(session, Mode.DRAFT, depth=3).stats.provenance.get(Source.DRAFT, 0) > 0
    with pytest.raises(EngineError):
        session.set_draft(str(tmp_path / "none.gguf"))
    ready = session.set_draft(None)
    assert ready.own_head is not None
    assert answer(session, Mode.HEAD, depth=3).stats.proposed > 50
    session.close()


def test_a_head_that_fails_leaves_the_answer_to_the_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session, _ready = load(tmp_path, qwen35_with_mtp())
    plain = answer(session, Mode.OFF).token_ids

    def fail(*_: object) -> None:
        raise DecodeError("The head's pass failed.")

    monkeypatch.setattr(HeadContext, "read", fail)
    end = answer(session, Mode.HEAD, depth=3)
    assert end.token_ids == plain
    assert any("draft left out: The head's pass failed." in why for why in end.stats.decisions)
    session.close()


def test_a_head_costs_nothing_where_it_does_not_draft(tmp_path: Path) -> None:
    session, _ready = load(tmp_path, qwen35_with_mtp())
    head = session._draft
    assert isinstance(head, LoadedHead)
    answer(session, Mode.HEAD, depth=2)
    assert head.tap.is_on
    answer(session, Mode.OFF)
    assert not head.tap.is_on
    assert head.tap.end == 0
    session.close()
