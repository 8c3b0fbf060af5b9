"""Tests the binding to llama.cpp on real files: passes, rows, rollback, vocabulary, rejections."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import DecodeError, ModelLoadError, ModelNotFoundError
from engine.llama import library
from engine.llama.context import N_BATCH, ContextParams, LlamaContext
from engine.llama.model import LlamaModel
from tests.engine.gguf_factory import Kind, tiny_llama
from tests.shared_files import shared_file, shared_model


@pytest.fixture(scope="module")
def model() -> Iterator[LlamaModel]:
    with LlamaModel(shared_model("stories260K-f16.gguf")) as model:
        yield model


@pytest.fixture
def context(model: LlamaModel) -> Iterator[LlamaContext]:
    with LlamaContext(model, ContextParams(n_ctx=512, threads=1)) as context:
        yield context


def test_facts_of_a_real_file(model: LlamaModel) -> None:
    assert (model.architecture, model.n_ctx_train, model.num_params) == ("llama", 512, 292_800)
    assert (model.vocab.n_vocab, model.vocab.type_name, model.vocab.add_bos) == (512, "SPM", True)
    assert model.chat_template is None
    assert not model.is_recurrent
    assert model.metadata("no.such.key") is None


@pytest.mark.parametrize("length", [0, 1, 254, 255, 256, 257, 5000])
def test_an_entry_of_any_length_is_read_whole(tmp_path: Path, length: int) -> None:
    text = "ü" * (length // 2) + "x" * (length % 2)
    path = tiny_llama().with_metadata(general__description=(Kind.STRING, text)).write(tmp_path / "told.gguf")
    with LlamaModel(path, vocab_only=True) as told:
        assert told.metadata("general.description") == text


def test_one_pass_gives_the_rows_of_single_passes(context: LlamaContext, model: LlamaModel) -> None:
    ids = model.vocab.tokenize("Once upon a time there was", special=True, add_bos=True)
    single = np.array([context.forward([token_id], 1)[0].copy() for token_id in ids])
    context.clear()
    together = context.forward(ids, len(ids)).copy()
    np.testing.assert_allclose(together, single, atol=0.02)
    np.testing.assert_array_equal(together.argmax(axis=1), single.argmax(axis=1))


def test_only_the_last_rows_are_computed(context: LlamaContext) -> None:
    whole = context.forward([1, 403, 407, 261], 4).copy()
    context.clear()
    np.testing.assert_array_equal(context.forward([1, 403, 407, 261], 2), whole[2:])


def test_rollback_forgets(context: LlamaContext) -> None:
    before = context.forward([1, 403, 407], 1)[0].copy()
    context.forward([9, 10, 11], 0)
    assert context.rollback(2)
    assert context.num_past == 2
    np.testing.assert_allclose(context.forward([407], 1)[0], before, atol=0.02)


def test_what_was_read_can_be_copied_out_and_back(context: LlamaContext) -> None:
    assert context.export_state() is None
    context.forward([1, 403, 407, 261], 0)
    state = context.export_state()
    assert state is not None
    assert len(state) == context.state_bytes
    row = context.forward([378], 1)[0].copy()
    context.clear()
    context.forward([9, 10, 11], 0)
    assert context.import_state(state, 4)
    assert context.num_past == 4
    np.testing.assert_array_equal(context.forward([378], 1)[0], row)


def test_a_copy_that_is_damaged_or_of_other_tokens_is_refused(context: LlamaContext) -> None:
    row = context.forward([1, 403, 407], 1)[0].copy()
    state = context.export_state()
    assert state is not None
    for damaged, num_past in ((state[: len(state) // 2].copy(), 3), (state, 4), (state[:0].copy(), 3)):
        assert not context.import_state(damaged, num_past)
        assert context.num_past == 0
        np.testing.assert_array_equal(context.forward([1, 403, 407], 1)[0], row)


def test_a_kept_state_is_of_no_use_behind_where_it_was_kept() -> None:
    with (
        LlamaModel(shared_model("tiny-rwkv7-834K-f32.gguf")) as model,
        LlamaContext(model, ContextParams(256, 1)) as context,
    ):
        first = context.forward([5, 6], 1)[0].copy()
        assert context.save()
        context.forward([7], 0)
        assert context.restore()
        assert context.num_past == 2
        context.clear()
        assert not context.restore()
        np.testing.assert_array_equal(context.forward([5, 6], 1)[0], first)


def test_a_full_context_is_an_error_and_loses_nothing(context: LlamaContext) -> None:
    context.forward(np.ones(N_BATCH, dtype=np.int32), 0)
    with pytest.raises(DecodeError, match="full"):
        context.forward([1], 1)
    assert context.num_past == 512
    assert context.rollback(500)
    assert context.forward([1], 1).shape == (1, 512)


def test_a_batch_outside_its_bounds_is_a_mistake_of_ours(context: LlamaContext) -> None:
    for ids, rows in (([], 0), ([1], 2), ([1] * (N_BATCH + 1), 1)):
        with pytest.raises(ValueError, match="outside the batch"):
            context.forward(ids, rows)


def test_a_recurrent_memory_refuses_a_partial_rollback() -> None:
    with (
        LlamaModel(shared_model("tiny-rwkv7-834K-f32.gguf")) as model,
        LlamaContext(model, ContextParams(256, 1)) as context,
    ):
        context.forward([5, 6, 7], 1)
        assert not context.rollback(2)
        assert context.num_past == 3
        assert context.rollback(0)


def test_refusals_say_why(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match="no file"):
        LlamaModel(tmp_path / "absent.gguf")
    text = tmp_path / "text.gguf"
    text.write_text("This is not a model at all, but a text that is long enough to be read.")
    with pytest.raises(ModelLoadError, match="invalid magic"):
        LlamaModel(text)
    with pytest.raises(ModelLoadError, match="cancelled"):
        LlamaModel(shared_model("stories260K-f16.gguf"), progress=lambda _fraction: False)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("the window is gone")])
def test_what_happens_while_it_loads_ends_the_load_as_itself(error: BaseException) -> None:
    """Ctrl+C must not be reported as a rejected file with a traceback."""

    def progress(_fraction: float) -> bool:
        raise error

    with pytest.raises(type(error)) as raised:
        LlamaModel(shared_model("stories260K-f16.gguf"), progress=progress)
    assert raised.value is error


def test_ctrl_c_while_llama_cpp_logs_a_line_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(library, "_record_line", interrupted)
        with pytest.raises(KeyboardInterrupt):
            LlamaModel(shared_model("stories260K-f16.gguf"))
    LlamaModel(shared_model("stories260K-f16.gguf")).close()


def test_a_failed_pass_is_not_reported_with_the_reason_of_something_else(context: LlamaContext, tmp_path: Path) -> None:
    text = tmp_path / "text.gguf"
    text.write_text("This is not a model at all, but a text that is long enough to be read.")
    with pytest.raises(ModelLoadError, match="invalid magic"):
        LlamaModel(text)
    lib = library.start()
    abort = lib.ggml_abort_callback(lambda _data: True)
    lib.llama_set_abort_callback(context.handle, abort, None)
    with pytest.raises(DecodeError, match=r"code 2") as failure:
        context.forward([1, 2], 1)
    assert "magic" not in failure.value.message
    lib.llama_set_abort_callback(context.handle, lib.ggml_abort_callback(), None)
    assert context.forward([1], 1).shape == (1, 512)


@pytest.fixture(scope="module")
def qwen() -> Iterator[LlamaModel]:
    with LlamaModel(shared_file("vocabs/ggml-vocab-qwen2.gguf"), vocab_only=True) as model:
        yield model


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=80))
def test_pieces_give_the_text_back(qwen: LlamaModel, text: str) -> None:
    vocab = qwen.vocab
    spelled = text.encode("utf-8", "replace")
    assert b"".join(vocab.piece(i) for i in vocab.tokenize(text, special=False)) == spelled


def test_control_tokens_only_when_asked_for(qwen: LlamaModel) -> None:
    vocab = qwen.vocab
    assert "<|im_end|>" in vocab.control_texts
    (end,) = vocab.tokenize("<|im_end|>", special=True)
    assert vocab.is_eog(end)
    assert vocab.token_text(end) == "<|im_end|>"
    assert vocab.piece(end) == b""
    assert end not in vocab.tokenize("<|im_end|>", special=False)


def test_a_long_text_is_tokenized_whole(qwen: LlamaModel) -> None:
    long = "word " * 20_000
    assert len(qwen.vocab.tokenize(long, special=False)) == 20_000 + 1


@pytest.mark.parametrize("n_ctx", [1, 100, 300])
def test_a_context_of_any_size_takes_passes_up_to_its_end(model: LlamaModel, n_ctx: int) -> None:
    with LlamaContext(model, ContextParams(n_ctx, 1)) as context:
        context.forward([1] * min(context.n_ctx, N_BATCH), 0)
        assert context.num_past == context.n_ctx


def test_what_is_parsed_like_a_control_token_is_among_the_control_texts() -> None:
    with LlamaModel(shared_file("vocabs/ggml-vocab-llama-spm.gguf"), vocab_only=True) as spm:
        assert {"<unk>", "<s>", "</s>"} <= set(spm.vocab.control_texts)
