"""Tests `paceline run` with files and reasoning options: accepted values, and errors in one sentence."""

from pathlib import Path

import pytest

from app.cli.parser import main, make_parser
from app.cli.run import make_request
from tests.engine.gguf_factory import Kind, tiny_llama
from tests.engine.sandbox.pictures import encoded, sample

pytestmark = pytest.mark.usefixtures("tried")
Capture = pytest.CaptureFixture[str]
WORDS = ["run", "--prompt", "Repeat: red, green.", "--temperature", "0", "--ctx", "512"]
# A template of a model with optional reasoning, like Qwen3.
THINKS = "{% if enable_thinking %}<think>{% endif %}{{ messages[-1].content }}"


def test_several_files_go_along_in_their_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.txt").write_bytes("naïve".encode("cp1252"))
    files = ["--attach", str(tmp_path / "a.csv"), "--attach", str(tmp_path / "b.txt")]
    request = make_request(make_parser().parse_args(["run", *files, "--prompt", "Compare.", "--system", "Be brief."]))
    system, question = request.messages
    assert system.role == "system"
    assert question.content == (
        "Attached file: a.csv (CSV)\n\n```csv\nx,y\n1,2\n```\n\n"
        "Attached file: b.txt (text)\n\n```\nnaïve\n```\n\nCompare."
    )
    assert "not UTF-8" in capsys.readouterr().err


def test_files_need_no_prompt(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("words")
    request = make_request(make_parser().parse_args(["run", "--attach", str(tmp_path / "a.txt")]))
    assert request.messages[-1].content.endswith("```\nwords\n```")


def test_a_file_that_cannot_be_attached_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.bin").write_bytes(bytes(range(256)))
    assert main(["run", "--attach", str(tmp_path / "a.bin"), "--prompt", "x"]) == 1
    assert "“a.bin”" in capsys.readouterr().err
    assert main(["run", "--attach", str(tmp_path / "gone.txt"), "--prompt", "x"]) == 1
    assert "There is no file “gone.txt”. Check the path" in capsys.readouterr().err
    assert main(["run", "--raw", "--attach", str(tmp_path / "a.bin"), "--prompt", "x"]) == 1
    assert "--raw" in capsys.readouterr().err


def test_a_picture_goes_along_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "photo").write_bytes(encoded(sample(), "PNG"))
    (tmp_path / "a.txt").write_text("words")
    files = ["--attach", str(tmp_path / "photo"), "--attach", str(tmp_path / "a.txt")]
    request = make_request(make_parser().parse_args(["run", *files, "--prompt", "What is this?"]))
    assert len(request.messages[-1].pictures) == 1
    assert "a.txt" in request.messages[-1].content
    assert main(["run", *files, "--prompt", "What is this?"]) == 1
    assert "so it cannot see pictures" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("template", "sentence"),
    [("{{ messages[-1].content }}", "has no reasoning modes"), (THINKS, "Choose one of: ")],
)
def test_a_way_to_think_that_the_model_does_not_know_is_one_sentence(
    template: str, sentence: str, tmp_path: Path, capsys: Capture
) -> None:
    model = tiny_llama().with_metadata(tokenizer__chat_template=(Kind.STRING, template)).write(tmp_path / "m.gguf")
    assert main([*WORDS, "--model", str(model), "--thinking", "very-hard", "--max-tokens", "2"]) == 1
    told = capsys.readouterr().err
    assert sentence in told
    assert told.count("\n") == 1
