"""Tests features that need another file: pictures need a projector."""

from pathlib import Path

import pytest

from engine.errors import ModelFileError
from engine.gguf.header import read_header
from engine.gguf.model_kind import check_writes_text, missing_abilities, missing_metadata_notices
from tests.engine.gguf_factory import GgufFile, Kind, tiny_llama


def unused(
    name: str = "gemma-3-4b-it-Q4_K_M.gguf",
    siblings: tuple[str, ...] = (),
    architecture: str = "gemma3",
    **metadata: str,
) -> tuple[str, ...]:
    told = {key.replace("__", "."): value for key, value in metadata.items()}
    return missing_abilities(architecture, told.get, name, siblings)


@pytest.mark.parametrize(
    ("siblings", "sees"),
    [
        ((), False),
        (("mmproj-F16.gguf",), True),  # the folder has only this model
        (("mmproj-model-f16.gguf",), True),
        (("mmproj-F16.gguf", "qwen2-0.5b-q8_0.gguf"), False),  # the owner is ambiguous
        (("mmproj-gemma-3-4b-it-f16.gguf", "qwen2-0.5b-q8_0.gguf"), True),
        (("mmproj-qwen2.5-vl-3b-f16.gguf",), False),
        (("qwen2-0.5b-q8_0.gguf",), False),
    ],
)
def test_a_projector_beside_a_model_is_its_own_where_it_can_be(siblings: tuple[str, ...], sees: bool) -> None:
    assert unused(siblings=siblings) == (("pictures",) if sees else ())


def test_pictures_are_seen_in_architecture_and_header() -> None:
    assert unused(architecture="qwen2vl") == ("pictures",)
    assert unused(gemma3__vision__block_count="27") == ("pictures",)
    assert unused() == ()


def test_a_projector_itself_is_refused_with_what_to_open_instead(tmp_path: Path) -> None:
    file = tiny_llama().with_metadata(general__type=(Kind.STRING, "mmproj")).write(tmp_path / "mmproj.gguf")
    with pytest.raises(ModelFileError) as caught:
        check_writes_text(read_header(file), file.name)
    assert "does not write text" in caught.value.message
    assert "Open the model that it belongs to" in caught.value.advice


def test_an_adapter_is_refused(tmp_path: Path) -> None:
    file = tiny_llama().with_metadata(general__type=(Kind.STRING, "adapter")).write(tmp_path / "adapter.gguf")
    with pytest.raises(ModelFileError, match="LoRA"):
        check_writes_text(read_header(file), file.name)


def test_an_encoder_is_refused_by_what_it_does(tmp_path: Path) -> None:
    for file in (
        GgufFile({"general.architecture": (Kind.STRING, "bert")}),
        tiny_llama().with_metadata(llama__pooling_type=(Kind.UINT32, 1), llama__attention__causal=(Kind.BOOL, False)),
    ):
        path = file.write(tmp_path / "encoder.gguf")
        with pytest.raises(ModelFileError, match=r"a text encoder .*: it turns texts into numbers, for searching"):
            check_writes_text(read_header(path), path.name)
    check_writes_text(read_header(tiny_llama().write(path)), path.name)


def test_what_a_file_lacks_is_told(tmp_path: Path) -> None:
    bare = tiny_llama()
    old = bare.with_metadata(tokenizer__ggml__model=(Kind.STRING, "gpt2"), tokenizer__ggml__pre=(Kind.STRING, ""))
    new = old.with_metadata(
        tokenizer__ggml__pre=(Kind.STRING, "qwen2"), tokenizer__chat_template=(Kind.STRING, "{{ messages }}")
    )
    told = [
        missing_metadata_notices(read_header(file.write(tmp_path / f"{number}.gguf")), "It")
        for number, file in enumerate((bare, old, new))
    ]
    assert [len(each) for each in told] == [1, 2, 0]
    assert told[1][0].startswith("It does not say how its tokenizer splits")
    assert told[1][1].startswith("It has no chat template")
