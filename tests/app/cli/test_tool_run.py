"""Tests `paceline run` with tools: a scripted model, real servers and built-in tools, and the terminal's output."""

import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from app.cli import tool_run
from app.cli.output import INTERRUPTED
from app.cli.parser import make_parser
from app.cli.tool_run import ToolsOfRun, answer_with_tools, ask_at_terminal, shorten_result, start_tools
from app.core.tools.interface import ToolDefinition, ToolFileError, ToolResult
from app.core.tools.policy import Permission, UserDecision
from app.core.tools.turn import MAX_STEPS
from engine.errors import SettingError
from engine.records import ChatRequest, Event, Finished, FinishReason, Message, Mode, TextChunk
from engine.session.session import Session
from engine.tools.formats import ToolFormat
from tests.run_stats import answered

SERVER = Path(__file__).parents[1] / "core" / "tools" / "mcp" / "hostile_server.py"
STATS = answered(Mode.OFF, 1, ((), ()), {}, 1.0)
REQUEST = ChatRequest(messages=(Message("user", "What is it?"),))
MODEL = cast(
    Any, SimpleNamespace(name="M", tool_format=ToolFormat.HERMES, tool_refusal="", n_ctx=4096, has_vision=False)
)
Capture = pytest.CaptureFixture[str]
Run = Callable[..., tuple[int, "Scripted"]]


class Scripted:
    """A session with these answers in order; the last one is repeated."""

    def __init__(self, *answers: str, reason: FinishReason = FinishReason.END) -> None:
        self.answers, self.reason = list(answers), reason
        self.requests: list[ChatRequest] = []

    def generate(self, request: ChatRequest, _is_cancelled: Callable[[], bool]) -> Iterator[Event]:
        self.requests.append(request)
        text = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        for place in range(0, len(text), 7):
            yield TextChunk(0, text[place : place + 7], ())
        yield Finished(0, self.reason, STATS)


def called(name: str, **arguments: object) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def options(*words: str) -> Any:  # noqa: ANN401 (argparse's own)
    return make_parser().parse_args(["run", "--prompt", "x", *words])


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    made: list[ToolsOfRun] = []

    def begin(
        words: str,
        *answers: str,
        kind: str = "good",
        as_json: bool = False,
        reason: FinishReason = FinishReason.END,
    ) -> tuple[int, Scripted]:
        file = tmp_path / "mcp.json"
        entry = {"command": sys.executable, "args": [str(SERVER), kind]}
        file.write_text(json.dumps({"mcpServers": {"x": entry}}))
        tools = start_tools(options(*[str(file) if word == "FILE" else word for word in words.split()]))
        assert tools is not None
        made.append(tools)
        session = Scripted(*answers, reason=reason)
        return answer_with_tools(cast(Session, session), REQUEST, MODEL, tools, as_json=as_json), session

    yield begin
    for tools in made:
        tools.provider.close()


def test_a_call_is_made_shown_and_its_result_told(run: Run, capsys: Capture) -> None:
    code, session = run("--tools --mcp FILE --allow echo", "Let me see. " + called("echo", a=1), "It is 1.")
    shown = capsys.readouterr()
    assert (code, shown.out) == (0, "Let me see. \nIt is 1.\n")
    assert '→ echo (x) {"a": 1}\n← {"a": 1}\n' in shown.err
    assert [message.role for message in session.requests[1].messages] == ["user", "assistant", "tool"]
    assert session.requests[1].messages[2].content == '{"a": 1}'
    names = [cast(Any, tool)["function"]["name"] for tool in session.requests[0].tools]
    assert names == ["current_time", "calculate", "echo", "second"]
    assert session.requests[0].tools == session.requests[1].tools


def test_built_in_tools_need_no_permission_and_json_has_the_calls(run: Run, capsys: Capture) -> None:
    code, _ = run("--tools calculate", called("calculate", expression="6*7"), "It is 42.", as_json=True)
    result = json.loads(capsys.readouterr().out)
    assert (code, result["text"], result["ended_by"]) == (0, "It is 42.", "answered")
    assert result["tool_calls"] == [
        {
            "name": "calculate",
            "arguments": {"expression": "6*7"},
            "result": "42",
            "is_error": False,
            "characters_left_out": 0,
        }
    ]


def test_where_nobody_can_be_asked_a_call_is_refused_with_a_sentence(run: Run, capsys: Capture) -> None:
    code, session = run("--mcp FILE", called("echo"), "Then not.")
    assert code == 0
    reason = "there is no terminal to ask at."
    assert f"echo was refused, because {reason} Allow it with --allow echo." in capsys.readouterr().err
    assert session.requests[1].messages[2].content.startswith(f"The user did not allow this call: {reason}")


@pytest.mark.parametrize(
    ("typed", "decision"),
    [
        ("y", UserDecision(Permission.ONCE)),
        ("A", UserDecision(Permission.CHAT)),
        ("n", UserDecision(Permission.REFUSED)),
        ("", UserDecision(Permission.REFUSED)),
        ("not that folder", UserDecision(Permission.REFUSED, "not that folder")),
    ],
)
def test_a_person_is_asked(typed: str, decision: UserDecision, capsys: Capture) -> None:
    tool = ToolDefinition("echo", "", {}, "x")
    assert ask_at_terminal(tool, lambda: typed) == decision
    assert capsys.readouterr().err.startswith("Run echo of x?")


def test_the_end_of_input_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert ask_at_terminal(ToolDefinition("echo", "", {}, "x")) == UserDecision(Permission.REFUSED)


def test_ctrl_c_at_the_question_ends_the_turn(run: Run, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def interrupt(_tool: ToolDefinition) -> UserDecision:
        raise KeyboardInterrupt

    monkeypatch.setattr(tool_run, "ask_at_terminal", interrupt)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("sys.stderr", SimpleNamespace(isatty=lambda: True, write=lambda _: 0, flush=lambda: None))
    assert run("--mcp FILE", called("echo"))[0] == INTERRUPTED


def test_a_call_that_fails_and_one_that_is_not_there_go_back_to_the_model(run: Run, capsys: Capture) -> None:
    code, session = run("--mcp FILE --allow all", called("echo"), called("rm"), "Well.", kind="dies")
    assert code == 0
    error = capsys.readouterr().err
    assert "← failed: “x” did not answer: it ended (exit status 3) with the words “my last words”." in error
    assert "← There is no tool named 'rm'." in error
    assert session.requests[2].messages[-1].content.startswith("There is no tool named 'rm'.")


def test_a_huge_result_is_cut_to_what_the_context_holds(run: Run, capsys: Capture) -> None:
    code, session = run("--mcp FILE --allow echo", called("echo"), "Long.", kind="huge result")
    assert code == 0
    assert len(session.requests[1].messages[-1].content) < 4_200
    assert "10,000,000 characters in all, 9,995,904 left out" in capsys.readouterr().err


def test_the_turn_ends_at_its_limit(run: Run, capsys: Capture) -> None:
    code, session = run("--tools", called("calculate", expression="1"))
    assert (code, len(session.requests)) == (0, MAX_STEPS)
    assert f"Stopped after {MAX_STEPS} answers with tool calls" in capsys.readouterr().err


def test_an_answer_without_a_word_is_told(run: Run, capsys: Capture) -> None:
    assert run("--tools", called("calculate", expression="1"), "")[0] == 0
    assert "The model gave an empty answer." in capsys.readouterr().err


def test_a_cut_call_is_told(run: Run, capsys: Capture) -> None:
    run("--tools", '<tool_call>\n{"name": "calculate", "argu', reason=FinishReason.LENGTH)
    assert "cut within a call: allow more with --max-tokens or --ctx" in capsys.readouterr().err


def test_reasoning_goes_to_standard_error(run: Run, capsys: Capture) -> None:
    run("--tools", "<think>\nHm.\n</think>\n\nYes.")
    shown = capsys.readouterr()
    assert shown.out.strip() == "Yes."
    assert "Hm." in shown.err


def test_without_a_running_tool_server_nothing_is_answered(run: Run, capsys: Capture) -> None:
    with pytest.raises(SettingError, match="No tool is available"):
        run("--mcp FILE", "x", kind="ends at once")
    assert "Could not start “x”: it ended (exit status 7)" in capsys.readouterr().err
    assert run("--tools --mcp FILE", "Fine.", kind="ends at once")[0] == 0


def test_an_unknown_name_is_told_before_anything_is_answered(run: Run) -> None:
    with pytest.raises(SettingError, match="There is no tool 'rm'"):
        run("--mcp FILE --allow rm", "x")


def test_a_model_that_takes_no_tools_is_told() -> None:
    model = cast(
        Any, SimpleNamespace(name="M", tool_format=ToolFormat.NONE, tool_refusal="", n_ctx=4096, has_vision=False)
    )
    tools = start_tools(options("--tools"))
    assert tools is not None
    with pytest.raises(SettingError, match="M cannot be given tools: its chat template does not support tools"):
        answer_with_tools(cast(Session, Scripted("x")), REQUEST, model, tools, as_json=False)
    tools.provider.close()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--allow x", "give --mcp or --tools"),
        ("--tools --raw", "leave out --raw"),
        ("--tools --grammar g", "leave out --raw"),
        ("--tools web", "There is no built-in tool 'web' here."),
        ("--mcp gone.json", "There is no file gone.json."),
    ],
)
def test_options_that_do_not_fit_are_told(words: str, sentence: str) -> None:
    with pytest.raises((ValueError, ToolFileError), match=sentence):
        start_tools(options(*words.split()))


def test_a_run_without_tools_starts_nothing() -> None:
    assert start_tools(options()) is None


def test_results_are_folded() -> None:
    assert shorten_result(ToolResult("1", "one")) == ["← one"]
    assert shorten_result(ToolResult("1", "", is_error=True)) == ["← failed: "]
    long = shorten_result(ToolResult("1", "\n".join(["x" * 500] * 9), cut=5))
    assert [len(line) for line in long[:4]] == [162] * 4
    assert long[4] == "  … 4,513 characters in all, 5 left out"
