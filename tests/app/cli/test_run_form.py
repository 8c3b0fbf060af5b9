"""Tests `paceline run` with files, structured output and reasoning: accepted values, and errors in one sentence."""

import io
import json
from pathlib import Path

import pytest

from app.cli.parser import main, make_parser
from app.cli.run import MAX_PROMPT_CHARS, make_request
from tests.engine.gguf_factory import Kind, tiny_llama
from tests.engine.sandbox.pictures import encoded, sample

pytestmark = pytest.mark.usefixtures("tried")
Capture = pytest.CaptureFixture[str]
WORDS = ["run", "--prompt", "Repeat: red, green.", "--temperature", "0", "--ctx", "512"]
COLOURS = {"type": "object", "properties": {"colour": {"enum": ["red", "green"]}}, "required": ["colour"]}
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
    assert main(["run", "--raw", "--system", "Be brief.", "--prompt", "x"]) == 1
    assert "leave out --system or --raw" in capsys.readouterr().err


def test_a_picture_goes_along_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "photo").write_bytes(encoded(sample(), "PNG"))
    (tmp_path / "a.txt").write_text("words")
    files = ["--attach", str(tmp_path / "photo"), "--attach", str(tmp_path / "a.txt")]
    request = make_request(make_parser().parse_args(["run", *files, "--prompt", "What is this?"]))
    assert len(request.messages[-1].pictures) == 1
    assert "a.txt" in request.messages[-1].content
    assert main(["run", *files, "--prompt", "What is this?"]) == 1
    assert "so it cannot see pictures" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["file", "-"])
def test_an_answer_is_valid_by_the_schema(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    schema = json.dumps(COLOURS)
    if place == "file":
        place = str(tmp_path / "colours.json")
        Path(place).write_text(schema, encoding="utf-8")
    else:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(schema.encode())))
    assert main([*WORDS, "--json-schema", place, "--max-tokens", "100"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["colour"] in ("red", "green")
    assert set(answer) == {"colour"}


def test_an_answer_follows_the_grammar(tmp_path: Path, capsys: Capture) -> None:
    grammar = tmp_path / "yes.gbnf"
    grammar.write_text('root ::= "yes" | "no"', encoding="utf-8")
    assert main([*WORDS, "--grammar", str(grammar)]) == 0
    assert capsys.readouterr().out in ("yes\n", "no\n")


@pytest.mark.parametrize(
    ("option", "content", "sentence"),
    [
        ("--json-schema", '{"type": ', "colours.txt is not JSON"),
        ("--json-schema", "[" * 100_000, "colours.txt is not JSON"),
        ("--json-schema", '{"type": "colour"}', "A type of the schema is none of JSON's."),
        ("--grammar", "root = yes", "grammar"),
        ("--grammar", "", "grammar"),
    ],
)
def test_a_form_that_nothing_can_follow_is_one_sentence(
    option: str, content: str, sentence: str, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "colours.txt"
    file.write_text(content, encoding="utf-8")
    assert main([*WORDS, option, str(file)]) == 1
    told = capsys.readouterr()
    assert sentence in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""


def test_a_form_that_cannot_be_read_or_has_no_end_is_one_sentence(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "latin.json").write_bytes('{"enum": ["Grün"]}'.encode("latin-1"))
    assert main([*WORDS, "--json-schema", str(tmp_path / "latin.json")]) == 1
    assert "The text is not UTF-8." in capsys.readouterr().err
    (tmp_path / "long.json").write_text('"' + "x" * MAX_PROMPT_CHARS + '"')
    assert main([*WORDS, "--json-schema", str(tmp_path / "long.json")]) == 1
    assert "The text has more than 4,000,000 characters, which no context holds." in capsys.readouterr().err
    assert main([*WORDS, "--grammar", "/no/such.gbnf"]) == 1
    assert "/no/such.gbnf cannot be opened: No such file or directory." in capsys.readouterr().err


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
