"""Opening untrusted files: each gives one sentence or a working model, and nothing crashes.

The long form tries a thousand random corruptions, sends every file through the whole probe, and prints the results;
``PACELINE_FUZZ_FILE`` names another file to damage.
"""

import math
import os
import re
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

import engine.sandbox.probe
from engine.errors import (
    DecodeError,
    EngineError,
    ModelFileError,
    ModelLoadError,
    ModelNotFoundError,
    NewerModelError,
    NotEnoughMemoryError,
)
from engine.fit.fit import FitReport
from engine.gguf.hyperparameters import read_checked_header
from engine.records import LoadRequest, Mode, SamplingParams
from engine.sandbox import trials
from engine.sandbox.probe import CACHE_FILE, probe
from engine.session.session import Session
from tests.engine.answers import answer as asked_for
from tests.engine.damaged_files import absurd_files, random_damage
from tests.engine.gguf_factory import F32, GgufFile, Kind, Tensor, tiny_llama
from tests.engine.vocabularies import (
    BYTE,
    CONTROL,
    HEX_BYTES,
    RWKV_BYTES,
    UNKNOWN,
    UNKNOWN_AND_ENDS,
    byte_letters,
    with_vocabulary,
)
from tests.engine.warm_helpers import run_instead
from tests.long_form import LONG, rounds

GOOD = tiny_llama(seed=1)
ABSURD = absurd_files()
FUZZED = Path(os.environ["PACELINE_FUZZ_FILE"]).read_bytes() if "PACELINE_FUZZ_FILE" in os.environ else GOOD.to_bytes()
RANDOM = dict(random_damage(FUZZED, rounds(24, 1000), seed=20261120))
SENTENCE = re.compile(r"\w+Error: [^\n]{10,500}\.")
RWKV = Path(__file__).resolve().parents[4] / "shared" / "models" / "tiny-rwkv7-834K-f32.gguf"


READ = """
import random, sys
from engine.llama.model import LlamaModel
with LlamaModel(sys.argv[1], vocab_only=True) as model:
    vocab, dice = model.vocab, random.Random(1)
    letters = [chr(code) for code in range(0x3000)]
    own = [vocab.token_text(i) for i in range(vocab.n_vocab)]
    texts = ["".join(chr(code) for code in range(first, first + 64) if not 0xd800 <= code < 0xe000)
             for first in range(0, 0x30000, 64)]
    texts += ["\\ufffd", "\\ud800", "\\0", "", *own]
    texts += ["".join(dice.choice(dice.choice((own, letters))) for _ in range(6)) for _ in range(1000)]
    for text in texts:
        for special in (False, True):
            assert all(0 <= i < vocab.n_vocab for i in vocab.tokenize(text, special=special)), text
print("read")
"""


@pytest.fixture(name="good", scope="module")
def fixture_good(tmp_path_factory: pytest.TempPathFactory) -> LoadRequest:
    """A request for an intact model."""
    return LoadRequest(str(GOOD.write(tmp_path_factory.mktemp("good") / "good.gguf")))


@pytest.fixture(name="session", scope="module")
def fixture_session(tmp_path_factory: pytest.TempPathFactory, good: LoadRequest) -> Iterator[Session]:
    """A session with the intact model loaded, into which the others are loaded."""
    cache = tmp_path_factory.mktemp("cache")

    def inspect(path: Path, _should_stop: object) -> None:
        if not LONG:
            read_checked_header(path)  # like the probe, without the half second of a process
        probe(path, cache)

    session = Session(inspect)
    session.load(good)
    yield session
    session.close()


def answer(session: Session, temperature: float = 0.0) -> tuple[int, ...]:
    sampling = SamplingParams(temperature=temperature, seed=1)
    return asked_for(session, Mode.OFF, "ab a", sampling=sampling, max_tokens=12).token_ids


def outcome(session: Session, path: Path) -> str:
    """One sentence, or that the model was loaded and generated tokens, greedy and sampled."""
    try:
        session.load(LoadRequest(str(path)))
        numbers = {len(answer(session)), len(answer(session, 1.0))}
    except EngineError as error:
        return f"{type(error).__name__}: {error.message}"
    return "answers" if numbers == {12} else f"stopped after {numbers} tokens"


@pytest.mark.usefixtures("warm_helpers")
@pytest.mark.parametrize("name", [*ABSURD, *RANDOM])
def test_a_bad_file_is_a_sentence_or_answers(name: str, tmp_path: Path, session: Session, good: LoadRequest) -> None:
    before = answer(session)
    path = tmp_path / "bad.gguf"
    path.write_bytes(RANDOM[name] if name in RANDOM else ABSURD[name].to_bytes())
    result = outcome(session, path)
    if LONG:
        sys.stderr.write(f"\n{name:28} {result}")
    assert result == "answers" or SENTENCE.fullmatch(result)
    if name.startswith("cut-") or name.endswith("nan"):
        assert (result == "answers") == (name == "scores nan")  # the scores only order the merges
    if session.ready().target.path != good.target:
        session.load(good)
    assert answer(session) == before


def test_damage_that_the_probe_does_not_meet_ends_the_answer(
    tmp_path: Path, session: Session, good: LoadRequest
) -> None:
    embedding = GOOD.tensors[0]
    row_bytes = len(embedding.data) // embedding.dims[1]
    intact = embedding.data[: -3 * row_bytes]  # all but the three tokens with letters
    bad = intact + b"\xff\x7f" * (3 * row_bytes // 2)
    path = GOOD.with_tensor(embedding.name, data=bad).write(tmp_path / "bad.gguf")
    session.load(LoadRequest(str(path)))
    for temperature in (0.0, 1.0):
        with pytest.raises(DecodeError, match="not numbers"):
            answer(session, temperature)
    session.load(good)
    assert len(answer(session)) == 12


def rope_factors(value: float) -> GgufFile:
    """The intact model with RoPE frequencies divided by ``value``; position 0 is not affected."""
    factors = Tensor("rope_freqs.weight", (8,), F32, struct.pack("<8f", *[value] * 8))
    return replace(GOOD, tensors=(*GOOD.tensors, factors))


@pytest.mark.usefixtures("warm_helpers")
@pytest.mark.parametrize(
    ("file", "words"),
    [
        (
            with_vocabulary("llama", [*UNKNOWN_AND_ENDS, "\u0431"], [UNKNOWN, CONTROL, CONTROL]),
            "no tokens for ordinary",
        ),
        (with_vocabulary("gpt2", HEX_BYTES, [BYTE] * 256, merges=["a b"]), "no tokens for ordinary text"),
        (with_vocabulary("llama", [*UNKNOWN_AND_ENDS, "?"], [UNKNOWN, CONTROL, CONTROL]), "crashed when it opened"),
        (with_vocabulary("rwkv", ["a", "bc"]), "begin with the byte"),
        (with_vocabulary("none", ["a"]), "it has no vocabulary"),
        (rope_factors(1e-40), "its first passes gave numbers that are not finite"),
        (rope_factors(math.nan), "its first passes gave numbers that are not finite"),
    ],
    ids=["no space", "bytes as BPE", "only ?", "rwkv", "none", "tiny factors", "factors nan"],
)
def test_what_would_end_a_later_answer_is_refused_when_it_is_opened(tmp_path: Path, file: GgufFile, words: str) -> None:
    with pytest.raises(ModelFileError, match=words):
        probe(file.write(tmp_path / "bad.gguf"))


@pytest.mark.usefixtures("warm_helpers")
@pytest.mark.parametrize(
    ("tokenizer", "tokens", "types"),
    [
        ("gpt2", [*byte_letters(), "ab"], ()),
        ("gemma4", [*UNKNOWN_AND_ENDS, *HEX_BYTES, "\u2581"], (UNKNOWN, CONTROL, CONTROL, *[BYTE] * 256)),
        ("t5", ["<pad>", "</s>", "<unk>", "\u2581", "a", "b"], (CONTROL, CONTROL, UNKNOWN)),
        ("bert", ["[PAD]", "\u2581a", "a", "b"], (CONTROL,)),
        ("rwkv", ["<s>", *RWKV_BYTES], (CONTROL,)),
        ("plamo2", [*UNKNOWN_AND_ENDS, *HEX_BYTES, "ab"], (UNKNOWN, CONTROL, CONTROL, *[BYTE] * 256)),
        ("llama", [*UNKNOWN_AND_ENDS, "\u2581", "?", "a", b"\xff"], (UNKNOWN, CONTROL, CONTROL)),
    ],
)
def test_each_kind_of_tokenizer_that_is_taken_reads_any_text(
    tmp_path: Path,
    tokenizer: str,
    tokens: list[str | bytes],
    types: tuple[int, ...],
    python_command: Callable[..., list[str]],
) -> None:
    """In a separate process: a failing tokenizer would end it."""
    path = with_vocabulary(tokenizer, tokens, types, merges=["a b", "", " ", "a  b"]).write(tmp_path / "good.gguf")
    probe(path)
    done = subprocess.run(python_command(READ, str(path)), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "read\n"), done.stderr[-500:]


def test_a_crash_of_llama_cpp_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ModelLoadError, match=r"crashed when it opened bad\.gguf \(llama-model\.cpp:\d+: GGML_ASSERT"):
        probe(ABSURD["experts 2000"].write(tmp_path / "bad.gguf"))


def test_a_refusal_of_llama_cpp_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(NewerModelError, match=r"refused bad\.gguf: unknown model architecture: 'no-such-thing'\."):
        probe(ABSURD["unknown architecture"].write(tmp_path / "bad.gguf"))


def test_a_good_file_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = GOOD.write(tmp_path / "good.gguf")
    probe(path, tmp_path / "cache")
    run_instead(monkeypatch, "import os; os.abort()")
    probe(path, tmp_path / "cache")
    GOOD.with_metadata(general__name=(Kind.STRING, "tint")).write(path)  # the same length as before
    with pytest.raises(ModelLoadError):
        probe(path, tmp_path / "cache")
    assert {file.name for file in (tmp_path / "cache").iterdir()} == {CACHE_FILE, f"{CACHE_FILE}.lock"}


@pytest.mark.usefixtures("warm_helpers")
def test_a_program_without_metadata_of_its_packages_remembers_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> str:
        raise PackageNotFoundError(name)

    path = GOOD.write(tmp_path / "good.gguf")
    monkeypatch.setattr("importlib.metadata.version", absent)
    probe(path, tmp_path / "cache")
    monkeypatch.setattr(engine.sandbox.probe, "ask_child", lambda *_: pytest.fail("asked again"))
    probe(path, tmp_path / "cache")


@pytest.mark.usefixtures("warm_helpers")
def test_a_memory_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "cache").write_bytes(b"a file, no folder")
    probe(GOOD.write(tmp_path / "good.gguf"), tmp_path / "cache")


@pytest.mark.parametrize("path", ["model\0.gguf", "model\ud800.gguf", "/none.gguf"])
def test_a_file_that_is_missing_or_cannot_be(path: str) -> None:
    with pytest.raises(ModelNotFoundError, match="cannot be read"):
        probe(Path(path))


@pytest.mark.timeout(60)
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.gguf"
    os.mkfifo(pipe)
    for action in (probe, read_checked_header):
        with pytest.raises(ModelNotFoundError, match="not a regular file"):
            action(pipe)


CHILDREN = {
    "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)": (ModelLoadError, r"crashed .*\(SIGSEGV\)"),
    "import os, signal; os.kill(os.getpid(), signal.SIGFPE)": (ModelLoadError, r"crashed .*\(SIGFPE\)"),
    "import os, signal; os.kill(os.getpid(), signal.SIGILL)": (ModelLoadError, "another processor"),
    "import os, signal; os.kill(os.getpid(), signal.SIGKILL)": (NotEnoughMemoryError, "memory ran out"),
    'import os, sys; sys.stderr.write("what():  std::bad_alloc"); sys.stderr.flush(); os.abort()': (
        NotEnoughMemoryError,
        "more memory",
    ),
    "import time; time.sleep(60)": (ModelLoadError, "within 1 seconds"),
    "raise SystemExit(3)": (ModelLoadError, "status 3"),
    "raise RuntimeError('surprise')": (ModelLoadError, "could not be opened: RuntimeError: surprise"),
    "print('no answer')": (ModelLoadError, "without an answer"),
}


@pytest.mark.skipif(sys.platform == "win32", reason="signals are Unix")
@pytest.mark.parametrize(("code", "expected"), CHILDREN.items(), ids=range(len(CHILDREN)))
def test_however_the_child_ends_it_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, expected: tuple[type[EngineError], str]
) -> None:
    run_instead(monkeypatch, code)
    monkeypatch.setattr(engine.sandbox.probe, "START_LIMIT_S", 1.0 if "sleep" in code else 60.0)
    with pytest.raises(expected[0], match=expected[1]) as caught:
        probe(GOOD.write(tmp_path / "good.gguf"))
    assert caught.value.message.endswith(".")


def test_a_probe_can_be_cancelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sleeping = [sys.executable, "-c", "import time; time.sleep(60)"]
    monkeypatch.setattr("engine.sandbox.helper.child_command", lambda *_: sleeping)
    began = time.monotonic()
    with pytest.raises(ModelLoadError, match="cancelled"):
        probe(GOOD.write(tmp_path / "good.gguf"), should_stop=lambda: True)
    assert time.monotonic() - began < 30.0  # the child sleeps for a minute


@pytest.mark.usefixtures("warm_helpers")
def test_what_main_memory_cannot_hold_may_be_for_devices(
    good: LoadRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object, **_kept: object) -> None:
        raise NotEnoughMemoryError("It does not fit.")

    monkeypatch.setattr(FitReport, "check", refuse)
    with pytest.raises(NotEnoughMemoryError):
        trials.try_model([good.target])
    probe(Path(good.target), tmp_path, is_for_devices=True)


def test_a_session_asks_so_where_layers_may_leave_main_memory(
    good: LoadRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[object, ...]] = []
    session = Session(lambda *of: asked.append(of[2:]))
    session.load(good)
    monkeypatch.setattr("engine.llama.library.supports_gpu", lambda: True)
    session.load(good)
    session.load(replace(good, gpu_layers=0))
    session.close()
    assert asked == [(), (True,), ()]
