"""The bundled workloads are complete and without duplicates; the built-in pair follows its own prompts."""

import json
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

import pytest

from app.core.benchmark.prompts import read_prompts
from app.core.paths import assets_dir, builtin_target
from engine.llama.model import LlamaModel
from engine.llama.vocab import Vocab
from engine.records import ChatRequest, Finished, FinishReason, LoadRequest, Message, SamplingParams, TextChunk
from engine.session.session import Session
from tests.shared_files import shared_file

OWN = sorted((assets_dir() / "workloads").glob("*.jsonl"))
REAL = sorted((assets_dir() / "workloads" / "real").glob("*.jsonl"))
CATEGORIES = (
    (OWN, ["chat", "code", "copying", "free", "maths", "summarising"], 10),
    (REAL, ["chat", "completion", "editing", "reasoning", "rewriting", "structured"], 20),
)
VOCABULARIES = ("gpt-2", "llama-bpe", "llama-spm", "phi-3", "qwen2", "qwen35")
MAX_TOKENS = 1500


@pytest.mark.parametrize(("files", "names", "least"), CATEGORIES)
def test_each_category_has_its_file_of_numbered_prompts(files: list[Path], names: list[str], least: int) -> None:
    assert [file.stem for file in files] == names
    for file in files:
        own = read_prompts(file)
        assert len(own) >= least
        assert {prompt.category for prompt in own} == {file.stem}
        assert [prompt.id for prompt in own] == [f"{file.stem}-{number:02d}" for number in range(1, len(own) + 1)]


@pytest.mark.parametrize("files", [OWN, REAL])
def test_prompts_differ_and_end_with_the_user(files: list[Path]) -> None:
    prompts = [prompt for file in files for prompt in read_prompts(file)]
    assert [text for text, times in Counter(prompt.messages for prompt in prompts).items() if times > 1] == []
    for prompt in prompts:
        roles = [message.role for message in prompt.messages if message.role != "system"]
        assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"], prompt.id


@pytest.fixture(scope="module", params=VOCABULARIES)
def vocab(request: pytest.FixtureRequest) -> Iterator[Vocab]:
    with LlamaModel(shared_file(f"vocabs/ggml-vocab-{request.param}.gguf"), vocab_only=True) as model:
        yield model.vocab


def test_no_prompt_is_too_long(vocab: Vocab) -> None:
    """A context of a few thousand tokens must also hold the answer."""
    lengths = {
        prompt.id: sum(len(vocab.tokenize(message.content, special=False)) for message in prompt.messages)
        for file in REAL
        for prompt in read_prompts(file)
    }
    assert {name: length for name, length in lengths.items() if length > MAX_TOKENS} == {}


@pytest.mark.parametrize("file", OWN, ids=lambda file: file.stem)
def test_the_built_in_pair_follows_its_own_prompts(file: Path) -> None:
    """The rule by which they were chosen: at least nine of ten words correct, and the answer ends by itself."""
    session = Session()
    session.load(LoadRequest(str(builtin_target())))
    try:
        for line in file.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            given = record.get("messages") or [{"role": "user", "content": record["prompt"]}]
            text, reason = answer(session, tuple(Message(**message) for message in given))
            assert reason is FinishReason.END, record["id"]
            if "expected" in record:
                assert words_in_place(record["expected"], text) >= 0.9, (record["id"], text)
            else:
                assert len(text.split()) >= 5, record["id"]
    finally:
        session.close()


def answer(session: Session, messages: tuple[Message, ...]) -> tuple[str, FinishReason]:
    request = ChatRequest(messages=messages, sampling=SamplingParams(temperature=0.0), max_tokens=300)
    events = list(session.generate(request))
    text = "".join(event.text for event in events if isinstance(event, TextChunk))
    return text, next(event.reason for event in events if isinstance(event, Finished))


def words_in_place(expected: str, got: str) -> float:
    wanted, said = expected.split(), got.split()
    blocks = SequenceMatcher(None, wanted, said, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / max(len(wanted), len(said), 1)
