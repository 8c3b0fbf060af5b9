"""Tests `paceline run`, `check` and the options with real models and the real probe."""

import io
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.option_values import CONTEXTS, MAX_LAYERS, MAX_THREADS
from app.cli.output import INTERRUPTED
from app.cli.parser import main, make_parser
from app.cli.run import load_request, make_request
from app.core.domain.settings.table import FIELDS
from app.core.paths import builtin_draft, builtin_target
from engine.llama import library
from engine.llama.pass_check import PassComparison, PassShape
from engine.pacing.constants import MAX_DEPTH
from engine.records import CacheType, EngineReady, FlashAttention, LoadRequest, Placement, Source, SplitMode
from engine.session.session import Progress, Session
from tests.engine.gguf_factory import Kind, tiny_llama
from tests.engine.vocabularies import with_vocabulary
from tests.exact import require_exact
from tests.shared_files import shared_model

KEYS = {
    "text", "token_ids", "finish_reason", "mode", "prompt_tokens", "prompt_cached_tokens", "tokens", "passes",
    "tokens_per_pass", "proposed", "accepted", "acceptance_rate", "accepted_by_depth", "seconds", "tokens_per_second",
    "prompt_tokens_per_second", "time_to_first_token_ms", "pass_ms_p50", "inter_token_ms_p50", "inter_token_ms_p95",
    "inter_token_ms_p99", "plain_ms", "speedup",
    "draft_ms", "draft_prompt_ms", "verify_ms", "sample_ms", "rollback_ms", "rolled_back",
    "forced_proposed", "forced_accepted",
    "replayed", "looped", "proposed_by_depth", "provenance", "decisions",
}  # fmt: skip
pytestmark = pytest.mark.usefixtures("tried")
Capture = pytest.CaptureFixture[str]


def mute_draft(folder: Path) -> Path:
    """A draft whose chat template drops all messages except the last."""
    mute = tiny_llama().with_metadata(tokenizer__chat_template=(Kind.STRING, "{{ messages[-1].content }}"))
    return mute.write(folder / "mute.gguf")


def words(*more: str, draft: bool = True) -> list[str]:
    pair = ["--draft", shared_model("babyllamaB-tok105-f16.gguf")] if draft else []
    return ["run", "--model", shared_model("babyllama-tok105-f16.gguf"), *pair, "--raw", "--temperature", "0", *more]


def run_json(capsys: Capture, *more: str, draft: bool = True) -> dict[str, object]:
    assert main([*words(*more, draft=draft), "--prompt", "Once upon a time", "--max-tokens", "60", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert isinstance(result, dict)
    return result


def test_json_has_all_keys_and_they_add_up(capsys: Capture) -> None:
    result = run_json(capsys, "--mode", "draft", "--depth", "3")
    assert set(result) == KEYS
    assert (result["mode"], result["finish_reason"], result["tokens"]) == ("draft", "length", 60)
    provenance = result["provenance"]
    assert isinstance(provenance, dict)
    assert set(provenance) == {source.value for source in Source}
    assert sum(provenance.values()) == 60
    assert isinstance(result["tokens_per_pass"], float)
    assert result["tokens_per_pass"] > 2.5


def test_libraries_from_another_folder_are_reported(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = library.LoadedLibrary(tmp_path / "libggml-cpu.so.0", is_from_package=False, build="")
    monkeypatch.setattr(library, "loaded_libraries", lambda: (other,))
    assert main([*words("--mode", "off"), "--prompt", "Once", "--max-tokens", "2"]) == 0
    assert "libggml-cpu.so.0 came from another folder" in capsys.readouterr().err


def test_all_modes_say_the_same(capsys: Capture) -> None:
    texts = {str(run_json(capsys, "--mode", mode)["text"]) for mode in ("off", "ngram", "suffix", "draft", "auto")}
    assert len(texts) == 1


def test_text_goes_to_stdout_and_figures_to_stderr(capsys: Capture) -> None:
    assert main([*words("--max-tokens", "20"), "--prompt", "Once upon a time"]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith(",")
    assert "tokens per pass" in shown.err
    assert "tok/s" not in shown.out


@pytest.mark.parametrize("place", ["file", "-", ""])
def test_the_prompt_from_a_file_or_standard_input(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    if place == "file":
        place = str(tmp_path / "prompt.txt")
        Path(place).write_text("Once upon a time", encoding="utf-8")
    else:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"Once upon a time")))
    assert main([*words("--max-tokens", "8"), *(["--prompt-file", place] if place else [])]) == 0
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ((), "There is no prompt"),
        (("--prompt", "x", "--depth", "99"), "The draft length must be between 0 and 32"),
        (("--prompt", "x", "--top-p", "2"), "The top-p must be above 0"),
        (("--prompt-file", "/no/such/file"), "/no/such/file cannot be opened: No such file or directory."),
        (("--prompt", "word " * 900), "the context holds 256"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_1(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...], sentence: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    assert main(words(*more)) == 1
    error = capsys.readouterr().err.strip()
    assert sentence in error
    assert "\n" not in error


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])  # encoding of the terminal's locale
def test_a_prompt_from_a_pipe_that_is_no_text_is_the_same_sentence(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    stream = io.TextIOWrapper(io.BytesIO("Grüße".encode("latin-1")), encoding=encoding, errors="surrogateescape")
    monkeypatch.setattr("sys.stdin", stream)
    assert main(words("--prompt-file", "-")) == 1
    assert "The text is not UTF-8." in capsys.readouterr().err


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("place", ["file", "-"])
def test_a_byte_order_mark_is_no_part_of_a_prompt(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, encoding: str, place: str
) -> None:
    raw = "Sag 你好\r\nnow".encode(encoding)
    (tmp_path / "prompt.txt").write_bytes(raw)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw)))
    options = make_parser().parse_args(words("--prompt-file", str(tmp_path / "prompt.txt") if place == "file" else "-"))
    assert make_request(options).raw_prompt == "Sag 你好\nnow"


def test_a_prompt_without_end_is_not_read_to_its_end(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For example from a device, or from a file named by mistake."""
    file = tmp_path / "disk.img"
    with file.open("wb") as handle:
        handle.truncate(5_000_000_000)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"word " * 1_000_000)))
    for place in (str(file), "-"):
        assert main(words("--prompt-file", place)) == 1
        error = capsys.readouterr().err.strip()
        assert "The text has more than 4,000,000 characters" in error
        assert "\n" not in error


def test_the_draft_mode_without_a_draft_is_refused(capsys: Capture) -> None:
    assert main([*words("--mode", "draft", draft=False), "--prompt", "x"]) == 1
    assert "needs a draft model" in capsys.readouterr().err


def test_a_missing_and_a_broken_model(capsys: Capture, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\x03" * 100)
    for path in (tmp_path / "absent.gguf", broken):
        assert main(["run", "--model", str(path), "--prompt", "x", "--json"]) == 1
        shown = capsys.readouterr()
        assert path.name in shown.err
        assert set(json.loads(shown.out)["error"]) == {"title", "message", "advice"}


def test_a_model_whose_tokenizer_would_not_end_is_refused(capsys: Capture, tmp_path: Path) -> None:
    path = with_vocabulary("rwkv", ["a", "bc"]).write(tmp_path / "endless.gguf")
    assert main(["run", "--model", str(path), "--raw", "--prompt", "aba"]) == 1
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert "endless.gguf is damaged or not a model: it has tokens that begin with the byte 3c" in told.err


END = """
from app.cli.run import open_session
from engine.llama import library

session = open_session(as_json=True)
library.ggml().ggml_abort(b"file.cpp", 12, b"failed")
"""


def test_should_llama_cpp_end_the_program_that_is_one_sentence(capsys: Capture) -> None:
    done = subprocess.run([sys.executable, "-c", END], capture_output=True, text=True, check=False, timeout=120)
    told = json.loads(done.stdout)["error"]
    assert done.returncode == 1
    assert told["message"] == "llama.cpp failed and ended the program (file.cpp:12: failed)."
    assert done.stderr == f"paceline: {told['title']}: {told['message']} {told['advice']}\n"


def test_an_unfitting_draft_is_refused_with_the_token(capsys: Capture, tmp_path: Path) -> None:
    pair = ["--model", str(builtin_target()), "--draft", str(mute_draft(tmp_path))]
    assert main(["run", *pair, "--prompt", "x"]) == 1
    assert "the control token '" in capsys.readouterr().err


def test_a_recurrent_model_speculates(capsys: Capture) -> None:
    model = shared_model("tiny-rwkv7-834K-f32.gguf")
    options = ["--prompt", "the cat and the", "--raw", "--max-tokens", "40", "--ctx", "256", "--temperature", "0"]
    answers = []
    for mode, depth in (("off", "0"), ("ngram", "3")):
        assert main(["run", "--model", model, *options, "--mode", mode, "--depth", depth, "--json"]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0]["token_ids"] == answers[1]["token_ids"]
    assert (answers[1]["mode"], answers[1]["proposed"] > 0) == ("ngram", True)


def test_drafting_gives_the_plain_tokens(capsys: Capture) -> None:
    require_exact(str(builtin_target()))
    plain = run_json(capsys, "--mode", "off")
    assert run_json(capsys, "--mode", "draft", "--depth", "3")["token_ids"] == plain["token_ids"]


def test_check_proves_that_rows_are_equal_to_the_last_bit(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    require_exact(str(builtin_target()))
    assert main(["check", str(builtin_target())]) == 0
    assert "identical to the last bit" in capsys.readouterr().out
    assert main(["check", str(builtin_target()), str(builtin_draft()), "--json"]) == 0
    exact = json.loads(capsys.readouterr().out)["exactness"]
    assert (exact["num_rows"] > 100, exact["num_different"], exact["reason"]) == (True, 0, "")
    rows = PassComparison(PassShape(1, (4,)), 0, 16, 3, 0.25)
    monkeypatch.setattr("app.cli.check.compare_passes", lambda *_, **__: iter([rows]))
    assert main(["check", str(builtin_target())]) == 1
    assert (
        "3 of 16 rows of logits differ from those of a pass of one token. This should not happen"
        in capsys.readouterr().out
    )
    monkeypatch.setattr("app.cli.check.why_inexact", lambda _path: "Because.")
    assert main(["check", str(builtin_target())]) == 0
    assert "3 of 16 rows of logits differ from those of a pass of one token. Because." in capsys.readouterr().out


def test_check_says_yes_and_no(capsys: Capture, tmp_path: Path) -> None:
    yes = [shared_model("babyllama-tok105-f16.gguf"), shared_model("babyllamaB-tok105-f16.gguf")]
    assert main(["check", *yes]) == 0
    assert "can draft for" in capsys.readouterr().out
    no = [str(builtin_target()), str(mute_draft(tmp_path))]
    assert main(["check", *no, "--json"]) == 1
    verdict = json.loads(capsys.readouterr().out)["verdict"]
    assert verdict["matches"] is False
    assert "control token" in verdict["reason"]
    assert main(["check", *no]) == 1
    told = capsys.readouterr().out
    assert told == f"mute.gguf cannot draft for {builtin_target().name}: {verdict['reason']}\n"
    assert main(["check", yes[0], "/no/such.gguf"]) == 1
    assert "cannot be read" in capsys.readouterr().err


def test_check_says_how_much_a_draft_with_another_vocabulary_speaks(capsys: Capture) -> None:
    pair = [shared_model("stories260K-f16.gguf"), shared_model("aidreams260K-f32.gguf")]
    assert main(["check", *pair]) == 0
    assert "can draft for stories260K-f16.gguf. Its vocabulary differs and has 92% of" in capsys.readouterr().out
    assert main(["check", *pair, "--json"]) == 0
    verdict = json.loads(capsys.readouterr().out)["verdict"]
    assert verdict["reason"] == ""
    assert verdict["coverage"] == pytest.approx(0.92, abs=0.01)


def test_gpu_layers_are_a_number_or_all(capsys: Capture) -> None:
    parser = make_parser()
    assert parser.parse_args(["run", "--gpu-layers", "all"]).gpu_layers is None
    assert parser.parse_args(["run", "--gpu-layers", "7"]).gpu_layers == 7
    with pytest.raises(SystemExit):
        parser.parse_args(["run", "--gpu-layers", "some"])
    assert "must be a number or all" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "value", "limits"),
    [
        ("--threads", "0", "1 to 512"),
        ("--threads", "100000", "1 to 512"),
        ("--threads", "many", "1 to 512"),
        ("--draft-threads", "-3", "1 to 512"),
        ("--ctx", "10", "256 to 10,000,000"),
    ],
)
def test_numbers_that_no_model_can_run_with_are_reported_with_their_limits(
    option: str, value: str, limits: str, capsys: Capture
) -> None:
    for command in ("run", "bench"):
        with pytest.raises(SystemExit):
            make_parser().parse_args([command, option, value])
        assert f"{option}: must be a number from {limits}" in capsys.readouterr().err


def test_the_command_line_and_the_settings_have_the_same_limits() -> None:
    fields = {field.key: (field.minimum, field.maximum) for field in FIELDS}
    assert fields["threads"] == fields["draft_threads"] == (1, MAX_THREADS)
    assert fields["n_ctx"] == CONTEXTS
    assert fields["gpu_layers"] == fields["draft_gpu_layers"] == (0, MAX_LAYERS)
    assert fields["depth"] == (0, MAX_DEPTH)


def test_without_a_display_the_window_points_to_the_terminal(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.core.display.has_display", lambda: False)
    monkeypatch.setattr("app.cli.window.has_display", lambda: False, raising=False)
    assert main([]) == 1
    assert "paceline run" in capsys.readouterr().err


def test_the_placement_reaches_the_engine() -> None:
    given = "--cache-type q8_0 --flash-attention on --draft-threads 2 --draft-gpu-layers all --draft-cache-type q4_0"
    asked = load_request(make_parser().parse_args(["run", "--model", "T.gguf", "--draft", "D.gguf", *given.split()]))
    assert (asked.cache_type, asked.flash_attention) == (CacheType.Q8_0, FlashAttention.ON)
    assert (asked.draft_threads, asked.draft_gpu_layers) == (2, 10_000)
    assert asked.draft_cache_type is CacheType.Q4_0
    plain = load_request(make_parser().parse_args(["bench", "--model", "T.gguf"]))
    assert plain == LoadRequest("T.gguf", parallel=1), "one answer after the other"


def test_answers_at_once_are_of_a_server() -> None:
    asked = load_request(make_parser().parse_args(["serve", "--model", "T.gguf"]))
    assert asked.parallel == 0
    for words in (["-np", "6"], ["--parallel", "6"]):
        asked = load_request(make_parser().parse_args(["serve", "--model", "T.gguf", *words]))
        assert asked.parallel == 6


def test_devices_reach_the_engine() -> None:
    given = "--device CUDA1,CUDA0 --draft-device none --split-mode row --tensor-split 3,1 --n-cpu-moe 7"
    words = ["run", "--model", "T.gguf", *given.split()]
    asked = load_request(make_parser().parse_args(words))
    assert asked.placement == Placement(("CUDA1", "CUDA0"), SplitMode.ROW, (3.0, 1.0), 7)
    assert asked.draft_devices == ("none",)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["--tensor-split", "a"], "The shares of the devices must be numbers such as 3,1"),
        (["--device", "CUDA99"], "There is no device CUDA99"),
    ],
)
def test_what_no_device_can_be_is_one_sentence(given: list[str], sentence: str, capsys: Capture) -> None:
    assert main(["run", "--prompt", "Hello", "--max-tokens", "2", *given]) == 1
    told = capsys.readouterr()
    assert sentence in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""


def test_a_draft_on_a_device_that_is_missing_leaves_the_target_without_one(capsys: Capture) -> None:
    assert main(["run", "--prompt", "Hello", "--max-tokens", "2", "--draft-device", "CUDA99"]) == 0
    assert "There is no device CUDA99" in capsys.readouterr().err


def test_ctrl_c_while_the_model_loads_ends_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An exception raised within llama.cpp would only be printed, and the answer computed anyway."""
    whole = Session.load

    def load(session: Session, request: LoadRequest, progress: Progress) -> EngineReady:
        def interrupted(path: str, fraction: float) -> bool:
            signal.raise_signal(signal.SIGINT)
            return progress(path, fraction)

        return whole(session, request, interrupted)

    monkeypatch.setattr(Session, "load", load)
    assert main(["run", "--prompt", "Hello", "--max-tokens", "3"]) == INTERRUPTED
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "")
