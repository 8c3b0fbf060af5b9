"""Verdicts on pairs from headers alone equal those from loaded models."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.drafters.translation.comparison import find_translation
from engine.errors import DraftRefusedError, ModelFileError
from engine.gguf.header import parse_header, write_stub
from engine.llama.model import LlamaModel
from engine.sandbox.helper import child_command
from engine.sandbox.probe import PairVerdict, judge_pairs
from tests.engine.gguf_factory import GgufFile, Kind, tiny_llama
from tests.long_form import rounds
from tests.shared_files import SHARED

GOOD = tiny_llama()
TOKENS: list[str] = GOOD.metadata["tokenizer.ggml.tokens"][1][1]
REAL = sorted([*(SHARED / "vocabs").glob("*.gguf"), *(SHARED / "models").glob("*.gguf")])


def with_tokens(tokens: list[str]) -> GgufFile:
    types = [2, 3, 3, *[6] * 256, *[1] * (len(tokens) - 259)]
    return GOOD.with_metadata(
        llama__vocab_size=(Kind.UINT32, len(tokens)),
        tokenizer__ggml__tokens=(Kind.ARRAY, (Kind.STRING, tokens)),
        tokenizer__ggml__scores=(Kind.ARRAY, (Kind.FLOAT32, [0.0] * len(tokens))),
        tokenizer__ggml__token_type=(Kind.ARRAY, (Kind.INT32, types)),
    )


VOCABULARIES: dict[str, GgufFile] = {
    "same": GOOD,
    "other text": with_tokens([*TOKENS[:260], "c", *TOKENS[261:]]),
    "first ids differ": with_tokens(["<pad>", "<bos>", *TOKENS[2:]]),
    "more tokens": with_tokens([*TOKENS, *(f"extra{i}" for i in range(128))]),
    "too many tokens": with_tokens([*TOKENS, *(f"extra{i}" for i in range(129))]),
    "other BOS": GOOD.with_metadata(tokenizer__ggml__bos_token_id=(Kind.UINT32, 5)),
    "no BOS added": GOOD.with_metadata(tokenizer__ggml__add_bos_token=(Kind.BOOL, False)),
    "EOS added": GOOD.with_metadata(tokenizer__ggml__add_eos_token=(Kind.BOOL, True)),
    "split": GOOD.with_metadata(split__count=(Kind.UINT16, 3), split__no=(Kind.UINT16, 0)),
}


def stub_of(path: Path, folder: Path) -> Path:
    """A stub, as made from a file that is not downloaded."""
    data = path.read_bytes()

    def read_at(offset: int, num_bytes: int) -> bytes:
        return data[offset : offset + num_bytes]

    return write_stub(parse_header(read_at, len(data)), read_at, folder / path.name)


def loaded_verdict(target: LlamaModel, draft: LlamaModel) -> PairVerdict:
    try:
        found = find_translation((target.vocab, target.chat_template), (draft.vocab, draft.chat_template))
    except DraftRefusedError as error:
        return PairVerdict(False, error.message)
    return PairVerdict(True, coverage=None if found is None else found.coverage)


def test_generated_vocabularies_are_judged_as_when_loaded(tmp_path: Path) -> None:
    files = {name: file.write(tmp_path / f"{name}.gguf") for name, file in VOCABULARIES.items() if name != "split"}
    models = {name: LlamaModel(path, vocab_only="many" in name or "more" in name) for name, path in files.items()}
    (tmp_path / "stubs").mkdir()
    stubs = {name: stub_of(path, tmp_path / "stubs") for name, path in files.items()}
    found = set()
    for name in ("same", "other BOS"):
        verdicts = judge_pairs(stubs[name], list(stubs.values()))
        for other, verdict in zip(stubs, verdicts, strict=True):
            assert verdict == loaded_verdict(models[name], models[other])
            found.add((name, other, verdict.coverage))
    for model in models.values():
        model.close()
    same = {("same", "same", None), ("same", "more tokens", None)}
    others = {
        ("same", name, 1.0) for name in ("too many tokens", "other text", "other BOS", "no BOS added", "EOS added")
    }
    assert same | others <= found  # these can encode any text byte by byte


@pytest.mark.usefixtures("warm_helpers")
def test_a_template_that_drops_messages_has_no_control_token(tmp_path: Path) -> None:
    turns = "{% for m in messages %}<turn>{{ m.content }}{% endfor %}"
    target = with_tokens(["<turn>", *TOKENS[1:]]).with_metadata(
        tokenizer__chat_template=(Kind.STRING, turns), tokenizer__ggml__add_eos_token=(Kind.BOOL, True)
    )
    mute = GOOD.with_metadata(tokenizer__chat_template=(Kind.STRING, "{{ messages[-1].content }}"))
    deaf = GOOD.with_metadata(tokenizer__chat_template=(Kind.STRING, "{{ raise_exception('Not me') }}"))
    files = [file.write(tmp_path / f"{i}.gguf") for i, file in enumerate((target, mute, deaf, GOOD))]
    one, two, three = judge_pairs(files[0], files[1:])
    assert not one.matches
    assert "control token '<turn>'" in one.reason
    assert "does not accept this conversation" in one.reason
    assert not two.matches
    assert "Not me" in two.reason
    assert three.matches
    assert three.coverage == 1.0


@pytest.fixture(name="real_models", scope="module")
def fixture_real_models() -> Iterator[dict[Path, LlamaModel]]:
    models = {path: LlamaModel(path, vocab_only=path.parent.name == "vocabs") for path in REAL}
    yield models
    for model in models.values():
        model.close()


@pytest.fixture(name="real_stubs", scope="module")
def fixture_real_stubs(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Path]:
    folder = tmp_path_factory.mktemp("stubs")
    return {path: stub_of(path, folder) for path in REAL}


def beside(path: Path) -> list[Path]:
    """Its neighbour; in the long form all of them, and itself."""
    place = REAL.index(path)
    return [REAL[(place + 1 + step) % len(REAL)] for step in range(rounds(1, len(REAL)))]


@pytest.mark.usefixtures("warm_helpers")
@pytest.mark.skipif(not REAL, reason="the shared vocabularies and models are not beside this checkout")
@pytest.mark.parametrize("target", REAL, ids=lambda path: path.stem)
def test_real_pairs_are_judged_as_when_loaded(
    target: Path, real_stubs: dict[Path, Path], real_models: dict[Path, LlamaModel]
) -> None:
    drafts = beside(target)
    verdicts = judge_pairs(real_stubs[target], [real_stubs[path] for path in drafts])
    for path, verdict in zip(drafts, verdicts, strict=True):
        assert verdict == loaded_verdict(real_models[target], real_models[path]), path.name


@pytest.mark.usefixtures("warm_helpers")
def test_a_draft_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    good = GOOD.write(tmp_path / "good.gguf")
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"nothing")
    strange = GOOD.with_metadata(tokenizer__ggml__model=(Kind.STRING, "abacus")).write(tmp_path / "strange.gguf")
    one, two, three = judge_pairs(good, [bad, strange, good])
    assert not one.matches
    assert "bad.gguf is damaged" in one.reason
    assert not two.matches
    assert "strange.gguf" in two.reason
    assert three.matches
    with pytest.raises(ModelFileError, match="bad"):
        judge_pairs(bad, [good])


@pytest.mark.skipif(sys.platform == "win32", reason="signals are Unix")
def test_a_draft_that_ends_the_child_does_not_harm_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good, deadly = GOOD.write(tmp_path / "good.gguf"), GOOD.write(tmp_path / "deadly.gguf")

    def command(name: str, *paths: str) -> list[str]:
        if any("deadly" in path for path in paths):
            return [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"]
        return child_command(name, *paths)

    monkeypatch.setattr("engine.sandbox.helper.child_command", command)
    one, two, three = judge_pairs(good, [good, deadly, good])
    assert one.matches
    assert three.matches
    assert not two.matches
    assert "crashed when it opened deadly.gguf (SIGSEGV)" in two.reason
